//! Recurrent layers: LSTM, GRU and RNN. The products of the inputs of many time steps with the input weights are one
//! packed product; each time step adds the products of the hidden states, and computes gates and states from the sums.
//!
//! | file | contents |
//! |---|---|
//! | `weights.rs` | packed weights of a direction |
//! | `product.rs` | products of hidden states with recurrence weights |
//! | `gates.rs` | gates and states from sums of products |
//! | `run.rs` | the computation of a layer |

mod gates;
mod product;
mod run;
mod weights;

use super::joint::JointKernel;
use super::narrow::Narrow;
use super::operands::{Operands, have_extents};
use super::{Prepared, dtype, extents};
use crate::gemm::{Addresses, RunSplit};
use crate::workers::Workers;
use gates::ActivationKind;
use gradus_ir::eval::Trap;
use gradus_ir::{DType, Module, OpArgs, Tensor};
use gradus_networks::graph::recurrent_attributes;
use gradus_networks::layout::AddressTable;
use gradus_reference_kernels::{RecurrentAttrs, RecurrentCell};
use run::LayerRun;
use weights::{DirectionWeights, RawWeights};

/// Maximum number of products of the inputs that are held at once: 4 MiB. More time steps are computed in chunks.
const MAX_INPUT_PRODUCTS: usize = 1 << 20;

/// Prepares `graph.lstm`, `graph.gru` and `graph.rnn` on floats of up to 32 bits, with activation functions sigmoid, tanh and
/// relu. Constant weights are packed once, others in each run.
pub(super) fn recurrent(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let plan = RecurrentPlan::of(m, args)?;
    let mut operands = Operands::new(args);
    let states = ["sequence_lens", "initial_h", "initial_c"].map(|name| operands.input(name));
    let names = ["w", "r", "b", "p"];
    let known = match names.map(|name| operands.constant(name, Some)) {
        [Some(w), Some(r), Some(b), Some(p)] => Some(plan.packed(&[w, r, b, p])?),
        _ => None,
    };
    let weights = names.map(|name| if known.is_none() { operands.input(name) } else { None });
    let (kind, steps) = (plan.kind, plan.vector_operations());
    let run = move |workers: &Workers, data: &[&[u8]], out: &mut [Option<&mut [u8]>]| {
        let floats = |input: Option<usize>| input.map(|i| kind.floats(data[i]));
        let packed;
        let weights = match &known {
            Some(weights) => weights,
            None => {
                let [w, r, b, p] = weights.map(floats);
                let [w, r] = [&w, &r].map(|weights| weights.as_deref().unwrap_or_default());
                let raw = RawWeights { w, r, b: b.as_deref(), p: p.as_deref() };
                packed =
                    DirectionWeights::all(&plan, raw).ok_or_else(|| Trap::unsupported("weights exceed the memory"))?;
                &packed
            }
        };
        let [lengths, hidden, cell] = states;
        let (x, initial) = (kind.floats(data[0]), [hidden, cell].map(floats));
        let lengths = lengths.map(|i| plan.lengths(data[i])).transpose()?;
        let run = LayerRun {
            plan: &plan,
            weights,
            x: &x,
            initial: initial.each_ref().map(|state| state.as_deref()),
            lengths,
        };
        let mut out = out.iter_mut().map(|out| out.as_deref_mut()).chain(std::iter::repeat_with(|| None));
        let [y, h, c] = [(); 3].map(|()| out.next().flatten());
        kind.write_needed(y, |y| kind.write_needed(h, |h| kind.write_needed(c, |c| run.compute(workers, [y, h, c]))))
    };
    Some(Prepared::Joint(JointKernel::new(operands.inputs()?, steps, run)))
}

/// A recurrent layer, read from its op. All extents are positive.
struct RecurrentPlan {
    kind: Narrow,
    cell: RecurrentCell,
    /// Extents T, B, I, D and H.
    steps: usize,
    batch: usize,
    width: usize,
    directions: usize,
    hidden: usize,
    /// H, padded to vectors.
    units: usize,
    is_batch_first: bool,
    /// Whether each direction runs from the end to the beginning.
    reversed: Vec<bool>,
    activations: Vec<[ActivationKind; 3]>,
    clip: f32,
    /// Number of time steps of a chunk; the last one may have fewer.
    chunk: usize,
    /// The addresses of the inputs of a chunk, and of the last one: rows are time steps, and in these the batch.
    addresses: [Addresses; 2],
    /// The type of the lengths of sequences.
    length_type: Option<DType>,
}

impl RecurrentPlan {
    fn of(m: &Module, args: &OpArgs<'_>) -> Option<RecurrentPlan> {
        let attrs = recurrent_attributes(m, args.op?)?;
        let kind = Narrow::of(args, 0)?;
        let shape = |name: &str| extents(m, m.value_type(args.opt_operand(name)?));
        let (&[first, second, width], &[directions, _, hidden]) = (&shape("x")?[..], &shape("r")?[..]) else {
            return None;
        };
        let (steps, batch) = if attrs.batch_first { (second, first) } else { (first, second) };
        (![steps, batch, width, directions, hidden].contains(&0)).then_some(())?;
        fits(m, args, &attrs, kind, [steps, batch, width, directions, hidden])?;
        let (cell, units) = (attrs.cell, hidden.checked_next_multiple_of(product::lanes())?);
        let functions = cell.activations().len();
        let activation = |names: &[gradus_reference_kernels::Activation]| {
            let mut all = [ActivationKind::Tanh; 3];
            all.iter_mut().zip(names).try_for_each(|(kind, activation)| {
                *kind = ActivationKind::named(activation.name)?;
                Some(())
            })?;
            Some(all)
        };
        let activations = attrs.activations.chunks_exact(functions).map(activation).collect::<Option<Vec<_>>>()?;
        let row = units.checked_mul(cell.gates() + 2)?.checked_mul(directions)?.checked_mul(batch)?;
        let length_type = match args.opt_operand("sequence_lens") {
            Some(lengths) => Some(dtype(m, m.value_type(lengths))?),
            None => None,
        };
        // The time steps of sequences of other lengths are not in chunks.
        let chunk = if length_type.is_some() { steps } else { (MAX_INPUT_PRODUCTS / row).clamp(1, steps) };
        let chunk = steps.div_ceil(steps.div_ceil(chunk));
        row.checked_mul(chunk)?.checked_mul(size_of::<f32>())?;
        let place = if attrs.batch_first { [1, steps] } else { [batch, 1] };
        let last = steps - (steps - 1) / chunk * chunk;
        let addresses = [input_rows([chunk, batch], place, width)?, input_rows([last, batch], place, width)?];
        Some(RecurrentPlan {
            kind,
            cell,
            steps,
            batch,
            width,
            directions,
            hidden,
            units,
            is_batch_first: attrs.batch_first,
            reversed: attrs.reversed,
            activations,
            clip: attrs.clip.map_or(f32::INFINITY, |clip| clip as f32),
            chunk,
            addresses,
            length_type,
        })
    }

    /// Packs constant weights of the inputs and of the recurrence, biases and peepholes.
    fn packed(&self, constants: &[Option<Tensor>; 4]) -> Option<Vec<DirectionWeights>> {
        let floats =
            |tensor: &'_ Option<Tensor>| tensor.as_ref().map(|tensor| self.kind.floats(tensor.bytes()).to_vec());
        let [w, r, b, p] = constants.each_ref().map(floats);
        DirectionWeights::all(self, RawWeights { w: &w?, r: &r?, b: b.as_deref(), p: p.as_deref() })
    }

    /// Returns the approximate number of vector operations.
    fn vector_operations(&self) -> usize {
        let products = self.width.saturating_add(self.hidden).saturating_add(32).saturating_mul(self.cell.gates());
        let vectors = self.units / product::lanes();
        let states = self.directions.saturating_mul(self.batch).saturating_mul(self.steps).saturating_mul(vectors);
        products.saturating_mul(states)
    }

    /// Reads the length of each sequence.
    fn lengths(&self, data: &[u8]) -> Result<Vec<usize>, Trap> {
        let known = |length: i64| usize::try_from(length).ok().filter(|&length| length <= self.steps);
        let lengths: Option<Vec<usize>> = match self.length_type {
            Some(DType::I32) => bytemuck::cast_slice(data).iter().map(|&length: &i32| known(length.into())).collect(),
            _ => bytemuck::cast_slice(data).iter().copied().map(known).collect(),
        };
        lengths.ok_or_else(|| Trap::unsupported(format!("sequence lengths must be at most {}", self.steps)))
    }
}

/// Checks that operands and results have the extents and types of a layer, given T, B, I, D and H.
fn fits(
    m: &Module,
    args: &OpArgs<'_>,
    attrs: &RecurrentAttrs,
    kind: Narrow,
    [steps, batch, width, directions, hidden]: [usize; 5],
) -> Option<()> {
    let rows = attrs.cell.gates().checked_mul(hidden)?;
    let is_first = attrs.batch_first;
    let states = if is_first { vec![batch, directions, hidden] } else { vec![directions, batch, hidden] };
    let all = if is_first { vec![batch, steps, directions, hidden] } else { vec![steps, directions, batch, hidden] };
    let is_float = |name: &str| args.operand_range(name).all(|i| Narrow::of(args, i) == Some(kind));
    let names = ["x", "w", "r", "b", "initial_h", "initial_c", "p"];
    let has = |name: &str, want: &[usize]| have_extents(args, name, want);
    let is_length = |i: usize| matches!(dtype(m, args.operand_type(i)), Some(DType::I32 | DType::I64));
    let fits = has("w", &[directions, rows, width])
        && has("r", &[directions, rows, hidden])
        && has("b", &[directions, rows.checked_mul(2)?])
        && has("sequence_lens", &[batch])
        && has("initial_h", &states)
        && has("initial_c", &states)
        && has("p", &[directions, hidden.checked_mul(3)?])
        && directions == attrs.reversed.len()
        && names.into_iter().all(is_float)
        && args.operand_range("sequence_lens").all(is_length);
    let types = args.result_types;
    let results = types.iter().zip([&all, &states, &states]);
    let is_result = |(&ty, want): (&_, &Vec<usize>)| {
        extents(m, ty).as_ref() == Some(want) && dtype(m, ty) == dtype(m, args.operand_type(0))
    };
    let most = if matches!(attrs.cell, RecurrentCell::Lstm { .. }) { 3 } else { 2 };
    (fits && types.len() <= most && results.into_iter().all(is_result)).then_some(())
}

/// Returns the addresses of the inputs of some time steps and of a batch, where the next time step and the next sequence are
/// `place` rows of `width` elements away.
fn input_rows([steps, batch]: [usize; 2], place: [usize; 2], width: usize) -> Option<Addresses> {
    let base = |i: usize| {
        let row = (i / batch).checked_mul(place[0])?.checked_add((i % batch).checked_mul(place[1])?)?;
        i32::try_from(row.checked_mul(width)?).ok()
    };
    let base: Vec<i32> = (0..steps.checked_mul(batch)?).map(base).collect::<Option<_>>()?;
    let relative: Vec<i32> = (0..i32::try_from(width).ok()?).collect();
    Addresses::new(&AddressTable::separable(base, relative), RunSplit::FLOATS).ok()
}

#[cfg(test)]
mod tests;
