//! Matrix products compared with their definition.

use super::{Addresses, Isa, Panels, Product, RunSplit};
use crate::ElementwiseEpilogue;
use crate::aligned_bytes::AlignedBytes;
use crate::workers::Workers;
use gradus_networks::layout::{AddressTable, Encoding};

/// Deterministic pseudo-random small integers, so that sums are exact.
pub(super) struct Numbers(pub(super) u64);

impl Numbers {
    pub(super) fn next(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % below
    }

    fn floats(&mut self, count: usize) -> Vec<f32> {
        (0..count).map(|_| self.next(17) as f32 - 8.0).collect()
    }
}

/// Returns a table of separable addresses: a base per row, and the starts of runs.
pub(super) fn separable<'a>(base: &'a [i32], starts: &[i32], run: usize) -> AddressTable<'a> {
    let relative = starts.iter().flat_map(|&start| (0..run as i32).map(move |i| start + i));
    AddressTable::separable(base, relative.collect::<Vec<_>>())
}

/// Returns a pool of one thread, and a pool of several.
pub(crate) fn workers() -> [Workers; 2] {
    [1, 3].map(|threads| Workers::new(threads).expect("there are threads"))
}

fn isas() -> impl Iterator<Item = Isa> {
    [Isa::Portable, Isa::Neon, Isa::Avx2, Isa::Avx512].into_iter().filter(|isa| isa.is_supported())
}

#[test]
fn products_are_sums_of_products() {
    let (mut numbers, workers) = (Numbers(1), workers());
    for case in 0..400 {
        let (m, n) = ([0, 1, 5, 13, 200][numbers.next(5)], [1, 3, 16, 24, 48, 64, 100][numbers.next(7)]);
        let (runs, run) = ([0, 1, 2, 9][numbers.next(4)], [1, 3, 8, 130, 257][numbers.next(5)]);
        let a = numbers.floats(4096);
        let base: Vec<i32> = (0..m).map(|_| numbers.next(2000) as i32).collect();
        let relative: Vec<i32> = (0..runs).map(|_| numbers.next(1800) as i32).collect();
        let b = numbers.floats(n * runs * run);
        let (bias, add) = (numbers.floats(n), numbers.floats(m * n));
        let (with_bias, with_add, range) = (
            case % 2 == 0,
            case % 3 == 0,
            if case % 5 == 0 { (0.0, 60.0) } else { (f32::NEG_INFINITY, f32::INFINITY) },
        );
        for isa in isas() {
            let at = |n: usize, k: usize| b[n * runs * run + k];
            let panels = Panels::new(isa, [n, runs * run], at, with_bias.then_some(&bias[..])).expect("panels");
            let mut c = vec![f32::NAN; m * n];
            let encoding = if case % 3 == 1 { Encoding::Running } else { Encoding::Absolute };
            let table = separable(&base, &relative, run).with_encoding(encoding);
            let addresses = Addresses::new(&table, RunSplit::FLOATS).expect("they are small");
            let add = with_add.then_some(&add[..]);
            let product = Product {
                a: &a,
                addresses: &addresses,
                b: &panels,
                add,
                elementwise: ElementwiseEpilogue::clamp(range),
            };
            product.compute(&workers[case % 2], &mut c).expect("it can be computed");
            for (i, &have) in c.iter().enumerate() {
                let (row, column) = (i / n, i % n);
                let value = |k: usize| a[(base[row] + relative[k / run]) as usize + k % run];
                let sum: f32 = (0..runs * run).map(|k| value(k) * at(column, k)).sum();
                let sum = sum + if with_bias { bias[column] } else { 0.0 } + add.map_or(0.0, |add| add[i]);
                assert_eq!(have, sum.clamp(range.0, range.1), "{isa:?} {m}x{n}, {runs} runs of {run}: {row}, {column}");
            }
        }
    }
}

#[test]
fn panels_of_other_widths_are_packed_anew() {
    let at = |n: usize, k: usize| (n * 100 + k) as f32;
    for (columns, width) in [(1_usize, 3_usize), (16, 16), (20, 64), (50, 7), (100, 24)] {
        let wide: Vec<f32> = (0..columns.next_multiple_of(width) * 5)
            .map(|i| (i / width / 5 * width + i % width, i / width % 5))
            .map(|(n, k)| if n < columns { at(n, k) } else { 0.0 })
            .collect();
        let wide = AlignedBytes::of(bytemuck::cast_slice(&wide)).into_bytes();
        for isa in isas() {
            let [new, again] = [
                Panels::new(isa, [columns, 5], at, None).expect("panels"),
                Panels::packed(isa, [columns, 5], width, &wide, None).expect("these are panels"),
            ];
            assert!(new.from(0, 0) == again.from(0, 0), "{isa:?} {columns} {width}");
            assert!(Panels::packed(isa, [columns, 4], width, &wide, None).is_err());
        }
    }
}

#[test]
fn each_run_has_its_place_or_is_zero() {
    let (mut numbers, workers) = (Numbers(2), workers());
    for case in 0..200 {
        let (m, n) = ([0, 1, 7, 200][numbers.next(4)], [1, 16, 24, 64][numbers.next(4)]);
        let (runs, run) = ([0, 1, 2, 9][numbers.next(4)], [1, 3, 8, 130, 257][numbers.next(5)]);
        let a = numbers.floats(2048);
        let bases: Vec<i32> = (0..m * runs).map(|_| numbers.next(1700) as i32 - 100).map(|b| b.max(-1)).collect();
        let b = numbers.floats(n * runs * run);
        for isa in isas() {
            let at = |n: usize, k: usize| b[n * runs * run + k];
            let panels = Panels::new(isa, [n, runs * run], at, None).expect("panels");
            let mut c = vec![f32::NAN; m * n];
            let table = AddressTable::indirect(&bases, [m, runs], run).expect("rows are whole");
            let addresses = Addresses::new(&table, RunSplit::FLOATS).expect("they are small");
            let product =
                Product { a: &a, addresses: &addresses, b: &panels, add: None, elementwise: ElementwiseEpilogue::NONE };
            product.compute(&workers[case % 2], &mut c).expect("it can be computed");
            for (i, &have) in c.iter().enumerate() {
                let (row, column) = (i / n, i % n);
                let value = |k: usize| match bases[row * runs + k / run] {
                    -1 => 0.0,
                    base => a[base as usize + k % run],
                };
                let sum: f32 = (0..runs * run).map(|k| value(k) * at(column, k)).sum();
                assert_eq!(have, sum, "{isa:?} {m}x{n}, {runs} runs of {run}: {row}, {column}");
            }
        }
    }
}

#[test]
fn addresses_outside_are_refused() {
    let panels = Panels::new(Isa::best(), [4, 2], |_, _| 1.0, None).expect("panels");
    let compute = |base: &[i32], relative: &[i32], run, c: usize| {
        let addresses = Addresses::new(&separable(base, relative, run), RunSplit::FLOATS)?;
        let product = Product {
            a: &[1.0; 8],
            addresses: &addresses,
            b: &panels,
            add: None,
            elementwise: ElementwiseEpilogue::NONE,
        };
        product.compute(&Workers::default(), &mut vec![0.0; c])
    };
    assert!(compute(&[0, 6], &[0], 2, 8).is_ok());
    assert!(compute(&[0, 7], &[0], 2, 8).is_err());
    assert!(compute(&[0, -1], &[0], 2, 8).is_err());
    assert!(compute(&[0, i32::MAX], &[i32::MAX, 0], 1, 8).is_err());
    assert!(compute(&[0, 6], &[0], 2, 7).is_err());
    assert!(compute(&[0, 6], &[0, 0], 2, 8).is_err());
}

/// A NaN passes through the clamp.
#[test]
fn nan_is_not_hidden() {
    for isa in isas() {
        let panels = Panels::new(isa, [20, 1], |_, _| 1.0, None).expect("panels");
        let mut c = vec![0.0; 20];
        let a = [f32::NAN];
        let addresses = Addresses::new(&separable(&[0], &[0], 1), RunSplit::FLOATS).expect("they are small");
        let product = Product {
            a: &a,
            addresses: &addresses,
            b: &panels,
            add: None,
            elementwise: ElementwiseEpilogue::clamp((0.0, f32::INFINITY)),
        };
        product.compute(&Workers::default(), &mut c).expect("it can be computed");
        assert!(c.iter().all(|x| x.is_nan()), "{isa:?}");
    }
}

/// Returns how often a function stores whole vectors of more than 128 bits to the stack.
#[cfg(target_arch = "x86_64")]
fn spills(function: *const u8) -> usize {
    use iced_x86::{Decoder, DecoderOptions, FlowControl, OpKind, Register};
    // SAFETY: the code of the program behind a micro-kernel is longer than that: the kernels of other widths, and the library.
    let code = unsafe { std::slice::from_raw_parts(function, 1 << 15) };
    let mut decoder = Decoder::with_ip(64, code, function as u64, DecoderOptions::NONE);
    let (mut last, mut count) = (0, 0);
    while decoder.can_decode() {
        let instruction = decoder.decode();
        let of_stack = [Register::RSP, Register::RBP].contains(&instruction.memory_base());
        let is_store = instruction.op_count() == 2 && instruction.op0_kind() == OpKind::Memory;
        let stored = instruction.op1_register();
        count += usize::from(is_store && of_stack && (stored.is_ymm() || stored.is_zmm()));
        match instruction.flow_control() {
            FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch => {
                last = last.max(instruction.near_branch_target());
            }
            FlowControl::Return if instruction.ip() >= last => return count,
            _ => {}
        }
    }
    panic!("a micro-kernel of more than {} bytes", code.len());
}

/// An accumulator in memory costs more than half of the speed; a compiler that does not unroll all loops over them leaves all there.
#[cfg(target_arch = "x86_64")]
#[test]
fn accumulators_stay_in_registers() {
    use super::kernel::Left;
    use super::panels::PANEL;
    if cfg!(debug_assertions) {
        return;
    }
    for isa in [Isa::Avx2, Isa::Avx512] {
        for (panels, &rows) in isa.tile_rows().iter().enumerate() {
            for left in [Left::Table, Left::Holes, Left::Packed] {
                let kernel = isa.kernel(rows, (panels + 1) * PANEL, left);
                let count = spills(kernel as *const () as *const u8);
                assert!(
                    count < rows,
                    "{isa:?}: {rows} rows of {} panels store {count} vectors to the stack",
                    panels + 1
                );
            }
        }
    }
}
