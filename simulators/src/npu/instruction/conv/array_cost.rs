//! Cycles of a convolution, without other instructions.
//!
//! The array works through a convolution by blocks of `kernels` kernels, taps, blocks of `depth` depth values, and groups of
//! `positions` consecutive output positions, the last fastest. A group takes one cycle, or as many as the bank needs that
//! holds most of the distinct words of the group's feature values. With the first group the words of the block's weights are
//! read too, each once. Padding reads nothing.
//!
//! The cost of a group depends on its addresses modulo `word_bytes * banks` only, so equal sums are computed once.

use super::geometry::Conv;
use crate::npu::cost::{AccessBlocks, BankCounts, BankedWords, blocks, channel_blocks, largest};
use crate::npu::{Cost, MAX_BANKS, NpuMachine};
use rustc_hash::FxHashMap;

/// Sum of the cycles of all groups of a tap and a depth block, and the words of the first group.
#[derive(Clone, Copy)]
struct GroupSum {
    cycles: u64,
    first: BankCounts,
}

pub(super) struct ArrayCost<'a> {
    machine: &'a NpuMachine,
    conv: &'a Conv,
    /// Bytes after which banks repeat.
    span: u64,
    channels: AccessBlocks,
    kernels: AccessBlocks,
    depths: AccessBlocks,
    /// Whether channels go with kernels.
    dw: bool,
    words: BankedWords,
    weights: FxHashMap<(usize, usize, u64), (u64, BankCounts)>,
    /// The distances of a group's positions from the first of them, each list once.
    offsets: Vec<Vec<u64>>,
    offset_ids: FxHashMap<Vec<u64>, usize>,
    /// Cycles of a group by its distances, the runs of its channels, and its address modulo `span`.
    cycles: FxHashMap<(usize, usize, u64), u64>,
}

/// The groups of a tap.
#[derive(Default)]
struct Groups {
    /// Number of groups by the distances of their positions and the address of the first one, modulo `span`.
    counts: Vec<((usize, u64), u64)>,
    /// Number of groups in the padding.
    padding: u64,
    /// The first group; `Some(None)` in the padding.
    first: Option<Option<(usize, u64)>>,
}

/// A multiple of all spans above all distances, so that addresses before a group's first position are not negative.
const GUARD: u64 = 1 << 48;

impl<'a> ArrayCost<'a> {
    pub fn new(machine: &'a NpuMachine, conv: &'a Conv, dw: bool) -> Self {
        let (kernel_block, depth_block) = (u64::from(machine.kernels), u64::from(machine.depth));
        let (extent, block) = if dw { (conv.kernels, kernel_block) } else { (conv.depth, depth_block) };
        let w = conv.weights;
        ArrayCost {
            machine,
            conv,
            span: u64::from(machine.word_bytes) * u64::from(machine.banks),
            channels: channel_blocks(&conv.feature, extent.into(), block),
            kernels: blocks(conv.kernels.into(), kernel_block, |start, end| {
                (start..end).map(|k| (w.kernel_offset(k), 1)).collect()
            }),
            depths: blocks(conv.depth.into(), depth_block, |start, end| {
                (start..end).map(|d| (w.depth_offset(d), 1)).collect()
            }),
            dw,
            words: BankedWords::new(machine),
            weights: FxHashMap::default(),
            offsets: Vec::new(),
            offset_ids: FxHashMap::default(),
            cycles: FxHashMap::default(),
        }
    }

    pub fn total(mut self) -> Cost {
        let conv = self.conv;
        let groups = conv.positions().div_ceil(self.machine.positions.into());
        let mut cost = Cost::default();
        let mut least = 0;
        for y in 0..conv.kernel[0] {
            for x in 0..conv.kernel[1] {
                let sums = self.group_sums(y, x);
                let tap = conv.weights.tap_offset(y.into(), x.into());
                for k in 0..self.kernels.list.len() {
                    for d in 0..self.depths.list.len() {
                        let sum = &sums[if self.dw { k } else { d }];
                        let (words, weights) = self.weight_words(tap, k, d);
                        let mut both = sum.first;
                        both.iter_mut().zip(weights).for_each(|(n, w)| *n += w);
                        cost.cycles += sum.cycles - largest(&sum.first).max(1) + largest(&both).max(1);
                        cost.weight_words += words;
                        least += groups;
                    }
                }
            }
        }
        cost.bank_stalls = cost.cycles - least;
        cost.cycles += u64::from(self.machine.start);
        cost
    }

    /// Returns the sums of each block of channels at a tap.
    fn group_sums(&mut self, y: u16, x: u16) -> Vec<GroupSum> {
        let groups = self.groups(y, x);
        let mut known: FxHashMap<(u64, usize), GroupSum> = FxHashMap::default();
        let mut sums = Vec::with_capacity(self.channels.list.len());
        for i in 0..self.channels.list.len() {
            let (offset, pattern) = self.channels.list[i];
            let key = (offset % self.span, pattern);
            let sum = match known.get(&key) {
                Some(sum) => *sum,
                None => self.sum_groups(&groups, key.0, pattern),
            };
            known.insert(key, sum);
            sums.push(sum);
        }
        sums
    }

    /// Returns the groups of a tap, equal ones once.
    fn groups(&mut self, y: u16, x: u16) -> Groups {
        let conv = self.conv;
        let col = |o| conv.input(1, o, x).map(|w| conv.feature.col_offset(w));
        let cols: Vec<Option<u64>> = (0..conv.cols).map(col).collect();
        let mut positions = Vec::with_capacity(conv.positions() as usize);
        for o in 0..conv.rows {
            let row = conv.input(0, o, y).map(|h| u64::from(conv.feature.base) + conv.feature.row_offset(h));
            positions.extend(cols.iter().map(|col| Some(row? + (*col)?)));
        }
        let mut out = Groups::default();
        let (mut relative, mut keys, mut last) = (Vec::new(), Vec::new(), 0);
        for group in positions.chunks(self.machine.positions as usize) {
            let Some(first) = group.iter().flatten().next().copied() else {
                out.padding += 1;
                out.first.get_or_insert(None);
                continue;
            };
            relative.clear();
            relative.extend(group.iter().flatten().map(|at| at.wrapping_sub(first)));
            if self.offsets.get(last) != Some(&relative) {
                last = *self.offset_ids.entry(relative.clone()).or_insert_with(|| {
                    self.offsets.push(relative.clone());
                    self.offsets.len() - 1
                });
            }
            let key = (last, first % self.span);
            out.first.get_or_insert(Some(key));
            keys.push(key);
        }
        keys.sort_unstable();
        out.counts = keys.chunk_by(|a, b| a == b).map(|equal| (equal[0], equal.len() as u64)).collect();
        out
    }

    /// Sums the cycles of groups for a block of channels at an offset.
    fn sum_groups(&mut self, groups: &Groups, offset: u64, pattern: usize) -> GroupSum {
        let mut sum = GroupSum { cycles: groups.padding, first: [0; MAX_BANKS] };
        for &((offsets, at), count) in &groups.counts {
            let at = (at + offset) % self.span;
            let cycles = match self.cycles.get(&(offsets, pattern, at)) {
                Some(&cycles) => cycles,
                None => {
                    let cycles = largest(&self.group_words(offsets, pattern, at)).max(1);
                    self.cycles.insert((offsets, pattern, at), cycles);
                    cycles
                }
            };
            sum.cycles += count * cycles;
        }
        if let Some(Some((offsets, at))) = groups.first {
            sum.first = self.group_words(offsets, pattern, (at + offset) % self.span);
        }
        sum
    }

    /// Returns the words by bank of a group whose first position has its block of channels at an address.
    fn group_words(&mut self, offsets: usize, pattern: usize, at: u64) -> BankCounts {
        self.words.clear();
        for offset in &self.offsets[offsets] {
            for &(start, len) in &self.channels.patterns[pattern].runs {
                self.words.add((at + GUARD).wrapping_add(*offset) + start, len);
            }
        }
        self.words.counts
    }

    /// Returns the words of a block's weights, and their counts by bank.
    fn weight_words(&mut self, tap: u64, k: usize, d: usize) -> (u64, BankCounts) {
        let ((k_offset, k_pattern), (d_offset, d_pattern)) = (self.kernels.list[k], self.depths.list[d]);
        let base = (u64::from(self.conv.weights.base) + tap + k_offset + d_offset) % self.span;
        *self.weights.entry((k_pattern, d_pattern, base)).or_insert_with(|| {
            self.words.clear();
            for kernel in &self.kernels.patterns[k_pattern].runs {
                for depth in &self.depths.patterns[d_pattern].runs {
                    self.words.add(base + kernel.0 + depth.0, 1);
                }
            }
            (self.words.seen.len() as u64, self.words.counts)
        })
    }
}
