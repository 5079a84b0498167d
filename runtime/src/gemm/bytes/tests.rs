//! 8-bit matrix products compared with their definition.

use super::{ByteIsa, BytePanels, ByteProduct, IntegerOutput, Scales};
use crate::gemm::tests::{Numbers, separable, workers};
use crate::gemm::{Addresses, RunSplit};
use crate::workers::Workers;
use gradus_networks::layout::AddressTable;

fn isas() -> impl Iterator<Item = ByteIsa> {
    ByteIsa::ALL.into_iter().filter(|isa| isa.is_supported())
}

/// Draws bytes, many of which are the least or greatest signed or unsigned value.
fn bytes(numbers: &mut Numbers, count: usize) -> Vec<u8> {
    (0..count).map(|_| [0, 255, 127, 128, 1][numbers.next(5)] ^ (numbers.next(2) * numbers.next(256)) as u8).collect()
}

fn value(byte: u8, signed: bool) -> i32 {
    if signed { i32::from(byte.cast_signed()) } else { i32::from(byte) }
}

/// A product of any kind.
struct Case {
    a: Vec<u8>,
    signs: [bool; 2],
    zero: u8,
    /// For each row and run.
    bases: Vec<i32>,
    sums: Option<(Vec<i32>, Vec<i32>)>,
    sizes: [usize; 4],
    b: Vec<u8>,
    b_zeros: Vec<u8>,
    bias: Vec<i32>,
    add: Vec<i32>,
}

impl Case {
    fn new(numbers: &mut Numbers) -> Case {
        let (m, n) = ([0, 1, 5, 13, 40, 200][numbers.next(6)], [1, 3, 16, 24, 48, 64, 100][numbers.next(7)]);
        let (runs, run) = ([0, 1, 2, 9][numbers.next(4)], [1, 2, 3, 4, 7, 8, 30, 64, 128, 257, 1030][numbers.next(11)]);
        let mut each = |count: usize, below: usize| (0..count).map(|_| numbers.next(below) as i32).collect::<Vec<_>>();
        let (mut base, relative) = (each(m, 900), each(runs, 800));
        let mut indirect = each(m * runs, 1700);
        if each(1, 2)[0] == 0 {
            // Equidistant rows, in order or in reverse.
            let (step, is_reverse) = (each(1, 5)[0], each(1, 2)[0] == 0);
            let row = |i: usize| step * if is_reverse { m - 1 - i } else { i } as i32;
            base = (0..m).map(row).collect();
            indirect = (0..m * runs).map(|i| 199 + row(i / runs) + i as i32 % runs as i32).collect();
        }
        let is_sum = each(1, 2)[0] == 0;
        let bases = match is_sum {
            true => base.iter().flat_map(|b| relative.iter().map(move |r| b + r)).collect(),
            false => indirect.iter().map(|b| (b - 200).max(-1)).collect::<Vec<_>>(),
        };
        // Nothing is behind what is read.
        let end = bases.iter().max().map_or(0, |&last| (last.max(0) as usize) + run);
        let bias = each(n, 1 << 30);
        let add = each(m * n, 1 << 30);
        let zeros = [vec![0; n], vec![128; n], bytes(numbers, n)][numbers.next(3)].clone();
        Case {
            a: bytes(numbers, end),
            signs: [numbers.next(2) == 0, numbers.next(2) == 0],
            zero: bytes(numbers, 1)[0],
            bases,
            sums: is_sum.then_some((base, relative)),
            sizes: [m, n, runs, run],
            b: bytes(numbers, n * runs * run),
            b_zeros: zeros,
            bias,
            add,
        }
    }

    fn addresses(&self) -> Addresses {
        let [m, _, runs, run] = self.sizes;
        let table = match &self.sums {
            Some((base, starts)) => separable(base, starts, run),
            None => AddressTable::indirect(&self.bases, [m, runs], run).expect("rows are whole"),
        };
        Addresses::new(&table, RunSplit::BYTES).expect("they are small")
    }

    /// Returns the factor in column n and row k.
    fn factor(&self, n: usize, k: usize) -> i32 {
        let [.., runs, run] = self.sizes;
        value(self.b[n * runs * run + k], self.signs[1]) - value(self.b_zeros[n], self.signs[1])
    }

    fn expected(&self) -> Vec<i32> {
        let [m, n, runs, run] = self.sizes;
        let element = |row: usize, k: usize| match self.bases[row * runs + k / run] {
            -1 if self.sums.is_none() => 0,
            base => value(self.a[base as usize + k % run], self.signs[0]) - value(self.zero, self.signs[0]),
        };
        let sum = |row: usize, column: usize| {
            let products = (0..runs * run).map(|k| element(row, k).wrapping_mul(self.factor(column, k)));
            let start = self.bias[column].wrapping_add(self.add[row * n + column]);
            products.fold(start, i32::wrapping_add)
        };
        (0..m * n).map(|i| sum(i / n, i % n)).collect()
    }
}

/// Draws a scale: realistic ones, ones with many products halfway between integers, and extreme scales.
fn scale(numbers: &mut Numbers) -> f64 {
    let found = f64::from((numbers.next(1000) as f32).powi(3) * 1e-12);
    let halfway = [0.5, -0.5, 0.02, 1.0 / 128.0, 1.5, 1e-3];
    let strange = [f64::NAN, f64::INFINITY, 1e300, -1e30, 1e-300, 1e-40, 0.0];
    match numbers.next(4) {
        0 => halfway[numbers.next(halfway.len())],
        1 => strange[numbers.next(strange.len())],
        _ => found,
    }
}

#[test]
fn products_of_bytes_are_exact() {
    let mut numbers = Numbers(3);
    let workers = workers();
    for i in 0..300 {
        let workers = &workers[i % 2];
        let case = Case::new(&mut numbers);
        let [m, n, runs, run] = case.sizes;
        let (addresses, expected) = (case.addresses(), case.expected());
        let scales: Vec<f64> = (0..n).map(|_| scale(&mut numbers)).collect();
        let (zero, signed) = (numbers.next(100) as i32, numbers.next(2) == 0);
        let (low, high) = if signed { (-128.0, 127.0) } else { (0.0, 255.0) };
        let byte = |(i, &sum): (usize, &i32)| {
            let x = ((f64::from(sum) * scales[i % n]).round_ties_even() + f64::from(zero)).clamp(low, high);
            x as i32 as u8
        };
        let rounded: Vec<u8> = expected.iter().enumerate().map(byte).collect();
        let by = Scales::new(scales.clone(), zero, signed);
        for isa in isas() {
            let at = |n: usize, k: usize| case.factor(n, k);
            let b = BytePanels::new(isa, [n, runs * run], addresses.run(), at, Some(&case.bias)).expect("panels");
            let (a, add) = (&case.a[..], Some(&case.add[..]));
            let product = ByteProduct { a, signed: case.signs[0], zero: case.zero, addresses: &addresses, b: &b, add };
            let (mut sums, mut quantized) = (vec![7; m * n], vec![7; m * n]);
            product.compute(workers, IntegerOutput::Sums(&mut sums)).expect("it can be computed");
            assert!(sums == expected, "{isa:?} {:?} {:?}", case.sizes, case.signs);
            product.compute(workers, IntegerOutput::Quantized(&mut quantized, &by)).expect("it can be computed");
            assert!(quantized == rounded, "{isa:?} {:?} {:?}", case.sizes, case.signs);
        }
    }
}

#[test]
fn panels_of_a_matrix_are_those_of_its_elements() {
    const SCALE: f64 = 1.0 / 1024.0;
    let mut numbers = Numbers(23);
    for _ in 0..200 {
        let case = Case::new(&mut numbers);
        let [m, n, runs, run] = case.sizes;
        let (addresses, depth) = (case.addresses(), runs * run);
        let scales = Scales::new(vec![SCALE; n], 9, false);
        let matrix: Vec<u8> = (0..depth * n).map(|i| case.b[i % n * depth + i / n]).collect();
        for isa in isas() {
            let at = |n: usize, k: usize| case.factor(n, k);
            let by_elements = BytePanels::new(isa, [n, depth], addresses.run(), at, None).expect("panels");
            let by_rows = (case.signs[1], &case.b_zeros[..]);
            let by_rows = BytePanels::of_matrix(isa, [n, depth], addresses.run(), &matrix, by_rows).expect("panels");
            let [want, have] = [by_elements, by_rows].map(|b| {
                let (a, signed, zero) = (&case.a[..], case.signs[0], case.zero);
                let product = ByteProduct { a, signed, zero, addresses: &addresses, b: &b, add: None };
                let (mut sums, mut bytes) = (vec![7; m * n], vec![7; m * n]);
                product.compute(&Workers::default(), IntegerOutput::Sums(&mut sums)).expect("it can be computed");
                let to = IntegerOutput::Quantized(&mut bytes, &scales);
                product.compute(&Workers::default(), to).expect("it can be computed");
                (sums, bytes)
            });
            let byte = |&sum: &i32| ((f64::from(sum) * SCALE).round_ties_even() + 9.0).clamp(0.0, 255.0) as u8;
            assert!(
                want.1 == want.0.iter().map(byte).collect::<Vec<u8>>(),
                "{isa:?} {:?} {:?}",
                case.sizes,
                case.signs
            );
            assert!(have == want, "{isa:?} {:?} {:?}", case.sizes, case.signs);
        }
    }
}

/// More than 2^31: 255 * 255 each time.
#[test]
fn long_sums_wrap() {
    let summands = 40_000;
    let addresses = Addresses::new(&separable(&[0], &[0], summands), RunSplit::BYTES).expect("they are small");
    for isa in isas() {
        let b = BytePanels::new(isa, [1, summands], addresses.run(), |_, _| 255, None).expect("panels");
        let a = vec![255; summands];
        let product = ByteProduct { a: &a, signed: false, zero: 0, addresses: &addresses, b: &b, add: None };
        let mut c = [0];
        product.compute(&Workers::default(), IntegerOutput::Sums(&mut c)).expect("it can be computed");
        assert_eq!(c[0], (40_000_i64 * 255 * 255) as i32, "{isa:?}");
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let isa = ByteIsa::best();
    assert!(BytePanels::new(isa, [1, 2], 2, |_, k| 300 * k as i32, None).is_err());
    assert!(BytePanels::new(isa, [1, 3], 2, |_, _| 0, None).is_err());
    assert!(BytePanels::of_matrix(isa, [4, 2], 2, &[1; 7], (false, &[0])).is_err());
    assert!(BytePanels::of_matrix(isa, [4, 2], 2, &[1; 8], (false, &[0; 3])).is_err());
    let b = BytePanels::new(isa, [4, 2], 2, |_, _| 1, None).expect("panels");
    let compute = |base: &[i32], run, c: usize| {
        let addresses = Addresses::new(&separable(base, &[0], run), RunSplit::BYTES)?;
        let product = ByteProduct { a: &[1; 8], signed: false, zero: 0, addresses: &addresses, b: &b, add: None };
        product.compute(&Workers::default(), IntegerOutput::Sums(&mut vec![0; c]))
    };
    assert!(compute(&[0, 6], 2, 8).is_ok());
    assert!(compute(&[0, 7], 2, 8).is_err());
    assert!(compute(&[0, -1], 2, 8).is_err());
    assert!(compute(&[0, 6], 2, 7).is_err());
    assert!(compute(&[0, 6], 1, 8).is_err());
}
