//! bf16 matrix products compared with their definition.

use super::{Bf16Isa, Bf16Panels, Bf16Product};
use crate::gemm::tests::{Numbers, separable, workers};
use crate::gemm::{Addresses, ColumnSlice, RunSplit};
use gradus_networks::layout::AddressTable;
use half::bf16;

/// Draws bf16: small integers, whose sums are exact, or numbers of several magnitudes.
fn draw(numbers: &mut Numbers, is_small: bool) -> bf16 {
    let x = numbers.next(17) as f32 - 8.0;
    bf16::from_f32(if is_small { x } else { x * (numbers.next(1000) as f32 * 0.013).exp2() * 0.01 })
}

fn bits(values: &[bf16]) -> Vec<u16> {
    values.iter().map(|x| x.to_bits()).collect()
}

#[test]
fn products_of_bf16_are_sums_of_products() {
    let (mut numbers, workers) = (Numbers(5), workers());
    for case in 0..300 {
        let is_small = case % 2 == 0;
        let (m, n) = ([0, 1, 5, 16, 40, 200][numbers.next(6)], [1, 3, 16, 24, 48, 64, 100][numbers.next(7)]);
        let (runs, run) = ([0, 1, 2, 9][numbers.next(4)], [1, 2, 3, 4, 7, 8, 21, 32, 64, 130, 257][numbers.next(11)]);
        let (is_sum, is_even) = (numbers.next(2) == 0, numbers.next(2) == 0);
        let base: Vec<i32> = (0..m).map(|i| if is_even { 3 * i as i32 } else { numbers.next(900) as i32 }).collect();
        let relative: Vec<i32> = (0..runs).map(|_| numbers.next(800) as i32).collect();
        let bases: Vec<i32> = match is_sum {
            true => base.iter().flat_map(|b| relative.iter().map(move |r| b + r)).collect(),
            false => (0..m * runs)
                .map(|i| if is_even { (i / runs) as i32 } else { numbers.next(1200) as i32 - 200 }.max(-1))
                .collect(),
        };
        // Nothing is behind what is read.
        let end = bases.iter().max().map_or(0, |&last| last.max(0) as usize + run);
        let mut some = |count: usize| (0..count).map(|_| draw(&mut numbers, is_small)).collect::<Vec<bf16>>();
        let (a, b, bias) = (some(end), some(n * runs * run), some(n));
        let of = n + case % 3;
        let columns = ColumnSlice { first: case % 3, of };
        let add = (case % 5 == 0).then(|| some(m * of));
        let table = match is_sum {
            true => separable(&base, &relative, run),
            false => AddressTable::indirect(&bases, [m, runs], run).expect("rows are whole"),
        };
        let addresses = Addresses::new(&table, RunSplit::BYTES).expect("they are small");
        let range = if case % 4 == 0 { (0.0, 60.0) } else { (f32::NEG_INFINITY, f32::INFINITY) };
        let (a_bits, add_bits, wide) =
            (bits(&a), add.as_ref().map(|add| bits(add)), bias.iter().map(|x| x.to_f32()).collect::<Vec<_>>());
        for isa in Bf16Isa::ALL.into_iter().filter(|isa| isa.is_supported()) {
            let at = |n: usize, k: usize| b[n * runs * run + k].to_bits();
            let panels = Bf16Panels::new(isa, [n, runs * run], addresses.run(), at, Some(&wide)).expect("panels");
            let product =
                Bf16Product { a: &a_bits, addresses: &addresses, b: &panels, add: add_bits.as_deref(), range };
            let mut c = vec![0x1234; m * of];
            Bf16Product::compute_all(&[product], &workers[case % 2], &mut c, columns).expect("it can be computed");
            for (i, &got) in c.iter().enumerate() {
                let (row, Some(column)) = (i / of, (i % of).checked_sub(columns.first)) else {
                    assert_eq!(got, 0x1234);
                    continue;
                };
                let element = |k: usize| match bases[row * runs + k / run] {
                    -1 if !is_sum => 0.0,
                    base => a[base as usize + k % run].to_f64(),
                };
                let products = (0..runs * run).map(|k| element(k) * b[column * runs * run + k].to_f64());
                let (sum, most) = products.fold((0.0, 0.0), |(sum, most), x| (sum + x, most + x.abs()));
                let more = bias[column].to_f64() + add.as_ref().map_or(0.0, |add| add[i].to_f64());
                let want = (sum + more).clamp(range.0.into(), range.1.into());
                let bound = (runs * run + 2) as f64 * 2_f64.powi(-22) * (most + more.abs() + 1e-30);
                let got = bf16::from_bits(got).to_f64();
                let is_right = match is_small {
                    true => got == bf16::from_f32(want as f32).to_f64(),
                    false => (got - want).abs() <= bound + (want.abs() + bound) * 2_f64.powi(-8),
                };
                assert!(is_right, "{isa:?} {:?}: {got}, not {want}", [m, n, runs, run]);
            }
        }
    }
}

#[test]
fn numbers_that_are_not_finite_stay() {
    let a = bits(&[f32::INFINITY, 1.0, f32::NAN, 0.0, 2.0, 3.0].map(bf16::from_f32));
    let addresses = Addresses::new(&separable(&[0, 1, 3], &[0], 3), RunSplit::BYTES).expect("they are small");
    for isa in Bf16Isa::ALL.into_iter().filter(|isa| isa.is_supported()) {
        let one = bf16::ONE.to_bits();
        let b = Bf16Panels::new(isa, [1, 3], 3, |_, _| one, None).expect("panels");
        let product = Bf16Product { a: &a, addresses: &addresses, b: &b, add: None, range: (0.0, 9.0) };
        let mut c = [0; 3];
        let columns = ColumnSlice { first: 0, of: 1 };
        Bf16Product::compute_all(&[product], &workers()[0], &mut c, columns).expect("it can be computed");
        let c = c.map(|bits| bf16::from_bits(bits).to_f32());
        assert!(c[0].is_nan() && c[1].is_nan() && c[2] == 5.0, "{isa:?} {c:?}");
        let refused = Bf16Product { a: &a[..5], ..product };
        assert!(Bf16Product::compute_all(&[refused], &workers()[0], &mut [0; 3], columns).is_err());
        assert!(Bf16Product::compute_all(&[product], &workers()[0], &mut [0; 2], columns).is_err());
    }
}
