//! The packed weights of a recurrent layer.

use super::RecurrentPlan;
use super::gates::CellFunctions;
use super::product::PackedWeights;
use crate::gemm::{Isa, Panels};
use gradus_reference_kernels::RecurrentCell;

/// The weights of a direction, with the columns of each gate padded to vectors.
pub(super) struct DirectionWeights {
    /// Input weights with the biases that are added to them, `[I, G * padded H]`.
    pub input: Panels,
    /// Recurrence weights of the gates that are products of the hidden state and added to those of the inputs.
    pub recurrence: PackedWeights,
    /// Recurrence weights of the hidden gate of a GRU, whose products are computed apart.
    pub candidate: Option<PackedWeights>,
    /// Bias of the hidden gate's recurrence of a GRU whose reset gate applies to the product.
    pub bias: Vec<f32>,
    pub functions: CellFunctions,
}

/// Weights as operands: of the inputs, of the recurrence, biases and peepholes.
#[derive(Clone, Copy)]
pub(super) struct RawWeights<'a> {
    pub w: &'a [f32],
    pub r: &'a [f32],
    pub b: Option<&'a [f32]>,
    pub p: Option<&'a [f32]>,
}

impl DirectionWeights {
    /// Packs the weights of all directions. `None` if they exceed the memory.
    pub(super) fn all(plan: &RecurrentPlan, raw: RawWeights<'_>) -> Option<Vec<DirectionWeights>> {
        (0..plan.directions).map(|direction| DirectionWeights::new(plan, raw, direction)).collect()
    }

    fn new(plan: &RecurrentPlan, raw: RawWeights<'_>, direction: usize) -> Option<DirectionWeights> {
        let &RecurrentPlan { width, hidden, units, cell, .. } = plan;
        let (gates, rows) = (cell.gates(), cell.gates() * hidden);
        let [w, r] = [(raw.w, width), (raw.r, hidden)].map(|(all, depth)| &all[direction * rows * depth..]);
        let b = raw.b.map(|b| &b[direction * 2 * rows..]);
        // Column n of the padded gates is a row of the weights, or padding.
        let row = |n: usize| (n % units < hidden).then(|| n / units * hidden + n % units);
        let is_late = matches!(cell, RecurrentCell::Gru { linear_before_reset: true });
        let bias_of = |n: usize| {
            let (Some(b), Some(row)) = (b, row(n)) else { return 0.0 };
            if is_late && row >= 2 * hidden { b[row] } else { b[row] + b[rows + row] }
        };
        let bias: Vec<f32> = (0..gates * units).map(bias_of).collect();
        let at = |n: usize, k: usize| row(n).map_or(0.0, |row| w[row * width + k]);
        let input = Panels::new(Isa::best(), [gates * units, width], at, Some(&bias)).ok()?;
        let packed = |first: usize, count: usize| {
            let at = |n: usize, k: usize| row(first * units + n).map_or(0.0, |row| r[row * hidden + k]);
            PackedWeights::new([count * units, hidden], plan.batch, at)
        };
        let is_gru = matches!(cell, RecurrentCell::Gru { .. });
        let late = |n: usize| b.zip(row(2 * units + n)).map_or(0.0, |(b, row)| b[rows + row]);
        let peephole = |n: usize, p: &[f32]| row(n).map_or(0.0, |row| p[direction * 3 * hidden + row]);
        let peepholes = raw.p.map_or(Vec::new(), |p| (0..3 * units).map(|n| peephole(n, p)).collect());
        Some(DirectionWeights {
            input,
            recurrence: packed(0, if is_gru { 2 } else { gates })?,
            candidate: if is_gru { Some(packed(2, 1)?) } else { None },
            bias: if is_late { (0..units).map(late).collect() } else { Vec::new() },
            functions: CellFunctions { cell, activations: plan.activations[direction], clip: plan.clip, peepholes },
        })
    }
}
