//! Products by compressed rows, compared with sums in order.

use super::{SparseRows, blocks};
use crate::vector::Isa;
use crate::workers::Workers;
use gradus_ir::random::Random;

fn isas() -> impl Iterator<Item = Isa> {
    [Isa::Portable, Isa::Neon, Isa::Avx2, Isa::Avx512].into_iter().filter(|isa| isa.is_supported())
}

/// The sums in the order of K, with and without fused multiply-adds.
fn sums(a: &[f32], b: &[f32], [k, n]: [usize; 2], [row, column]: [usize; 2]) -> [f32; 2] {
    let mut sums = None;
    for l in (0..k).filter(|l| a[row * k + l] != 0.0) {
        let (x, y) = (a[row * k + l], b[l * n + column]);
        let [fused, rounded] = sums.unwrap_or([-0.0; 2]);
        sums = Some([x.mul_add(y, fused), x * y + rounded]);
    }
    sums.unwrap_or_default()
}

/// Zeros of the matrix do not meet NaN and infinities of the dense operand.
#[test]
fn products_are_sums_over_nonzeros_in_order() {
    let mut random = Random::of("sparse rows");
    for case in 0..400 {
        let workers = Workers::new(1 + case % 3).expect("there are threads");
        let [m, k, n] = [90, 200, 300].map(|most| {
            let most = if random.percent(80) { 20 } else { most };
            random.below(most) as usize
        });
        let zeros = random.below(101);
        let mut value = |odd: u64| match random.below(odd) {
            0 => [f32::NAN, f32::INFINITY, -0.0, 1e-40][random.below(4) as usize],
            _ => random.below(1 << 16) as f32 / 4096.0 - 8.0,
        };
        let b: Vec<f32> = (0..k * n).map(|_| value(50)).collect();
        let a: Vec<f32> = (0..m * k).map(|_| value(u64::MAX)).collect();
        let a: Vec<f32> = a.into_iter().map(|x| if random.percent(zeros) { 0.0 } else { x }).collect();
        let turned: Vec<f32> = (0..k).flat_map(|l| (0..m).map(move |i| i * k + l)).map(|i| a[i]).collect();
        let rows = SparseRows::new(&a, [m, k], false).expect("it is small");
        assert_eq!(rows, SparseRows::new(&turned, [m, k], true).expect("it is small"));
        check(&rows, &workers, (&a, &b), [m, k, n]);
    }
}

/// Compares a product with its sums, with each extension.
fn check(rows: &SparseRows, workers: &Workers, (a, b): (&[f32], &[f32]), [m, k, n]: [usize; 3]) {
    for isa in isas() {
        let mut out = vec![f32::NAN; m * n];
        rows.times(isa, workers, n, (b, &mut out)).expect("sizes agree");
        for (i, have) in out.into_iter().enumerate() {
            let want = sums(a, b, [k, n], [i / n, i % n]);
            let is_same = |want: f32| have.to_bits() == want.to_bits() || have.is_nan() && want.is_nan();
            assert!(want.into_iter().any(is_same), "{isa:?} {m}x{k}x{n}: {have} {want:?} at {i}");
        }
    }
}

/// Rows of a large dense operand that are read a few times, or often, whether vectors divide them or not.
#[test]
fn large_operands_are_read_by_rows_or_blocks() {
    let mut random = Random::of("large");
    let (m, k) = (20, 340);
    for (n, nonzeros) in [(1600, 0), (1600, 1), (1600, 5), (1608, 7), (1601, 4), (1600, 340)] {
        let workers = Workers::new(1 + n % 3).expect("there are threads");
        let mut value = || random.below(1 << 16) as f32 / 4096.0 - 8.0;
        let b: Vec<f32> = (0..k * n).map(|_| value()).collect();
        let mut a = vec![0.0; m * k];
        // The last row stays empty.
        let filled = (m - 1) * k;
        let count = (m - 1) * nonzeros;
        (0..count).for_each(|_| a[random.below(filled as u64) as usize] = 0.5 + random.below(100) as f32);
        let rows = SparseRows::new(&a, [m, k], false).expect("it is small");
        check(&rows, &workers, (&a, &b), [m, k, n]);
    }
}

#[test]
fn blocks_cover_all_columns_within_rows() {
    for lanes in [1, 4, 8, 16] {
        for columns in lanes..400 {
            for is_packed in [false, true] {
                let mut next = 0;
                for block in blocks([lanes, 8], columns, is_packed) {
                    let end = block.first + block.vectors * lanes;
                    assert!((1..=8).contains(&block.vectors) && block.first <= next, "{lanes} {columns} {block:?}");
                    assert!(is_packed || end <= columns && block.last == lanes, "{lanes} {columns} {block:?}");
                    assert!(!is_packed || block.first == next, "{lanes} {columns} {block:?}");
                    next = end - lanes + block.last;
                }
                assert_eq!(next, columns, "{lanes} {is_packed}");
            }
        }
    }
}

#[test]
fn other_sizes_are_refused() {
    let rows = SparseRows::new(&[1.0, 0.0, 2.0, 0.0], [2, 2], false).expect("it is small");
    let workers = Workers::default();
    let times = |b: usize, c: usize| rows.times(Isa::Portable, &workers, 3, (&vec![0.0; b], &mut vec![0.0; c]));
    assert!(times(6, 6).is_ok() && times(5, 6).is_err() && times(6, 7).is_err());
    assert_eq!(SparseRows::new(&[1.0], [2, 2], false), None);
}
