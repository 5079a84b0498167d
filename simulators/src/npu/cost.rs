//! The cost of an instruction, and the words of SRAM by bank from which it follows.

use super::NpuMachine;
use super::machine::MAX_BANKS;
use super::operands::Feature;
use rustc_hash::FxHashMap;

/// The cost of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Cost {
    /// Cycles of the unit; of a transfer those on the DMA channel.
    pub cycles: u64,
    /// Cycles from the end of `cycles` to completion.
    pub latency: u64,
    /// Words of weights that are read.
    pub weight_words: u64,
    /// Cycles in which a group waits for a bank.
    pub bank_stalls: u64,
    /// Bytes on the DMA channel, whole bursts.
    pub ddr_bytes: u64,
}

/// Largest number of runs, or of groups and blocks, of an instruction.
pub(super) const MAX_STEPS: u64 = 1 << 26;

/// Words per bank.
pub(super) type BankCounts = [u32; MAX_BANKS];

/// Distinct words of a group of accesses, counted by bank.
pub(super) struct BankedWords {
    shift: u32,
    bank_mask: u64,
    pub seen: Vec<u64>,
    pub counts: BankCounts,
}

impl BankedWords {
    pub fn new(machine: &NpuMachine) -> BankedWords {
        let (shift, bank_mask) = (machine.word_bytes.trailing_zeros(), u64::from(machine.banks) - 1);
        BankedWords { shift, bank_mask, seen: Vec::new(), counts: [0; MAX_BANKS] }
    }

    pub fn clear(&mut self) {
        self.seen.clear();
        self.counts = [0; MAX_BANKS];
    }

    pub fn add(&mut self, start: u64, len: u64) {
        for word in start >> self.shift..=(start + len - 1) >> self.shift {
            // Neighbours share a word most often.
            if !self.seen.iter().rev().any(|&w| w == word) {
                self.seen.push(word);
                self.counts[(word & self.bank_mask) as usize] += 1;
            }
        }
    }

    pub fn cost(&self) -> u64 {
        largest(&self.counts)
    }
}

pub(super) fn largest(counts: &BankCounts) -> u64 {
    counts.iter().fold(0, |max, &n| max.max(n)).into()
}

/// Offset of a block and its contiguous runs relative to it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct BlockPattern {
    pub runs: Vec<(u64, u64)>,
}

/// Divides `0..extent` into blocks; returns for each its first offset and its pattern, an index into the list of patterns.
pub(super) fn blocks(extent: u64, block: u64, offset_runs: impl Fn(u64, u64) -> Vec<(u64, u64)>) -> AccessBlocks {
    let mut out = AccessBlocks::default();
    let mut index: FxHashMap<BlockPattern, usize> = FxHashMap::default();
    for start in (0..extent).step_by(block as usize) {
        let mut runs = offset_runs(start, (start + block).min(extent));
        runs.sort_unstable();
        let first = runs[0].0;
        runs.iter_mut().for_each(|r| r.0 -= first);
        let pattern = BlockPattern { runs };
        let id = *index.entry(pattern.clone()).or_insert_with(|| {
            out.patterns.push(pattern);
            out.patterns.len() - 1
        });
        out.list.push((first, id));
    }
    out
}

#[derive(Default)]
pub(super) struct AccessBlocks {
    pub list: Vec<(u64, usize)>,
    pub patterns: Vec<BlockPattern>,
}

pub(super) fn channel_blocks(feature: &Feature, channels: u64, block: u64) -> AccessBlocks {
    blocks(channels, block, |start, end| {
        let mut runs: Vec<(u64, u64)> = Vec::new();
        feature.for_each_channel_run(start..end, |_, offset, len| match runs.last_mut() {
            Some(last) if last.0 + last.1 == offset => last.1 += len,
            _ => runs.push((offset, len)),
        });
        runs
    })
}
