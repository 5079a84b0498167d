//! Loop nests around convolutions.

use super::registers::{CONSTANTS, FEATURES, SUMS, WEIGHTS};
use super::{Layout, LoopOrder, Mapping};
use crate::nna::code::CodeBuilder;
use crate::nna::instruction::{CONFIG, ENGINE, Form, fram_event, wram_event};
use crate::nna::machine::{CHANNELS, KERNEL, TAPS, VECTOR};

/// Vector registers of the diagonal patterns: the last sixteen.
const PATTERNS: i32 = 16;

/// Steps of an iteration, an even number.
const UNROLLED: usize = 4;

/// Emits the convolutions of a product.
pub fn emit(e: &mut CodeBuilder, layout: &Layout) {
    let (kernels, patches) = layout.plan.extents(layout.shape);
    if patches == 0 {
        return;
    }
    let step = if layout.plan.sharing { layout.plan.patches } else { 1 };
    let nest = Nest { layout, kernels, patches, step };
    e.push(Form::Nncfg, &[0, 2]);
    e.push(Form::Nncfg, &[1, nest.row() as i32]);
    e.push(Form::Nncfg, &[2, (1 << TAPS) - 1]);
    e.push(Form::Nnsync, &[CONFIG]);
    if layout.plan.mapping == Mapping::Diagonal {
        e.push(Form::Li, &[CONSTANTS, layout.patterns as i32]);
        (0..16).for_each(|i| e.push(Form::La, &[PATTERNS + i, 2, CONSTANTS, i * VECTOR as i32]));
    }
    e.push(Form::Li, &[WEIGHTS, layout.weights as i32]);
    match layout.plan.order {
        LoopOrder::KernelOuter => nest.kernel_outer(e),
        LoopOrder::StepOuter => nest.step_outer(e),
    }
}

/// A group of nine taps.
#[derive(Clone, Copy)]
struct TapGroup {
    taps: usize,
    /// Whether its results are added to the sums.
    accumulates: bool,
}

/// A pool of vector registers, used in turn.
struct Pool {
    first: i32,
    count: i32,
    next: i32,
}

impl Pool {
    fn take(&mut self) -> i32 {
        self.next = (self.next + 1) % self.count;
        self.first + self.next
    }
}

struct Nest<'a> {
    layout: &'a Layout,
    kernels: usize,
    patches: usize,
    /// Patches of a step.
    step: usize,
}

impl Nest<'_> {
    /// Pixels that are written to a row of a feature RAM, of which a patch has three and a gap.
    fn row(&self) -> usize {
        4 * self.layout.plan.patches
    }

    fn is_dense(&self) -> bool {
        self.layout.plan.mapping == Mapping::Dense
    }

    /// Registers to load features and weights, and to read and sum results. The diagonal patterns take half of all.
    fn pools(&self) -> [Pool; 3] {
        let pool = |first, count| Pool { first, count, next: 0 };
        if self.is_dense() { [pool(0, 12), pool(12, 10), pool(22, 10)] } else { [pool(0, 6), pool(6, 5), pool(11, 5)] }
    }

    /// Bytes of the sums from a kernel to the next.
    fn kernel_sums(&self) -> i64 {
        (4 * if self.is_dense() { CHANNELS } else { self.layout.inner }) as i64
    }

    /// Bytes of the sums from a patch to the next.
    fn patch_sums(&self) -> i64 {
        (4 * if self.is_dense() { self.layout.inner } else { CHANNELS }) as i64
    }

    /// Bytes of the features from a patch to the next.
    fn patch_features(&self) -> i64 {
        (if self.is_dense() { self.layout.pitch } else { CHANNELS }) as i64
    }

    /// Bytes of the features from a tap to the next.
    fn tap_features(&self) -> i64 {
        (if self.is_dense() { CHANNELS } else { self.layout.pitch }) as i64
    }

    /// Bytes of the weights of a kernel and group, for the dense mapping.
    fn weight_bytes(&self, taps: usize) -> i64 {
        if self.is_dense() { (KERNEL / TAPS * taps) as i64 } else { taps as i64 }
    }

    /// Bytes of the weights from a resident kernel to the next.
    fn kernel_weights(&self, taps: usize) -> i64 {
        if self.is_dense() { self.weight_bytes(taps) } else { self.layout.shape.depth as i64 }
    }

    /// Halves of the output channels of a kernel that have rows.
    fn halves(&self, kernel: usize) -> usize {
        let rest = self.layout.shape.rows.saturating_sub(kernel * CHANNELS);
        if self.is_dense() && rest <= CHANNELS / 2 { 1 } else { 2 }
    }

    /// Returns the chunks of kernels that are resident together, as runs of equal ones: the number of chunks, and the halves of
    /// each kernel.
    fn chunks(&self) -> Vec<(usize, Vec<usize>)> {
        let mut runs: Vec<(usize, Vec<usize>)> = Vec::new();
        let all: Vec<usize> = (0..self.kernels).map(|kernel| self.halves(kernel)).collect();
        for chunk in all.chunks(self.layout.plan.resident) {
            match runs.last_mut() {
                Some((count, last)) if last == chunk => *count += 1,
                _ => runs.push((1, chunk.to_vec())),
            }
        }
        runs
    }

    /// Emits all groups by `body`, which leaves the features' address as it was. A mask is set for a last group of fewer taps.
    fn groups(&self, e: &mut CodeBuilder, body: impl Fn(&mut CodeBuilder, TapGroup)) {
        let (groups, last) = self.layout.groups();
        let initial = self.layout.plan.initial;
        let next = TAPS as i64 * self.tap_features();
        if groups > 1 {
            body(e, TapGroup { taps: TAPS, accumulates: initial });
            e.advance(FEATURES, next);
            e.repeat(groups - 2, |e| {
                body(e, TapGroup { taps: TAPS, accumulates: true });
                e.advance(FEATURES, next);
            });
        }
        if last < TAPS {
            set_mask(e, (1 << last) - 1);
        }
        body(e, TapGroup { taps: last, accumulates: initial || groups > 1 });
        if last < TAPS {
            set_mask(e, (1 << TAPS) - 1);
        }
        e.advance(FEATURES, -next * (groups as i64 - 1));
    }

    /// Loops over kernels, groups and steps.
    fn kernel_outer(&self, e: &mut CodeBuilder) {
        e.push(Form::Li, &[FEATURES, self.layout.features as i32]);
        e.push(Form::Li, &[SUMS, self.layout.sums as i32]);
        for (count, chunk) in self.chunks() {
            e.repeat(count, |e| {
                self.groups(e, |e, group| {
                    e.push(Form::Nnsync, &[ENGINE]);
                    if self.layout.plan.sharing {
                        self.load_kernels(e, chunk.len(), group.taps);
                    }
                    self.steps(e, &chunk, group);
                    let resident = if self.is_dense() { chunk.len() as i64 } else { 1 };
                    e.advance(WEIGHTS, resident * self.weight_bytes(group.taps));
                });
                if !self.is_dense() {
                    e.advance(WEIGHTS, (chunk.len() as i64 - 1) * self.layout.shape.depth as i64);
                }
                e.advance(SUMS, chunk.len() as i64 * self.kernel_sums());
            });
        }
    }

    /// Loops over pairs of steps, groups and kernels, with the features of a pair in both feature RAMs.
    fn step_outer(&self, e: &mut CodeBuilder) {
        e.push(Form::Li, &[FEATURES, self.layout.features as i32]);
        e.push(Form::Li, &[SUMS, self.layout.sums as i32]);
        let pair = 2 * self.step;
        let rest = self.patches % pair;
        let both = [self.step, self.step];
        e.repeat(self.patches / pair, |e| {
            self.pair(e, &both);
            e.advance(FEATURES, pair as i64 * self.patch_features());
            e.advance(SUMS, pair as i64 * self.patch_sums());
        });
        if rest > 0 {
            let last = [rest.min(self.step), rest.saturating_sub(self.step)];
            self.pair(e, if last[1] == 0 { &last[..1] } else { &last });
        }
    }

    /// Emits all groups and kernels of up to two steps, each with a number of patches.
    fn pair(&self, e: &mut CodeBuilder, steps: &[usize]) {
        e.push(Form::Li, &[WEIGHTS, self.layout.weights as i32]);
        self.groups(e, |e, group| {
            let [mut loads, mut reads, mut sums] = self.pools();
            e.push(Form::Nnsync, &[ENGINE]);
            for (fram, &patches) in steps.iter().enumerate() {
                e.push(Form::Nnptr, &[fram as i32, 0]);
                self.fill(e, &mut loads, fram, fram, patches, group.taps, 0..patches);
            }
            for (count, chunk) in self.chunks() {
                e.repeat(count, |e| {
                    self.load_kernels(e, 1, group.taps);
                    for (fram, &patches) in steps.iter().enumerate() {
                        self.convolve(e, fram, 0, fram, false);
                        if fram > 0 {
                            self.read(e, [&mut reads, &mut sums], 0, 0, steps[0], chunk[0], 0, group);
                        }
                        if fram + 1 == steps.len() {
                            e.push(Form::Nnsync, &[ENGINE]);
                            self.read(e, [&mut reads, &mut sums], fram, fram, patches, chunk[0], 0, group);
                        }
                    }
                    e.advance(WEIGHTS, self.kernel_weights(group.taps));
                    e.advance(SUMS, self.kernel_sums());
                });
            }
            e.advance(SUMS, -(self.kernels as i64) * self.kernel_sums());
            if !self.is_dense() {
                e.advance(WEIGHTS, group.taps as i64 - (self.kernels * self.layout.shape.depth) as i64);
            }
        });
    }

    /// Emits all steps of the resident kernels, and leaves the addresses as they were.
    fn steps(&self, e: &mut CodeBuilder, chunk: &[usize], group: TapGroup) {
        let steps = self.patches.div_ceil(self.step);
        let last = self.patches - (steps - 1) * self.step;
        let patches = |step: usize| if step + 1 == steps { last } else { self.step };
        let mut pipeline = Pipeline { nest: self, chunk, group, pools: self.pools() };
        let advance = |e: &mut CodeBuilder, count: usize| {
            e.advance(FEATURES, (count * self.step) as i64 * self.patch_features());
            e.advance(SUMS, (count * self.step) as i64 * self.patch_sums());
        };
        let mut base = 0;
        if self.layout.plan.ping_pong && self.layout.plan.sharing {
            e.push(Form::Nnptr, &[0, 0]);
            e.push(Form::Nnptr, &[1, 0]);
            pipeline.fill(e, 0, 0, patches(0), 0..chunk.len());
            pipeline.step(e, 0, 0, None, (steps > 1).then(|| patches(1)));
            let steady = steps.saturating_sub(3) / UNROLLED;
            e.repeat(steady, |e| {
                (1..=UNROLLED).for_each(|i| pipeline.step(e, i, i % 2, Some(self.step), Some(self.step)));
                advance(e, UNROLLED);
            });
            base = UNROLLED * steady;
            for step in base + 1..steps {
                let next = (step + 1 < steps).then(|| patches(step + 1));
                pipeline.step(e, step - base, step % 2, Some(self.step), next);
            }
            e.push(Form::Nnsync, &[ENGINE]);
            pipeline.read(e, steps - 1 - base, (steps - 1) % 2, chunk.len() - 1, last);
        } else {
            e.push(Form::Nnptr, &[0, 0]);
            e.repeat(steps - 1, |e| {
                pipeline.sequential(e, self.step);
                advance(e, 1);
            });
            base += steps - 1;
            pipeline.sequential(e, last);
        }
        e.advance(FEATURES, -((base * self.step) as i64) * self.patch_features());
        e.advance(SUMS, -((base * self.step) as i64) * self.patch_sums());
    }

    /// Writes the resident kernels to the weight RAM.
    fn load_kernels(&self, e: &mut CodeBuilder, count: usize, taps: usize) {
        let [mut loads, mut masked, _] = self.pools();
        for wram in 0..count {
            e.push(Form::Nnptr, &[2 + wram as i32, 0]);
            let base = wram as i64 * self.kernel_weights(taps);
            for i in 0..taps * 16 {
                let mut register = loads.first + loads.next;
                if self.is_dense() {
                    register = loads.take();
                    e.push(Form::La, &[register, 2, WEIGHTS, base as i32 + (i * VECTOR) as i32]);
                } else {
                    if i % 16 == 0 {
                        register = loads.take();
                        e.push(Form::Ls, &[register, WEIGHTS, base as i32 + (i / 16) as i32]);
                    }
                    let diagonal = masked.take();
                    e.push(Form::And, &[diagonal, register, PATTERNS + (i % 16) as i32]);
                    register = diagonal;
                }
                e.push(Form::Nndww, &[wram as i32, register]);
            }
        }
    }

    /// Starts a convolution when its operands are complete and the engine is idle.
    fn convolve(&self, e: &mut CodeBuilder, fram: usize, wram: usize, block: usize, rewind: bool) {
        e.push(Form::Nnsync, &[fram_event(fram) | wram_event(wram) | ENGINE]);
        e.push(Form::Nnmacg, &[fram as i32, wram as i32, block as i32, i32::from(rewind)]);
    }

    /// Writes a share of the pixels of a step to a feature RAM. The last share of a row with fewer patches sets the write pointer
    /// to the next row.
    #[expect(clippy::too_many_arguments, reason = "a step is a place, an extent and a share")]
    fn fill(
        &self,
        e: &mut CodeBuilder,
        pool: &mut Pool,
        fram: usize,
        step: usize,
        patches: usize,
        taps: usize,
        share: std::ops::Range<usize>,
    ) {
        let rows = taps.div_ceil(3);
        for place in share.start * rows..share.end * rows {
            let (row, patch) = (place / patches, place % patches);
            if patch == 0 && row > 0 && patches < self.layout.plan.patches {
                e.push(Form::Nnptr, &[fram as i32, (row * self.row()) as i32]);
            }
            let base = (step * self.step + patch) as i64 * self.patch_features();
            for first in [0, 2] {
                let register = pool.take();
                let tap = 3 * row + first;
                let count = if first == 0 { 2 } else { 1 }.min(taps.saturating_sub(tap));
                let at = |tap: usize| (base + tap as i64 * self.tap_features()) as i32;
                if self.is_dense() && count == 2 {
                    e.push(Form::La, &[register, 2, FEATURES, at(tap)]);
                } else {
                    (0..count).for_each(|i| e.push(Form::La, &[register, i as i32, FEATURES, at(tap + i)]));
                }
                e.push(Form::Nndwf, &[fram as i32, register]);
            }
        }
    }

    /// Adds the results of a convolution to the sums, or stores them.
    #[expect(clippy::too_many_arguments, reason = "a result is a block and a place")]
    fn read(
        &self,
        e: &mut CodeBuilder,
        [reads, sums]: [&mut Pool; 2],
        block: usize,
        step: usize,
        patches: usize,
        halves: usize,
        kernel: usize,
        group: TapGroup,
    ) {
        for patch in 0..patches {
            for half in 0..halves {
                let result = reads.take();
                let at = (step * self.step + patch) as i64 * self.patch_sums()
                    + kernel as i64 * self.kernel_sums()
                    + (half * VECTOR) as i64;
                e.push(Form::Nndrdocb, &[result, block as i32, 2 * patch as i32, half as i32]);
                if group.accumulates {
                    let sum = sums.take();
                    e.push(Form::La, &[sum, 2, SUMS, at as i32]);
                    e.push(Form::Add, &[result, result, sum]);
                }
                e.push(Form::Sa, &[result, 2, SUMS, at as i32]);
            }
        }
    }
}

fn set_mask(e: &mut CodeBuilder, mask: i32) {
    e.push(Form::Nncfg, &[2, mask]);
    e.push(Form::Nnsync, &[CONFIG]);
}

/// The steps of the resident kernels.
struct Pipeline<'a> {
    nest: &'a Nest<'a>,
    chunk: &'a [usize],
    group: TapGroup,
    pools: [Pool; 3],
}

impl Pipeline<'_> {
    /// Writes the share of a step that is written beside the convolutions of `kernels`.
    fn fill(&mut self, e: &mut CodeBuilder, fram: usize, step: usize, patches: usize, kernels: std::ops::Range<usize>) {
        let share = kernels.start * patches / self.chunk.len()..kernels.end * patches / self.chunk.len();
        self.nest.fill(e, &mut self.pools[0], fram, step, patches, self.group.taps, share);
    }

    fn read(&mut self, e: &mut CodeBuilder, step: usize, fram: usize, kernel: usize, patches: usize) {
        let block = if self.chunk.len() == 1 { fram } else { kernel };
        let [_, reads, sums] = &mut self.pools;
        let (halves, group) = (self.chunk[kernel], self.group);
        self.nest.read(e, [reads, sums], block, step, patches, halves, kernel, group);
    }

    /// Starts the convolutions of a step, and beside each stores the result before it and writes a share of the next step.
    fn step(&mut self, e: &mut CodeBuilder, step: usize, fram: usize, previous: Option<usize>, next: Option<usize>) {
        let kernels = self.chunk.len();
        for kernel in 0..kernels {
            let block = if kernels == 1 { fram } else { kernel };
            self.nest.convolve(e, fram, kernel, block, kernel + 1 == kernels);
            match previous {
                _ if kernel > 0 => self.read(e, step, fram, kernel - 1, self.patches(next)),
                Some(patches) => self.read(e, step - 1, 1 - fram, kernels - 1, patches),
                None => {}
            }
            if let Some(patches) = next {
                self.fill(e, 1 - fram, step + 1, patches, kernel..kernel + 1);
            }
        }
    }

    /// Patches of a step with a successor, or of the last one.
    fn patches(&self, next: Option<usize>) -> usize {
        let (all, step) = (self.nest.patches, self.nest.step);
        if next.is_some() { step } else { all - (all.div_ceil(step) - 1) * step }
    }

    /// A step without overlap: writes features, and weights unless they are shared, then convolves, then stores.
    fn sequential(&mut self, e: &mut CodeBuilder, patches: usize) {
        let kernels = self.chunk.len();
        e.push(Form::Nnsync, &[ENGINE]);
        if !self.nest.layout.plan.sharing {
            self.nest.load_kernels(e, kernels, self.group.taps);
        }
        self.fill(e, 0, 0, patches, 0..kernels);
        for kernel in 0..kernels {
            self.nest.convolve(e, 0, kernel, kernel, kernel + 1 == kernels);
            e.push(Form::Nnsync, &[ENGINE]);
            self.read(e, 0, 0, kernel, patches);
        }
    }
}
