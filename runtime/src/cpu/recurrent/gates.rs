//! Gates and states of a time step, from the sums of products.

use super::super::function::{logistic_pair, tanh};
use crate::vector::{Loops, MultiplyAdd, run_widest};
use gradus_reference_kernels::RecurrentCell;

/// Number of units that are computed together. Compilers make vector instructions of loops over a block, but unroll
/// shorter ones.
const BLOCK: usize = 16;

/// An activation function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ActivationKind {
    Sigmoid,
    Tanh,
    Relu,
}

impl ActivationKind {
    /// Returns the function of a name in lower case.
    pub(super) fn named(name: &str) -> Option<ActivationKind> {
        match name {
            "sigmoid" => Some(ActivationKind::Sigmoid),
            "tanh" => Some(ActivationKind::Tanh),
            "relu" => Some(ActivationKind::Relu),
            _ => None,
        }
    }
}

/// How a direction computes its states from sums of products.
pub(super) struct CellFunctions {
    pub cell: RecurrentCell,
    /// The activation functions, of which a cell has up to three.
    pub activations: [ActivationKind; 3],
    /// Bound of the magnitude of activation inputs.
    pub clip: f32,
    /// Peephole weights of the input, output and forget gates, `[3, padded H]`; or none.
    pub peepholes: Vec<f32>,
}

/// The part of a time step that is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    /// The reset gate of a GRU and the state that it resets.
    Reset,
    /// The new states.
    States,
}

/// The elementwise part of a time step.
pub(super) struct GateStep<'a> {
    pub functions: &'a CellFunctions,
    pub phase: Phase,
    /// Number of units with padding, a multiple of 8.
    pub units: usize,
    /// Sums of products of the gates, `[rows, G, units]`.
    pub gates: &'a mut [f32],
    /// Products of the inputs: the gates of a row begin at its element of `starts`.
    pub inputs: &'a [f32],
    pub starts: &'a [usize],
    /// Whether each row has this time step.
    pub is_active: &'a [bool],
    /// Hidden states, `[rows, units]`.
    pub hidden: &'a mut [f32],
    /// Cell states of an LSTM, or reset hidden states of a GRU, `[rows, units]`.
    pub other: &'a mut [f32],
}

impl GateStep<'_> {
    pub(super) fn compute(self) {
        run_widest(self);
    }
}

impl Loops for GateStep<'_> {
    #[inline(always)]
    fn run<M: MultiplyAdd>(self) {
        let GateStep { functions, phase, units, gates, inputs, starts, is_active, hidden, other } = self;
        let rows = hidden.chunks_exact_mut(units).zip(other.chunks_exact_mut(units));
        let rows = rows.zip(gates.chunks_exact_mut(units * functions.cell.gates()));
        for (((hidden, other), gates), (&start, &is_active)) in rows.zip(starts.iter().zip(is_active)) {
            if !is_active {
                continue;
            }
            for first in (0..units).step_by(BLOCK) {
                let block = Block { first, units, gates: &mut *gates, hidden: &mut *hidden, other: &mut *other };
                match functions.cell {
                    RecurrentCell::Rnn => block.rnn::<M>(functions),
                    RecurrentCell::Lstm { input_forget } => block.lstm::<M>(functions, input_forget),
                    RecurrentCell::Gru { .. } if phase == Phase::Reset => block.reset::<M>(functions),
                    RecurrentCell::Gru { linear_before_reset } => {
                        let input = linear_before_reset.then(|| &inputs[start + 2 * units..][..units]);
                        block.gru::<M>(functions, input);
                    }
                }
            }
        }
    }
}

/// Some units of a row.
struct Block<'a> {
    first: usize,
    units: usize,
    gates: &'a mut [f32],
    hidden: &'a mut [f32],
    other: &'a mut [f32],
}

impl Block<'_> {
    /// Returns the sums of a gate.
    #[inline(always)]
    fn gate(&self, gate: usize) -> [f32; BLOCK] {
        load(&self.gates[gate * self.units..][..self.units], self.first)
    }

    /// Returns the sums of a gate with the product of the cell states and the gate's peephole weights, if there are any.
    #[inline(always)]
    fn with_cell(&self, functions: &CellFunctions, gate: usize, c: [f32; BLOCK]) -> [f32; BLOCK] {
        let sum = self.gate(gate);
        if functions.peepholes.is_empty() {
            return sum;
        }
        let weights = load(&functions.peepholes[gate * self.units..][..self.units], self.first);
        zip(sum, zip(weights, c, |p, c| p * c), |a, b| a + b)
    }

    #[inline(always)]
    fn rnn<M: MultiplyAdd>(self, functions: &CellFunctions) {
        let (h, _) = functions.activate::<M>(0, self.gate(0));
        store(self.hidden, self.first, h);
    }

    /// Computes the reset gate of a GRU and the reset state.
    #[inline(always)]
    fn reset<M: MultiplyAdd>(self, functions: &CellFunctions) {
        let (r, _) = functions.activate::<M>(0, self.gate(1));
        let h = load(self.hidden, self.first);
        store(self.other, self.first, zip(r, h, |r, h| r * h));
    }

    /// Computes the new state of a GRU. If the reset gate applies to the product of the state, `input` has the products
    /// of the inputs of the hidden gate.
    #[inline(always)]
    fn gru<M: MultiplyAdd>(self, functions: &CellFunctions, input: Option<&[f32]>) {
        let mut sum = self.gate(2);
        if let Some(input) = input {
            let (r, _) = functions.activate::<M>(0, self.gate(1));
            sum = zip(zip(sum, r, |x, r| x * r), load(input, self.first), |a, b| a + b);
        }
        let (new, _) = functions.activate::<M>(1, sum);
        let (z, rest) = functions.activate::<M>(0, self.gate(0));
        let kept = zip(z, load(self.hidden, self.first), |z, h| z * h);
        store(self.hidden, self.first, zip(zip(rest, new, |rest, new| rest * new), kept, |a, b| a + b));
    }

    #[inline(always)]
    fn lstm<M: MultiplyAdd>(self, functions: &CellFunctions, input_forget: bool) {
        let mut c = load(self.other, self.first);
        let (i, rest) = functions.activate::<M>(0, self.with_cell(functions, 0, c));
        let f = if input_forget { rest } else { functions.activate::<M>(0, self.with_cell(functions, 2, c)).0 };
        let (g, _) = functions.activate::<M>(1, self.gate(3));
        c = zip(zip(f, c, |f, c| f * c), zip(i, g, |i, g| i * g), |a, b| a + b);
        let (o, _) = functions.activate::<M>(0, self.with_cell(functions, 1, c));
        let (shown, _) = functions.activate::<M>(2, c);
        store(self.other, self.first, c);
        store(self.hidden, self.first, zip(o, shown, |o, c| o * c));
    }
}

impl CellFunctions {
    /// Applies activation function `i` to clipped numbers. Returns f(x) and 1 - f(x), which is not rounded where f(x) is
    /// close to 1.
    #[inline(always)]
    fn activate<M: MultiplyAdd>(&self, i: usize, mut x: [f32; BLOCK]) -> ([f32; BLOCK], [f32; BLOCK]) {
        let (low, high) = (-self.clip, self.clip);
        for x in &mut x {
            *x = if *x < low { low } else { *x };
            *x = if *x > high { high } else { *x };
        }
        let mut rest = x;
        match self.activations[i] {
            ActivationKind::Sigmoid => {
                for (x, rest) in x.iter_mut().zip(&mut rest) {
                    (*x, *rest) = logistic_pair::<M>(*x);
                }
            }
            ActivationKind::Tanh => {
                for (x, rest) in x.iter_mut().zip(&mut rest) {
                    *x = tanh::<M>(*x);
                    *rest = 1.0 - *x;
                }
            }
            ActivationKind::Relu => {
                for (x, rest) in x.iter_mut().zip(&mut rest) {
                    *x = if *x > 0.0 { *x } else { 0.0 };
                    *rest = 1.0 - *x;
                }
            }
        }
        (x, rest)
    }
}

/// Returns the elements from `first` on: those of a block, or half of it and zeros if there are no more.
#[inline(always)]
fn load(from: &[f32], first: usize) -> [f32; BLOCK] {
    let mut all = [0.0; BLOCK];
    let (low, high) = all.split_at_mut(BLOCK / 2);
    let (from, rest) = from[first..].split_at(BLOCK / 2);
    low.copy_from_slice(from);
    if let Some(from) = rest.get(..BLOCK / 2) {
        high.copy_from_slice(from);
    }
    all
}

/// Writes elements from `first` on: those of a block, or half of it if there is no more room.
#[inline(always)]
fn store(to: &mut [f32], first: usize, all: [f32; BLOCK]) {
    let (low, high) = all.split_at(BLOCK / 2);
    let (to, rest) = to[first..].split_at_mut(BLOCK / 2);
    to.copy_from_slice(low);
    if let Some(to) = rest.get_mut(..BLOCK / 2) {
        to.copy_from_slice(high);
    }
}

/// Applies a function to pairs of elements.
#[inline(always)]
fn zip(mut a: [f32; BLOCK], b: [f32; BLOCK], f: impl Fn(f32, f32) -> f32) -> [f32; BLOCK] {
    for (a, &b) in a.iter_mut().zip(&b) {
        *a = f(*a, b);
    }
    a
}
