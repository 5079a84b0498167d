//! A few queries of the heads that share keys, which are read where they are: packing them would take longer than their products.

#![allow(unsafe_code)]

use super::block::{ScoreRow, SoftmaxState};
use super::mask::RowMask;
use super::{AttentionPlan, Inputs, OutputRow, Work};
use crate::cpu::dots::dots;
use crate::cpu::rows::add_multiples;
use crate::gemm::Isa;
use crate::vector::{Element, Floats, Loops, MultiplyAdd, OnVectors, run_widest};

/// Maximum number of queries: a key is read once for all.
pub(super) const FEW: usize = 4;

impl AttentionPlan {
    /// Computes a few queries.
    pub(super) fn few(&self, inputs: &Inputs<'_>, work: &mut Work<'_>) {
        let Work { batch, head, rows } = work;
        let (keys, head) = (self.keys.shape()[2], [*batch, *head]);
        let at = |row: &OutputRow<'_>| [*batch, row.0, row.1];
        let queries: Vec<&[f32]> = rows.iter().map(|row| self.queries.row(&inputs.queries, at(row))).collect();
        let mut scores = vec![0.0; keys * queries.len()];
        let work = KeyScores { plan: self, inputs, head, queries: &queries, scores: &mut scores };
        // SAFETY: the extension is that of this machine; the work requires nothing else.
        unsafe { f32::run(f32::filled(Isa::best(), self.queries.shape[3]), work) };
        for (row, scores) in rows.iter_mut().zip(scores.chunks_mut(keys)) {
            let mask = &self.mask.row(inputs.data, inputs.mask.as_deref(), at(row));
            run_widest(WeightedValues { plan: self, inputs, head, mask, scores, out: row.2 });
        }
    }
}

/// The scores of all keys for the queries.
struct KeyScores<'a> {
    plan: &'a AttentionPlan,
    inputs: &'a Inputs<'a>,
    /// Batch and head of the keys.
    head: [usize; 2],
    queries: &'a [&'a [f32]],
    scores: &'a mut [f32],
}

impl OnVectors<f32> for KeyScores<'_> {
    #[inline(always)]
    unsafe fn run<V: Floats<Element = f32>>(self) {
        let KeyScores { plan, inputs, head: [batch, head], queries, scores } = self;
        let (keys, count) = (Inputs::pair(&inputs.keys), plan.keys.shape()[2]);
        for i in 0..count {
            let key = plan.keys.row(keys, [batch, head, i]);
            let mut set = |j: usize, sum: f32| scores[j * count + i] = sum * plan.scale;
            // SAFETY: the caller guarantees the vectors.
            unsafe {
                match *queries {
                    [a, b, c, d] => {
                        let sums = dots::<V, FEW>(key, [a, b, c, d]);
                        sums.into_iter().enumerate().for_each(|(j, sum)| set(j, sum));
                    }
                    _ => {
                        for (j, query) in queries.iter().enumerate() {
                            set(j, dots::<V, 1>(key, [query])[0]);
                        }
                    }
                }
            }
        }
    }
}

/// The sum of the values for a query, weighted by the exponentials of its scores.
struct WeightedValues<'a> {
    plan: &'a AttentionPlan,
    inputs: &'a Inputs<'a>,
    head: [usize; 2],
    mask: &'a RowMask<'a>,
    scores: &'a mut [f32],
    out: &'a mut [f32],
}

impl Loops for WeightedValues<'_> {
    #[inline(always)]
    fn run<M: MultiplyAdd>(self) {
        let WeightedValues { plan, inputs, head: [batch, head], mask, scores, out } = self;
        let values = Inputs::pair(&inputs.values);
        let mut state = SoftmaxState::START;
        ScoreRow { scores, start: 0, cap: plan.cap, mask, state: &mut state, sums: &mut [] }.run::<M>();
        out.fill(0.0);
        add_multiples::<M>(scores, |i| plan.values.row(values, [batch, head, i]), out);
        let divisor = state.divisor(mask);
        out.iter_mut().for_each(|y| *y /= divisor);
    }
}
