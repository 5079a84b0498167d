//! Products by compressed rows, compared with sums in order.

use super::chunks::{Chunks, Strip};
use super::{Epilogue, Nonzero, SparseRows, blocks};
use crate::vector::{Element, Isa};
use crate::workers::Workers;
use gradus_ir::random::Random;
use gradus_networks::Columns;
use std::fmt::Debug;
use std::ops::{Add, Div, Mul};

fn isas() -> impl Iterator<Item = Isa> {
    [Isa::Portable, Isa::Neon, Isa::Avx2, Isa::Avx512].into_iter().filter(|isa| isa.is_supported())
}

/// A float whose products are checked.
trait Number: Element + Debug + Add<Output = Self> + Mul<Output = Self> + Div<Output = Self> {
    fn fused(self, x: Self, y: Self) -> Self;

    /// Whether numbers have the same bits, or are both NaN.
    fn is_same(self, other: Self) -> bool;
}

macro_rules! number {
    ($float:ty) => {
        impl Number for $float {
            fn fused(self, x: $float, y: $float) -> $float {
                self.mul_add(x, y)
            }

            fn is_same(self, other: $float) -> bool {
                self.to_bits() == other.to_bits() || self.is_nan() && other.is_nan()
            }
        }
    };
}

number!(f32);
number!(f64);

/// A matrix by compressed rows, and its columns.
struct Case<T> {
    entries: Vec<Nonzero<T>>,
    ends: Vec<usize>,
    columns: Columns,
    bias: Option<Vec<T>>,
    add: Option<Vec<T>>,
    range: (T, T),
}

impl<T: Number> Case<T> {
    /// Elements of the dense operand that are read.
    fn reach(&self) -> usize {
        let last = self.entries.iter().map(|entry| entry.offset as usize + 1).max().unwrap_or(0);
        last + (self.columns.strips - 1) * self.columns.pitch + self.columns.all / self.columns.strips
    }

    /// The sum of a row and column in the order of the nonzeros, with and without fused multiply-adds.
    fn sums(&self, b: &[T], row: usize, column: usize) -> [T; 2] {
        let first = if row == 0 { 0 } else { self.ends[row - 1] };
        let width = self.columns.all / self.columns.strips;
        let place = column / width * self.columns.pitch + column % width;
        let entries = &self.entries[first..self.ends[row]];
        let begin = if entries.is_empty() { 0.0 } else { -0.0 };
        let mut sums = [self.bias.as_ref().map_or(begin.into(), |bias| bias[row]); 2];
        for entry in entries {
            let x = b[entry.offset as usize + place];
            sums = [entry.value.fused(x, sums[0]), entry.value * x + sums[1]];
        }
        let band = self.columns.all / self.columns.bands;
        let at = (column / band * self.ends.len() + row) * band + column % band;
        let (low, high) = self.range;
        sums.map(|sum| sum + self.add.as_ref().map_or((-0.0).into(), |add| add[at])).map(|sum| match sum {
            sum if sum < low => low,
            sum if sum > high => high,
            sum => sum,
        })
    }

    /// Compares a product with its sums, with each extension.
    fn check(&self, workers: &Workers, b: &[T]) {
        let (m, n) = (self.ends.len(), self.columns.all);
        let rows = SparseRows::new(&self.entries, &self.ends, self.columns).expect("it is small");
        let epilogue = Epilogue { bias: self.bias.as_deref(), add: self.add.as_deref(), range: self.range };
        let band = n / self.columns.bands;
        for isa in isas() {
            let mut out = vec![T::from(f32::NAN); m * n];
            rows.times(isa, workers, &epilogue, (b, &mut out)).expect("sizes agree");
            for (at, have) in out.into_iter().enumerate() {
                let (row, column) = (at / band % m, at / (m * band) * band + at % band);
                let want = self.sums(b, row, column);
                let is_same = want.into_iter().any(|want| have.is_same(want));
                assert!(is_same, "{isa:?} {m} rows, {:?}: {have:?} {want:?} at {at}", self.columns);
            }
        }
    }
}

/// A number whose products are rounded; one in `odd` is special.
fn value<T: Number>(random: &mut Random, odd: u64) -> T {
    match random.below(odd) {
        0 => [f32::NAN, f32::INFINITY, -0.0, 1e-40][random.below(4) as usize].into(),
        _ => T::from(random.below(1 << 16) as f32 / 4096.0 - 8.0) / 3.0.into(),
    }
}

/// Zeros of the matrix do not meet NaN and infinities of the dense operand.
#[test]
fn products_are_sums_over_nonzeros_in_order() {
    check_products::<f32>();
    check_products::<f64>();
}

fn check_products<T: Number>() {
    let mut random = Random::of("sparse rows");
    for case in 0..600 {
        let workers = Workers::new(1 + case % 3).expect("there are threads");
        let [m, k, width] = [90, 200, 120].map(|most| {
            let most = if random.percent(70) { 20 } else { most };
            random.below(most) as usize
        });
        let bands = 1 + random.below(3) as usize;
        let strips = bands * (1 + random.below(4) as usize);
        let pitch = random.below(150) as usize;
        let columns = Columns { all: strips * width, bands, strips, pitch };
        let distances = [1, 7, width.max(1) as u64, 160];
        let distance = distances[random.below(4) as usize] as u32;
        let (zeros, is_shuffled) = (random.below(101), random.percent(30));
        let (mut entries, mut ends) = (Vec::new(), Vec::new());
        for _ in 0..m {
            for l in (0..k as u32).filter(|_| !random.percent(zeros)) {
                // Offsets of groups of nine descend in parts, as those of taps do.
                let l = if is_shuffled { l / 9 * 9 + l * 4 % 9 } else { l };
                entries.push((l * distance, 0));
            }
            ends.push(entries.len());
        }
        let entries =
            entries.into_iter().map(|(offset, _)| Nonzero { offset, value: value(&mut random, u64::MAX) }).collect();
        let mut some = |count: usize| random.percent(50).then(|| (0..count).map(|_| value(&mut random, 50)).collect());
        let (bias, add) = (some(m), some(m * columns.all));
        let range = if case % 2 == 0 { (f32::NEG_INFINITY, f32::INFINITY) } else { (-3.0, 40.0) };
        let range = (range.0.into(), range.1.into());
        let case = Case { entries, ends, columns, bias, add, range };
        let b: Vec<T> = (0..case.reach()).map(|_| value(&mut random, 50)).collect();
        case.check(&workers, &b);
    }
}

/// Rows of a large dense operand that are read a few times, or often, whether vectors divide them or not.
#[test]
fn large_operands_are_read_by_rows_or_chunks() {
    check_large::<f32>();
    check_large::<f64>();
}

fn check_large<T: Number>() {
    let mut random = Random::of("large");
    let (m, k) = (20, 340);
    for (n, nonzeros) in [(1600, 0), (1600, 1), (1600, 5), (1608, 7), (1601, 4), (1600, 340), (1601, 340)] {
        let workers = Workers::new(1 + n % 3).expect("there are threads");
        let b: Vec<T> = (0..k * n).map(|_| value(&mut random, u64::MAX)).collect();
        let (mut entries, mut ends) = (Vec::new(), Vec::new());
        for row in 0..m {
            // The last row stays empty.
            let count = if row + 1 < m { nonzeros } else { 0 };
            let mut all: Vec<u32> = (0..count).map(|_| random.below(k as u64) as u32 * n as u32).collect();
            all.sort_unstable();
            entries.extend(
                all.into_iter().map(|offset| Nonzero { offset, value: (0.5 + random.below(100) as f32).into() }),
            );
            ends.push(entries.len());
        }
        let range = (f32::NEG_INFINITY.into(), f32::INFINITY.into());
        let case = Case { entries, ends, columns: Columns::adjacent(n), bias: None, add: None, range };
        case.check(&workers, &b);
    }
}

/// Each nonzero is in one chunk, after those of its row that precede it, and chunks are not small.
#[test]
fn chunks_keep_the_order_of_rows() {
    let mut random = Random::of("chunks");
    for width in [1, 9, 16] {
        // Blocks of `width` taps, whose offsets are in no order.
        let order: Vec<u32> = (0..width).map(|tap| tap * 7 % width).collect();
        let (mut entries, mut ends) = (Vec::new(), Vec::new());
        for _ in 0..64 {
            for l in (0..1008).filter(|_| random.percent(40)).collect::<Vec<u32>>() {
                let offset = l / width * width + order[(l % width) as usize];
                entries.push(Nonzero { offset, value: entries.len() as f32 });
            }
            ends.push(entries.len());
        }
        for is_split in [false, true] {
            let chunks = Chunks::of(&entries, &ends, Strip { vectors: 7, bytes: 32, is_filled: true, is_split });
            assert_eq!((chunks.count(), chunks.is_packed), (5, true), "{width}");
            let mut first = 0;
            for (row, &end) in ends.iter().enumerate() {
                let of_chunk = |chunk| {
                    let ends = chunks.starts_of(chunk, row..row + 1);
                    let offsets = chunks.offsets(chunk);
                    chunks.entries[ends[0]..ends[1]]
                        .iter()
                        .map(|one| Nonzero { offset: offsets[one.offset as usize], ..*one })
                };
                let have: Vec<Nonzero<f32>> = (0..chunks.count()).flat_map(of_chunk).collect();
                assert_eq!(have, entries[first..end]);
                first = end;
            }
        }
    }
}

/// Without nonzeros nothing is read, whatever the columns; with one row of the dense operand there is one chunk.
#[test]
fn few_or_no_nonzeros_need_no_more_than_they_read() {
    let (workers, range) = (Workers::default(), (f32::NEG_INFINITY, f32::INFINITY));
    for (entries, ends) in [(vec![], [0, 0]), (vec![Nonzero { offset: 0, value: 1.0 }; 8], [4, 8])] {
        for n in [7, 100, 112] {
            let case = Case {
                entries: entries.clone(),
                ends: ends.into(),
                columns: Columns::adjacent(n),
                bias: None,
                add: None,
                range,
            };
            let rows = SparseRows::new(&case.entries, &case.ends, case.columns).expect("it is small");
            assert_eq!(rows.chunks.count(), 1, "{n}");
            case.check(&workers, &vec![1.0; rows.reach()]);
        }
    }
}

#[test]
fn blocks_cover_all_columns() {
    for lanes in [1, 4, 8, 16] {
        for columns in lanes..400 {
            let mut next = 0;
            for block in blocks([lanes, 8], columns) {
                assert!(block.first <= next && block.width >= lanes, "{lanes} {columns} {block:?}");
                assert!((1..=8).contains(&block.vectors(lanes)), "{lanes} {columns} {block:?}");
                next = block.first + block.width;
            }
            assert_eq!(next, columns, "{lanes}");
        }
    }
}

#[test]
fn other_sizes_are_refused() {
    let entries = [Nonzero { offset: 0, value: 1.0 }, Nonzero { offset: 3, value: 2.0 }];
    let rows = SparseRows::new(&entries, &[1, 2], Columns::adjacent(3)).expect("it is small");
    let (workers, epilogue) = (Workers::default(), Epilogue { bias: None, add: None, range: (0.0, 1.0) });
    let times = |epilogue: &Epilogue<'_, f32>, b: usize, c: usize| {
        rows.times(Isa::Portable, &workers, epilogue, (&vec![0.0; b], &mut vec![0.0; c]))
    };
    assert!(times(&epilogue, 6, 6).is_ok() && times(&epilogue, 5, 6).is_err() && times(&epilogue, 6, 7).is_err());
    assert!(times(&Epilogue { bias: Some(&[0.0]), ..epilogue }, 6, 6).is_err());
    assert!(times(&Epilogue { add: Some(&[0.0]), ..epilogue }, 6, 6).is_err());
    for ends in [&[2, 1][..], &[1], &[1, 3]] {
        assert_eq!(SparseRows::new(&entries, ends, Columns::adjacent(3)), None, "{ends:?}");
    }
    let columns = Columns { all: 6, bands: 2, strips: 3, pitch: 0 };
    assert_eq!(SparseRows::new(&entries, &[1, 2], columns), None);
    assert_eq!(SparseRows::new(&entries, &[1, 2], Columns { bands: 1, pitch: usize::MAX, ..columns }), None);
}
