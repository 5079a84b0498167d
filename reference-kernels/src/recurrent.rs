//! Recurrent layers: `RNN`, `GRU` and `LSTM`, one step of one sequence at a time, in `f64`.

use crate::cast::from_f64s;
use crate::movement::transpose;
use crate::shape::checked_elements;
use gradus_ir::Violation;
use gradus_ir::tensor::Tensor;

/// An activation function with its parameters.
#[derive(Clone, Copy, Debug)]
pub struct Activation {
    /// The name, in lower case.
    pub name: &'static str,
    function: fn(f64, f64, f64) -> f64,
    alpha: f64,
    beta: f64,
}

/// Name, function, and default parameters of an activation.
type ActivationSpec = (&'static str, fn(f64, f64, f64) -> f64, Option<f64>, Option<f64>);

const ACTIVATIONS: &[ActivationSpec] = &[
    ("relu", |x, _, _| x.max(0.0), None, None),
    ("tanh", |x, _, _| x.tanh(), None, None),
    ("sigmoid", |x, _, _| 1.0 / (1.0 + (-x).exp()), None, None),
    ("affine", |x, a, b| a * x + b, Some(1.0), Some(0.0)),
    ("leakyrelu", |x, a, _| if x < 0.0 { a * x } else { x }, Some(0.01), None),
    ("thresholdedrelu", |x, a, _| if x >= a { x } else { 0.0 }, Some(1.0), None),
    ("scaledtanh", |x, a, b| a * (b * x).tanh(), Some(1.0), Some(1.0)),
    ("hardsigmoid", |x, a, b| (a * x + b).clamp(0.0, 1.0), Some(0.2), Some(0.5)),
    ("elu", |x, a, _| if x < 0.0 { a * x.exp_m1() } else { x }, Some(1.0), None),
    ("softsign", |x, _, _| x / (1.0 + x.abs()), None, None),
    ("softplus", |x, _, _| x.max(0.0) + (-x.abs()).exp().ln_1p(), None, None),
];

impl Activation {
    /// Returns the named activations. Each takes its parameters from the front of the remaining lists.
    pub fn list(names: &[&str], alpha: &[f64], beta: &[f64]) -> Result<Vec<Activation>, Violation> {
        let (mut alpha, mut beta) = (alpha.iter(), beta.iter());
        let mut one = |name: &&str| {
            let known = ACTIVATIONS.iter().find(|a| a.0.eq_ignore_ascii_case(name));
            let &(name, function, a, b) = known.ok_or_else(|| format!("'{name}' is not an activation function"))?;
            let take = |default: Option<f64>, list: &mut std::slice::Iter<'_, f64>| {
                default.map_or(0.0, |default| list.next().copied().unwrap_or(default))
            };
            Ok(Activation { name, function, alpha: take(a, &mut alpha), beta: take(b, &mut beta) })
        };
        names.iter().map(&mut one).collect()
    }
}

/// The cell type of a recurrent layer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RecurrentCell {
    /// Elman cell with one gate.
    Rnn,
    /// Gated recurrent unit with update, reset and hidden gates.
    Gru {
        /// Whether the linear transformation precedes the reset gate.
        linear_before_reset: bool,
    },
    /// Long short-term memory with input, output, forget and cell gates.
    Lstm {
        /// Whether input and forget gates are coupled: i = 1 - f.
        input_forget: bool,
    },
}

impl RecurrentCell {
    /// Returns the number of gates.
    pub const fn gates(self) -> usize {
        match self {
            RecurrentCell::Rnn => 1,
            RecurrentCell::Gru { .. } => 3,
            RecurrentCell::Lstm { .. } => 4,
        }
    }

    /// Returns the default activation functions.
    pub const fn activations(self) -> &'static [&'static str] {
        match self {
            RecurrentCell::Rnn => &["Tanh"],
            RecurrentCell::Gru { .. } => &["Sigmoid", "Tanh"],
            RecurrentCell::Lstm { .. } => &["Sigmoid", "Tanh", "Tanh"],
        }
    }
}

/// Attributes of [`recurrent`].
#[derive(Clone, Debug)]
pub struct RecurrentAttrs {
    /// Cell type.
    pub cell: RecurrentCell,
    /// Whether each direction runs from the end to the beginning.
    pub reversed: Vec<bool>,
    /// Activation functions of all directions.
    pub activations: Vec<Activation>,
    /// Clipping threshold of the activation inputs.
    pub clip: Option<f64>,
    /// Whether the batch axis comes first.
    pub batch_first: bool,
}

/// Operands of [`recurrent`], for `D` directions and `G` gates.
#[derive(Clone, Copy, Debug)]
pub struct RecurrentInputs<'a> {
    /// Input sequences, `[T, B, I]`.
    pub x: &'a Tensor,
    /// Input weights, `[D, G * H, I]`.
    pub w: &'a Tensor,
    /// Recurrence weights, `[D, G * H, H]`.
    pub r: &'a Tensor,
    /// Biases of `w`, then of `r`, `[D, 2 * G * H]`.
    pub b: Option<&'a Tensor>,
    /// Length of each sequence, `[B]`.
    pub lengths: Option<&'a Tensor>,
    /// Initial hidden state, `[D, B, H]`.
    pub h: Option<&'a Tensor>,
    /// Initial cell state, `[D, B, H]`.
    pub c: Option<&'a Tensor>,
    /// Peephole weights of the input, output and forget gates, `[D, 3 * H]`.
    pub p: Option<&'a Tensor>,
}

/// Weights of one direction.
struct Layer<'a> {
    cell: RecurrentCell,
    hidden: usize,
    w: &'a [f64],
    r: &'a [f64],
    b: &'a [f64],
    p: &'a [f64],
    activations: &'a [Activation],
    clip: f64,
}

impl Layer<'_> {
    /// Applies activation function `i`.
    fn act(&self, i: usize, x: f64) -> f64 {
        let Activation { function, alpha, beta, .. } = self.activations[i];
        function(x.clamp(-self.clip, self.clip), alpha, beta)
    }

    /// Products of a gate's weights with the input and the state, each with its bias.
    fn gate(&self, gate: usize, unit: usize, x: &[f64], h: &[f64]) -> (f64, f64) {
        let row = gate * self.hidden + unit;
        let dot = |m: &[f64], v: &[f64]| m[row * v.len()..][..v.len()].iter().zip(v).map(|(a, b)| a * b).sum::<f64>();
        (dot(self.w, x) + self.b[row], dot(self.r, h) + self.b[self.cell.gates() * self.hidden + row])
    }

    /// Advances the states by one element.
    fn step(&self, x: &[f64], h: &mut Vec<f64>, c: &mut [f64]) {
        let both = |gate: usize, unit: usize, h: &[f64]| {
            let (a, b) = self.gate(gate, unit, x, h);
            a + b
        };
        let units = 0..self.hidden;
        *h = match self.cell {
            RecurrentCell::Rnn => units.map(|u| self.act(0, both(0, u, h))).collect(),
            RecurrentCell::Gru { linear_before_reset } => {
                let reset: Vec<f64> = units.clone().map(|u| self.act(0, both(1, u, h))).collect();
                let faded: Vec<f64> = h.iter().zip(&reset).map(|(h, r)| h * r).collect();
                let new = |u: usize| match linear_before_reset {
                    true => self.gate(2, u, x, h),
                    false => self.gate(2, u, x, &faded),
                };
                let unit = |u: usize| {
                    let (a, b) = new(u);
                    let new = self.act(1, a + if linear_before_reset { reset[u] * b } else { b });
                    let keep = self.act(0, both(0, u, h));
                    (1.0 - keep) * new + keep * h[u]
                };
                units.map(unit).collect()
            }
            RecurrentCell::Lstm { input_forget } => {
                let peep = |gate: usize, u: usize, c: f64| self.p[gate * self.hidden + u] * c;
                let mut unit = |u: usize| {
                    let enter = self.act(0, both(0, u, h) + peep(0, u, c[u]));
                    let keep = if input_forget { 1.0 - enter } else { self.act(0, both(2, u, h) + peep(2, u, c[u])) };
                    c[u] = keep * c[u] + enter * self.act(1, both(3, u, h));
                    self.act(0, both(1, u, h) + peep(1, u, c[u])) * self.act(2, c[u])
                };
                units.map(&mut unit).collect()
            }
        };
    }
}

/// Extents of a layer.
struct RecurrentExtents {
    steps: usize,
    batch: usize,
    width: usize,
    directions: usize,
    hidden: usize,
}

impl RecurrentExtents {
    /// Checks the shapes of all operands; the second axis is the batch.
    fn new(inputs: &RecurrentInputs<'_>, attrs: &RecurrentAttrs) -> Result<RecurrentExtents, Violation> {
        let wrong =
            |what: &Tensor| Violation::from(format!("a recurrent layer of {:?}: {what:?} does not fit", inputs.x));
        let (&[steps, batch, width], &[directions, _, hidden]) = (inputs.x.shape(), inputs.r.shape()) else {
            return Err(wrong(inputs.r));
        };
        let rows = attrs.cell.gates().saturating_mul(hidden);
        let states = [directions, batch, hidden];
        let shapes: [(Option<&Tensor>, &[usize]); 7] = [
            (Some(inputs.w), &[directions, rows, width]),
            (Some(inputs.r), &[directions, rows, hidden]),
            (inputs.b, &[directions, rows.saturating_mul(2)]),
            (inputs.lengths, &[batch]),
            (inputs.h, &states),
            (inputs.c, &states),
            (inputs.p, &[directions, hidden.saturating_mul(3)]),
        ];
        let bad = shapes.iter().find_map(|(t, shape)| t.filter(|t| t.shape() != *shape));
        if let Some(bad) = bad {
            return Err(wrong(bad));
        }
        let functions = attrs.cell.activations().len();
        if directions != attrs.reversed.len() || attrs.activations.len() != functions * directions {
            return Err(format!("each of {directions} directions needs {functions} activation functions").into());
        }
        checked_elements(&[steps, directions, batch, hidden]).and(checked_elements(&states))?;
        Ok(RecurrentExtents { steps, batch, width, directions, hidden })
    }

    /// Returns the length of each sequence.
    fn lengths(&self, given: Option<&Tensor>) -> Result<Vec<usize>, Violation> {
        let given = given.map_or_else(|| Some(vec![self.steps as i64; self.batch]), Tensor::to_i64);
        let known = |l: i64| usize::try_from(l).ok().filter(|&l| l <= self.steps);
        let lengths = given.and_then(|l| l.into_iter().map(known).collect());
        lengths.ok_or_else(|| format!("sequence lengths must be at most {}", self.steps).into())
    }
}

/// Returns the part of a list for one direction; empty for an empty list.
fn part(all: &[f64], direction: usize, directions: usize) -> &[f64] {
    let n = all.len() / directions.max(1);
    &all[direction * n..(direction + 1) * n]
}

/// `RNN`, `GRU` and `LSTM` (1, 7, 14, 22): the hidden states of all steps, `[T, D, B, H]`, and the last hidden and cell
/// states, `[D, B, H]`. Steps beyond the length of a sequence yield zeros.
pub fn recurrent(inputs: &RecurrentInputs<'_>, attrs: &RecurrentAttrs) -> Result<[Tensor; 3], Violation> {
    if attrs.batch_first {
        return batch_first(inputs, attrs);
    }
    let sizes = RecurrentExtents::new(inputs, attrs)?;
    let RecurrentExtents { steps, batch, width, directions, hidden } = sizes;
    let (y_shape, states) = ([steps, directions, batch, hidden], [directions, batch, hidden]);
    let (functions, rows) = (attrs.cell.activations().len(), attrs.cell.gates() * hidden);
    let numbers = |t: Option<&Tensor>, n: usize| t.map_or_else(|| vec![0.0; n], Tensor::to_f64);
    let (data, w, r) = (inputs.x.to_f64(), inputs.w.to_f64(), inputs.r.to_f64());
    let (b, p) = (numbers(inputs.b, directions * rows * 2), numbers(inputs.p, directions * hidden * 3));
    let n = states.iter().product();
    let (mut y, mut h, mut c) = (vec![0.0; steps * n], numbers(inputs.h, n), numbers(inputs.c, n));
    let lengths = sizes.lengths(inputs.lengths)?;
    for (direction, at) in (0..directions).flat_map(|d| (0..batch).map(move |b| (d, b))) {
        let layer = Layer {
            cell: attrs.cell,
            hidden,
            w: part(&w, direction, directions),
            r: part(&r, direction, directions),
            b: part(&b, direction, directions),
            p: part(&p, direction, directions),
            activations: &attrs.activations[direction * functions..][..functions],
            clip: attrs.clip.filter(|c| *c > 0.0).unwrap_or(f64::INFINITY),
        };
        let place = (direction * batch + at) * hidden;
        let mut state = h[place..place + hidden].to_vec();
        for i in 0..lengths[at] {
            let t = if attrs.reversed[direction] { lengths[at] - 1 - i } else { i };
            layer.step(&data[(t * batch + at) * width..][..width], &mut state, &mut c[place..place + hidden]);
            y[((t * directions + direction) * batch + at) * hidden..][..hidden].copy_from_slice(&state);
        }
        h[place..place + hidden].copy_from_slice(&state);
    }
    let dtype = inputs.x.dtype();
    Ok([from_f64s(dtype, &y_shape, y), from_f64s(dtype, &states, h), from_f64s(dtype, &states, c)])
}

/// [`recurrent`] with the batch as first axis.
fn batch_first(inputs: &RecurrentInputs<'_>, attrs: &RecurrentAttrs) -> Result<[Tensor; 3], Violation> {
    let swapped = |t: &Tensor| transpose(t, &[1, 0, 2]);
    let (x, h, c) = (swapped(inputs.x)?, inputs.h.map(swapped).transpose()?, inputs.c.map(swapped).transpose()?);
    let inputs = RecurrentInputs { x: &x, h: h.as_ref(), c: c.as_ref(), ..*inputs };
    let [y, h, c] = recurrent(&inputs, &RecurrentAttrs { batch_first: false, ..attrs.clone() })?;
    Ok([transpose(&y, &[2, 0, 1, 3])?, swapped(&h)?, swapped(&c)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ones(shape: &[usize]) -> Tensor {
        Tensor::from_vec(shape, vec![1f32; shape.iter().product()])
    }

    fn run(cell: RecurrentCell, reversed: &[bool], names: &[&str]) -> [Tensor; 3] {
        let (d, g) = (reversed.len(), cell.gates());
        let (x, w, r) = (Tensor::from_vec(&[3, 1, 1], vec![1f32, 2.0, 3.0]), ones(&[d, g, 1]), ones(&[d, g, 1]));
        let lengths = Tensor::from_vec(&[1], vec![2i32]);
        let (b, h, c, p) = (None, None, None, None);
        let inputs = RecurrentInputs { x: &x, w: &w, r: &r, b, lengths: Some(&lengths), h, c, p };
        let activations = Activation::list(names, &[], &[]).unwrap();
        let attrs = RecurrentAttrs { cell, reversed: reversed.to_vec(), activations, clip: None, batch_first: false };
        recurrent(&inputs, &attrs).unwrap()
    }

    #[test]
    fn states_run_both_ways() {
        let [y, last, _] = run(RecurrentCell::Rnn, &[false, true], &["Affine", "Affine"]);
        assert_eq!(y.to_f64(), [1.0, 3.0, 3.0, 2.0, 0.0, 0.0]);
        assert_eq!((last.to_f64(), y.shape()), (vec![3.0, 3.0], &[3usize, 2, 1, 1][..]));
        let [y, ..] = run(RecurrentCell::Gru { linear_before_reset: false }, &[false], &["Affine", "Affine"]);
        // The gates are 1, so the new state is multiplied by 0 and the old one, 0, is kept.
        assert_eq!(y.to_f64()[0], 0.0);
        let [y, _, c] = run(RecurrentCell::Lstm { input_forget: false }, &[false], &["Affine", "Affine", "Affine"]);
        // c = 1 * 1, h = 1 * 1; then all gates are 3: c = 3 * 1 + 3 * 3, h = 3 * 12.
        assert_eq!((y.to_f64(), c.to_f64()), (vec![1.0, 36.0, 0.0], vec![12.0]));
    }

    #[test]
    fn functions_take_their_parameters() {
        let list = Activation::list(&["Tanh", "LeakyRelu", "HardSigmoid"], &[0.5], &[]).unwrap();
        assert_eq!((list[1].alpha, list[2].alpha, list[2].beta), (0.5, 0.2, 0.5));
        assert!(Activation::list(&["Magic"], &[], &[]).is_err());
    }
}
