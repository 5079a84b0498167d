//! Bounds of a program, and the cycles that double buffering saves.

use super::cost_cache::CostCache;
use super::instruction::ArrayProducts;
use super::{NpuInst, NpuMachine, Unit};
use rustc_hash::FxHashSet;
use std::ops::Range;

/// Numbers of a program that follow from its instructions, without a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ProgramBounds {
    /// Cycles that the array needs for the products, those with padding included; a depthwise convolution uses one depth value.
    pub products: u64,
    /// Cycles that the DMA channel needs for constants and operands, each read once, and for results, each written once.
    pub ddr: u64,
    /// Cycles that a program of these convolutions in this order needs with this SRAM, which limits how early constants are read.
    pub memory: u64,
    /// Cycles if no two units work at once: an instruction begins when all earlier ones of other units have completed.
    pub without_ping_pong: u64,
    /// Bytes of constants that are read.
    pub constants: u64,
    /// Bytes of constants that are read a second time or more often.
    pub constants_again: u64,
    /// Bytes of operands and results, each once.
    pub border: u64,
}

impl ProgramBounds {
    /// Computes the bounds of a program whose first `constants` bytes of DDR are constants. `results`: bytes of DDR that are results.
    pub fn of(machine: &NpuMachine, program: &[NpuInst], constants: u64, results: &[Range<u64>]) -> ProgramBounds {
        let (read, loaded) = accessed(program, Unit::Load, constants);
        let (written, _) = accessed(program, Unit::Store, constants);
        // Bytes that the program stores itself before it reads them are no input.
        let inputs = bytes(&read) - common(&read, &written);
        let outputs = common(&union(results.to_vec()), &written);
        let once: u64 = read.iter().map(|r| length(&(r.start..r.end.min(constants)))).sum();
        ProgramBounds {
            products: products(machine, program),
            ddr: ((inputs + outputs) * 4).div_ceil(machine.ddr_rate.into()),
            memory: with_memory(machine, program, constants),
            without_ping_pong: in_turn(machine, program),
            constants: loaded,
            constants_again: loaded - once,
            border: (inputs - once.min(inputs)) + outputs,
        }
    }

    /// Returns the least cycles of the program: those of the array or of the channel.
    pub fn bound(&self) -> u64 {
        self.products.max(self.ddr)
    }

    /// Adds the bounds of a program that runs after this one.
    pub fn add(&mut self, other: &ProgramBounds) {
        self.products += other.products;
        self.ddr += other.ddr;
        self.memory += other.memory;
        self.without_ping_pong += other.without_ping_pong;
        self.constants += other.constants;
        self.constants_again += other.constants_again;
        self.border += other.border;
    }
}

fn products(machine: &NpuMachine, program: &[NpuInst]) -> u64 {
    let (mut dense, mut depthwise) = (0u64, 0u64);
    for products in program.iter().filter_map(NpuInst::products) {
        let sum = if products.is_depthwise { &mut depthwise } else { &mut dense };
        *sum = u64::saturating_add(*sum, products.macs);
    }
    dense.div_ceil(machine.macs()) + depthwise.div_ceil(machine.macs() / u64::from(machine.depth))
}

/// A lower bound with the size of SRAM. When convolution `i` begins, at most `sram_bytes` of the constants that it and later ones are
/// the first to use are in SRAM; the rest of those up to convolution `j` is read before `j` begins.
fn with_memory(machine: &NpuMachine, program: &[NpuInst], constants: u64) -> u64 {
    let (rate, sram) = (u64::from(machine.ddr_rate), u64::from(machine.sram_bytes));
    let lanes = [machine.macs(), machine.macs() / u64::from(machine.depth)];
    // Constants in SRAM that no convolution has used: first byte, end.
    let (mut unused, mut seen): (Vec<(u64, u64)>, FxHashSet<u32>) = Default::default();
    // The start of the next convolution, and the constants of those before it, in bytes.
    let (mut start, mut used) = (0u64, 0u64);
    // The largest start of a convolution, less the time of the constants before it.
    let mut begin: Option<i128> = None;
    for inst in program {
        if let Some(t) = inst.transfer().filter(|_| inst.unit() == Some(Unit::Load))
            && u64::from(t.ddr) < constants
            && t.counts == [1; 3]
        {
            let (at, end) = (u64::from(t.sram), u64::from(t.sram) + u64::from(t.run));
            unused.retain(|&(from, to)| to <= at || end <= from);
            if seen.insert(t.ddr) {
                unused.push((at, end));
            }
        }
        let Some(ArrayProducts { macs, is_depthwise, weights }) = inst.products() else { continue };
        let before = used;
        unused.retain(|&(from, to)| {
            let is_used = from < weights.end && weights.start < to;
            used += if is_used { to - from } else { 0 };
            !is_used
        });
        let cycles = |bytes: u64| i128::from(bytes * 4 / rate);
        let earliest = begin.map_or(0, |begin| begin + cycles(used) - cycles(sram));
        start = start.max(u64::try_from(earliest).unwrap_or(0));
        begin = begin.max(Some(i128::from(start) - cycles(before)));
        start += macs / lanes[usize::from(is_depthwise)];
    }
    start
}

/// Cycles of the instructions in the order of the program, with the latencies of the transfers that others wait for.
fn in_turn(machine: &NpuMachine, program: &[NpuInst]) -> u64 {
    let mut costs = CostCache::new(machine);
    // The unit that works, the cycle in which it is free, and that of its last completion.
    let (mut turn, mut free, mut done) = (None, 0, 0);
    for inst in program {
        let Some(unit) = inst.unit() else { continue };
        let start = if turn == Some(unit) { free } else { done };
        let cost = costs.of(inst);
        (turn, free) = (Some(unit), start + cost.cycles);
        done = done.max(free + cost.latency);
    }
    done
}

/// The bytes of DDR that the transfers of a unit access, as sorted disjoint ranges, and how many below `end` they access, those that
/// are accessed again counted again.
fn accessed(program: &[NpuInst], unit: Unit, end: u64) -> (Vec<Range<u64>>, u64) {
    let (mut all, mut most, mut sum) = (Vec::new(), 1 << 16, 0);
    for inst in program.iter().filter(|inst| inst.unit() == Some(unit)) {
        if let Some(t) = inst.transfer() {
            t.for_each_ddr_run(|start, len| {
                sum += length(&(start..(start + len).min(end)));
                all.push(start..start + len);
                if all.len() > most {
                    all = union(std::mem::take(&mut all));
                    most = most.max(2 * all.len());
                }
            });
        }
    }
    (union(all), sum)
}

/// Sorts ranges and merges those that meet.
fn union(mut all: Vec<Range<u64>>) -> Vec<Range<u64>> {
    all.sort_unstable_by_key(|r| r.start);
    let mut out: Vec<Range<u64>> = Vec::new();
    for range in all {
        match out.last_mut().filter(|last| range.start <= last.end) {
            Some(last) => last.end = last.end.max(range.end),
            None => out.push(range),
        }
    }
    out
}

fn length(range: &Range<u64>) -> u64 {
    range.end.saturating_sub(range.start)
}

fn bytes(of: &[Range<u64>]) -> u64 {
    of.iter().map(length).sum()
}

/// The bytes that are in both of two sorted lists of disjoint ranges. O(n + m).
fn common(a: &[Range<u64>], b: &[Range<u64>]) -> u64 {
    let (mut i, mut j, mut sum) = (0, 0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        sum += length(&(x.start.max(y.start)..x.end.min(y.end)));
        if x.end < y.end {
            i += 1;
        } else {
            j += 1;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::npu::Transfer;

    fn transfer(ddr: u32, run: u32) -> Transfer {
        Transfer { ddr, run, counts: [1; 3], ..Transfer::default() }
    }

    #[test]
    fn bytes_are_counted_once() {
        let machine = NpuMachine { ddr_rate: 4, burst: 1, ..NpuMachine::default() };
        // Constants are bytes 0 to 100, of which 10 are read again; 50 bytes are stored and read back; 20 are a result.
        let program = [
            NpuInst::Load(transfer(0, 100)),
            NpuInst::Load(transfer(90, 10)),
            NpuInst::Store(transfer(200, 50)),
            NpuInst::Load(transfer(200, 50)),
            NpuInst::Store(transfer(300, 20)),
            NpuInst::End,
        ];
        let bounds = ProgramBounds::of(&machine, &program, 100, std::slice::from_ref(&(300..320)));
        assert_eq!((bounds.products, bounds.ddr), (0, 120));
        assert_eq!((bounds.constants, bounds.constants_again), (110, 10));
        // Two loads in a row wait for one latency.
        assert_eq!(bounds.without_ping_pong, (110 + 500) + (50 + 250) + (50 + 500) + (20 + 250));
        assert_eq!(common(&[0..10, 20..30], &[5..25, 29..40]), 5 + 5 + 1);
    }
}
