//! Some queries of one head: scores of a block of keys at once, their exponentials, and the sum of values.

use super::super::function::tanh;
use super::super::lanes::{exponentials, largest, share};
use super::mask::RowMask;
use super::{AttentionPlan, Inputs, OutputRow};
use crate::gemm::{Addresses, Isa, PANEL, Panels, Product};
use crate::vector::{Loops, MultiplyAdd, run_widest};
use crate::workers::Workers;
use crate::{ElementwiseEpilogue, KernelError};
use gradus_ir::eval::Trap;
use std::ops::Range;

/// A head of keys and values, packed.
pub(super) struct Head<'a> {
    plan: &'a AttentionPlan,
    inputs: &'a Inputs<'a>,
    batch: usize,
    /// The scaled keys and the values of each block of keys.
    blocks: Vec<[Panels; 2]>,
    /// The largest magnitude of the keys, or infinity if a key or value is not finite; `None` if hidden keys are never left out.
    largest_key: Option<f32>,
}

/// Memory of a block.
pub(super) struct Scratch {
    queries: Vec<f32>,
    scores: Vec<f32>,
    /// Sums of values, weighted by exponentials: of earlier blocks of keys, and with the present one.
    sums: [Vec<f32>; 2],
    states: Vec<SoftmaxState>,
}

/// The largest score of a query so far, and the sum of the exponentials of what scores are below it.
#[derive(Clone, Copy)]
pub(super) struct SoftmaxState {
    most: f32,
    sum: f32,
}

impl SoftmaxState {
    /// Without scores.
    pub(super) const START: SoftmaxState = SoftmaxState { most: f32::NEG_INFINITY, sum: 0.0 };

    /// Returns the number by which the sum of values is divided: without scores, it is that of zeros.
    pub(super) fn divisor(self, mask: &RowMask<'_>) -> f32 {
        if self.most == f32::NEG_INFINITY { mask.without_keys() } else { self.sum }
    }
}

impl Scratch {
    pub(super) fn new(plan: &AttentionPlan) -> Scratch {
        let ([rows, keys], [.., size]) = (plan.block, plan.queries.shape);
        let sums = [(); 2].map(|()| vec![0.0; rows * plan.output.shape[3]]);
        Scratch { queries: vec![0.0; rows * size], scores: vec![0.0; rows * keys], sums, states: Vec::new() }
    }
}

impl<'a> Head<'a> {
    /// Packs the keys and values of a head of a batch.
    pub(super) fn new(
        plan: &'a AttentionPlan,
        inputs: &'a Inputs<'a>,
        [batch, head]: [usize; 2],
    ) -> Result<Head<'a>, Trap> {
        let ([.., count, size], [.., width]) = (plan.keys.shape(), plan.values.shape());
        let (isa, block, zeros) =
            (Isa::best(), plan.block[1], vec![0.0; plan.queries.shape[3].max(plan.output.shape[3])]);
        let (keys, values) = (Inputs::pair(&inputs.keys), Inputs::pair(&inputs.values));
        let key = |i: usize| if i < count { plan.keys.row(keys, [batch, head, i]) } else { &zeros[..size] };
        let value = |i: usize| if i < count { plan.values.row(values, [batch, head, i]) } else { &zeros[..width] };
        let packed = |first: usize| {
            // A copy of a constant number of elements needs no call.
            let copy = |i: usize, from: usize, to: &mut [f32]| {
                let from = &value(first + i)[from..];
                match (to.first_chunk_mut::<PANEL>(), from.first_chunk()) {
                    (Some(to), Some(from)) => *to = *from,
                    _ => to.copy_from_slice(&from[..to.len()]),
                }
            };
            let keys = Panels::of_columns(isa, [block, size], |i| key(first + i), plan.scale)?;
            Ok([keys, Panels::of_rows(isa, [width, block], copy, None)?])
        };
        let blocks = (0..count).step_by(block).map(packed).collect::<Result<_, KernelError>>()?;
        let largest_key = plan.mask.hides_only().then(|| {
            let finite = if (0..count).map(|i| magnitude(value(i))).all(f32::is_finite) { 0.0 } else { f32::INFINITY };
            (0..count).map(|i| magnitude(key(i))).fold(finite, f32::max)
        });
        Ok(Head { plan, inputs, batch, blocks, largest_key })
    }

    /// Computes the outputs of neighbouring queries from `first` on, at most those of a block.
    pub(super) fn block(
        &self,
        head: usize,
        first: usize,
        rows: &mut [OutputRow<'_>],
        scratch: &mut Scratch,
    ) -> Result<(), Trap> {
        let Scratch { queries, scores, sums: [before, sums], states } = scratch;
        let ([.., size], [.., width]) = (self.plan.queries.shape, self.plan.output.shape);
        for (i, to) in queries.chunks_exact_mut(size).take(rows.len()).enumerate() {
            to.copy_from_slice(self.plan.queries.row(&self.inputs.queries, [self.batch, head, first + i]));
        }
        let mask =
            |i: usize| self.plan.mask.row(self.inputs.data, self.inputs.mask.as_deref(), [self.batch, head, first + i]);
        let masks: Vec<RowMask<'_>> = (0..rows.len()).map(mask).collect();
        let seen = self.seen(&masks, &queries[..rows.len() * size]);
        states.clear();
        states.resize(rows.len(), SoftmaxState::START);
        let mut is_first = true;
        for (i, [keys, values]) in self.blocks.iter().enumerate() {
            let start = i * self.plan.block[1];
            if start + self.plan.block[1] <= seen.start || start >= seen.end {
                continue;
            }
            product(queries, &self.plan.addresses[0], keys, None, scores)?;
            let all = scores.chunks_exact_mut(self.plan.block[1]).zip(before.chunks_exact_mut(width));
            for ((scores, sums), (state, mask)) in all.zip(states.iter_mut().zip(&masks)) {
                let sums = if is_first { &mut [] } else { sums };
                run_widest(ScoreRow { scores, start, cap: self.plan.cap, mask, state, sums });
            }
            product(scores, &self.plan.addresses[1], values, (!is_first).then_some(&*before), sums)?;
            std::mem::swap(before, sums);
            is_first = false;
        }
        if is_first {
            before.fill(0.0);
        }
        for (((.., out), sums), (state, mask)) in
            rows.iter_mut().zip(before.chunks(width)).zip(states.iter().zip(&masks))
        {
            let divisor = state.divisor(mask);
            out.iter_mut().zip(sums).for_each(|(y, x)| *y = x / divisor);
        }
        Ok(())
    }

    /// Returns the keys without which no output of these queries changes: those of all queries, if scores are finite.
    fn seen(&self, masks: &[RowMask<'_>], queries: &[f32]) -> Range<usize> {
        let all = 0..self.plan.keys.shape()[2];
        let Some(largest) = self.largest_key else { return all };
        let bound = largest * magnitude(queries) * self.plan.queries.shape[3] as f32 * self.plan.scale.max(1.0);
        if !bound.is_finite() {
            return all;
        }
        let some = || masks.iter().map(|mask| &mask.seen).filter(|seen| !seen.is_empty());
        let [first, end] = [some().map(|seen| seen.start).min(), some().map(|seen| seen.end).max()];
        first.unwrap_or(0)..end.unwrap_or(0)
    }
}

/// Computes a product on this thread.
fn product(a: &[f32], addresses: &Addresses, b: &Panels, add: Option<&[f32]>, c: &mut [f32]) -> Result<(), Trap> {
    Product { a, addresses, b, add, elementwise: ElementwiseEpilogue::NONE }
        .compute(&Workers::default(), c)
        .map_err(Trap::from)
}

/// Returns the largest magnitude; infinity if there is a NaN.
fn magnitude(x: &[f32]) -> f32 {
    x.iter().fold(0.0, |most, x| if x.is_nan() { f32::INFINITY } else { x.abs().max(most) })
}

/// The scores of a query and a block of keys.
pub(super) struct ScoreRow<'a> {
    pub(super) scores: &'a mut [f32],
    /// The first key.
    pub(super) start: usize,
    pub(super) cap: f32,
    pub(super) mask: &'a RowMask<'a>,
    pub(super) state: &'a mut SoftmaxState,
    /// The sums of earlier blocks of keys; empty if there are none.
    pub(super) sums: &'a mut [f32],
}

impl Loops for ScoreRow<'_> {
    /// Replaces the scores by their exponentials, below the largest score so far, and rescales the sums to that.
    #[inline(always)]
    fn run<M: MultiplyAdd>(self) {
        let ScoreRow { scores, start, cap, mask, state, sums } = self;
        if cap > 0.0 {
            for x in scores.iter_mut() {
                *x = cap * tanh::<M>(*x / cap);
            }
        }
        mask.add(scores, start);
        let most = state.most.max(largest(scores));
        if most == f32::NEG_INFINITY {
            // Nothing is added, unless a score is NaN.
            let mut sum = 0.0;
            for x in scores.iter_mut() {
                sum += if x.is_nan() { f32::NAN } else { 0.0 };
                *x = 0.0;
            }
            state.sum += sum;
            return;
        }
        let factor = share::<M>(state.most - most);
        for x in sums {
            *x *= factor;
        }
        *state = SoftmaxState { most, sum: state.sum * factor + exponentials::<M>(scores, most) };
    }
}
