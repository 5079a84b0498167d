//! Bounds of mappings.

use super::{Layout, LoopOrder, Mapping, Shape};
use crate::nna::machine::{CHANNELS, NnaMachine, TAPS};

impl Layout {
    /// Returns the bytes of all kernels in the weight RAM, without masked taps.
    pub fn weight_bytes(&self) -> u64 {
        let (kernels, _) = self.plan.extents(self.shape);
        (kernels * self.all_taps() * CHANNELS * CHANNELS) as u64
    }

    /// Returns the taps of a kernel over all groups.
    fn all_taps(&self) -> usize {
        let (groups, last) = self.groups();
        (groups - 1) * TAPS + last
    }

    /// Returns the least number of cycles in which the machine can execute the plan: the array's steps, and the instructions
    /// that no program of the plan lacks in each slot. These are, of the engine, the writes of weights and pixels with their gaps, the starts,
    /// each after a wait, and the reads of results; of the other slot, loads, sums and stores.
    pub fn bound(&self, machine: &NnaMachine) -> u64 {
        let Shape { rows, depth, columns } = self.shape;
        let (kernels, patches) = self.plan.extents(self.shape);
        // Without a patch there is no convolution, and no kernel is written.
        let kernels = if patches > 0 { kernels } else { 0 };
        let scalar = match self.plan.mapping {
            Mapping::Dense => 0,
            Mapping::Diagonal if self.plan.padded => 0,
            Mapping::Diagonal => rows * depth * (columns % CHANNELS),
            Mapping::Scalar => rows * depth * columns,
        } * 3;
        let (groups, last) = self.groups();
        let width = if self.plan.sharing { self.plan.patches } else { 1 };
        let steps = patches.div_ceil(width);
        let resident = if self.plan.order == LoopOrder::StepOuter { kernels } else { self.plan.resident };
        let fills = patches * kernels.div_ceil(resident.max(1));
        let weights_read = match (self.plan.sharing, self.plan.order) {
            (false, _) => steps,
            (true, LoopOrder::KernelOuter) => 1,
            (true, LoopOrder::StepOuter) => steps.div_ceil(2),
        };
        let halves = match self.plan.mapping {
            Mapping::Dense => rows.div_ceil(CHANNELS / 2),
            _ => 2 * kernels,
        } * patches;
        let sums = if self.plan.initial { groups } else { groups - 1 };
        let is_dense = self.plan.mapping == Mapping::Dense;
        // Instructions of a kernel's tap and of a patch's row, in both slots.
        let all_taps = self.all_taps();
        let weights = kernels * weights_read * all_taps * 16;
        let loads = if is_dense { weights } else { weights / 16 * 17 };
        let written = fills * 2 * ((groups - 1) * 3 + last.div_ceil(3));
        // Two pixels are loaded at once; of a last row with fewer than three the second load is left out.
        let dense_loads = all_taps.div_ceil(3) * 2 - usize::from(last % 3 != 0);
        let read = fills * if is_dense { dense_loads } else { all_taps };
        let starts = kernels * steps * groups;
        let engine = weights + written + 2 * starts + halves * groups;
        let vector = loads + read + halves * (groups + 2 * sums) + scalar;
        (engine as u64).max(vector as u64).max(starts as u64 * (machine.step() + 1))
    }
}
