//! Against data that nested loops of another program made.

use super::oracle::{indices, layout, sums};
use gradus_networks::layout::{
    AccessFunction, LayoutError, ReductionOrder, SlidingWindow, Sram, TiledLayout, deltas, prefix_sums,
};

const LAYOUTS: &str = include_str!("layouts.txt");
const SRAM: &str = include_str!("sram.txt");
const TABLES: &str = include_str!("address_tables.txt");

/// Returns the fields of each line.
fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.lines().filter(|l| !l.starts_with('#')).map(|l| l.split('|').map(str::trim).collect())
}

fn numbers<T: std::str::FromStr>(field: &str) -> Vec<T> {
    field.split_whitespace().map(|n| n.parse().ok().expect("a number")).collect()
}

/// `K8 H3` as letters and sizes.
fn axes(field: &str) -> (String, Vec<i64>) {
    field.split_whitespace().map(|a| (&a[..1], a[1..].parse::<i64>().expect("a size"))).unzip()
}

#[test]
fn layouts() {
    let mut count = 0;
    for row in rows(LAYOUTS) {
        let (names, sizes) = axes(row[1]);
        let layout = layout(row[0], &names, &sizes);
        let extents: Vec<u64> = layout.loop_nest().iter().map(|l| l.extent).collect();
        assert_eq!(extents, numbers::<u64>(row[2]), "{}", row[0]);
        assert_eq!([layout.size(), layout.padding()], [row[3], row[4]].map(|n| n.parse().unwrap()), "{}", row[0]);
        let sizes: Vec<u64> = sizes.iter().map(|&n| n as u64).collect();
        let offsets: Vec<u64> = indices(&sizes).iter().map(|i| layout.offset(i)).collect();
        assert_eq!(offsets, numbers::<u64>(row[5]), "{}", row[0]);
        count += 1;
    }
    assert!(count >= 70, "{count}");
}

#[test]
fn sram() {
    for row in rows(SRAM) {
        let (names, sizes) = axes(row[1]);
        let [slice, block, slices, offsets] = numbers::<u64>(row[2])[..] else { panic!("{row:?}") };
        let layout = layout(row[0], &names, &sizes);
        let sram = Sram::new(&layout, slice, [1, 64], true).unwrap();
        let found =
            [layout.block(), sram.slices_per_block(), sram.num_blocks(), sram.used_slices(), sram.empty_slices()];
        let [used, bubbles] = numbers::<u64>(row[3])[..] else { panic!("{row:?}") };
        assert_eq!(found, [block, slices, offsets, used, bubbles], "{}", row[0]);
        let sizes: Vec<u64> = sizes.iter().map(|&n| n as u64).collect();
        for (index, place) in indices(&sizes).iter().zip(row[4].split_whitespace()) {
            let found = sram.address(layout.offset(index));
            assert_eq!(format!("{},{},{}", found.offset, found.slice, found.position), place, "{}", row[0]);
            assert_eq!(sram.layout_offset(found), layout.offset(index));
        }
    }
}

/// Returns the convolution of a line.
fn conv(row: &[&str]) -> (AccessFunction, [i64; 4]) {
    let [n, c, h, w, r, s, su, sv, du, dv, ho, wo] = numbers::<u64>(row[1])[..] else { panic!("{row:?}") };
    let window = |outputs, taps, stride, dilation| SlidingWindow { outputs, taps, stride, dilation, start: 0 };
    let windows = [window(ho, s, sv, dv), window(wo, r, su, du)];
    (AccessFunction::conv(n, 1, c, &windows, ReductionOrder::ChannelsFirst), [n, c, h, w].map(|n| n as i64))
}

#[test]
fn address_tables() {
    let mut refused = 0;
    for row in rows(TABLES) {
        let (access, sizes) = conv(&row);
        let layout = layout(row[0], "NCHW", &sizes);
        assert_eq!(layout.size(), row[2].parse().unwrap());
        if row[3].is_empty() {
            let error = access.separable_table(&layout).expect_err(row[0]);
            assert!(matches!(error, LayoutError::NotSeparable { axis: 'H' | 'W', tile: 2 }), "{}: {error}", row[0]);
            refused += 1;
            continue;
        }
        let tables = access.separable_table(&layout).unwrap_or_else(|e| panic!("{row:?}: {e}"));
        let (base, relative) = sums(&tables);
        assert_eq!(base, numbers::<i32>(row[3]), "{row:?}");
        assert_eq!(relative, numbers::<i32>(row[4]), "{row:?}");
        assert_eq!(deltas(relative), numbers::<i32>(row[5]), "{row:?}");
        assert_eq!(prefix_sums(&deltas(relative)), relative);
    }
    assert_eq!(refused, 2);
}

/// An offset from three counts.
type Formula<'a> = dyn Fn(u64, u64, u64) -> u64 + 'a;

/// The address formulas of the four formats in the source.
#[test]
fn formulas_of_the_formats() {
    let (n, c, h, w, s, r, sv, su, dv, du) = (2, 8, 9, 11, 3, 2, 2, 1, 1, 3);
    let (ho, wo) = ((h - (s - 1) * dv - 1) / sv + 1, (w - (r - 1) * du - 1) / su + 1);
    let window = |outputs, taps, stride, dilation| SlidingWindow { outputs, taps, stride, dilation, start: 0 };
    let windows = [window(ho, s, sv, dv), window(wo, r, su, du)];
    let access = AccessFunction::conv(n, 1, c, &windows, ReductionOrder::ChannelsFirst);
    let x = 4;
    let formats: [(&str, &Formula, &Formula); 4] = [
        ("NCHW", &|b, y, i| b * c * h * w + y * sv * w + i * su, &|k, v, u| k * h * w + v * dv * w + u * du),
        ("CNHW", &|b, y, i| b * h * w + y * sv * w + i * su, &|k, v, u| k * n * h * w + v * dv * w + u * du),
        ("NHWC", &|b, y, i| ((b * h + y * sv) * w + i * su) * c, &|k, v, u| (v * dv * w + u * du) * c + k),
        ("NCHW4c", &|b, y, i| ((b * (c / x) * h + y * sv) * w + i * su) * x, &|k, v, u| {
            ((k / x) * h * w + v * dv * w + u * du) * x + k % x
        }),
    ];
    for (text, base, relative) in formats {
        let tables = access.separable_table(&layout(text, "NCHW", &[n, c, h, w].map(|n| n as i64))).unwrap();
        let triples = |a, b, d| indices(&[a, b, d]).into_iter();
        let bases: Vec<i32> = triples(n, ho, wo).map(|i| base(i[0], i[1], i[2]) as i32).collect();
        let relatives: Vec<i32> = triples(c, s, r).map(|i| relative(i[0], i[1], i[2]) as i32).collect();
        assert_eq!(sums(&tables), (&bases[..], &relatives[..]), "{text}");
    }
}

/// The alternate embodiment of the source: m becomes (n, h, w), and addresses are sums of products with the sizes.
#[test]
fn second_derivation() {
    for row in rows(TABLES).filter(|row| row[0] == "NCHW") {
        let [_, c, h, w, r, s, su, sv, du, dv, ho, wo] = numbers::<usize>(row[1])[..] else { panic!("{row:?}") };
        let (access, sizes) = conv(&row);
        let tables = access.separable_table(&layout(row[0], "NCHW", &sizes)).unwrap();
        for m in 0..tables.rows() {
            let (y, x) = (m / wo % ho * sv, m % wo * su);
            for k in 0..tables.depth() {
                let (v, u) = (k / r % s * dv, k % r * du);
                let address = (m / (ho * wo) * c * h * w + y * w + x) + (k / (s * r) * h * w + v * w + u);
                assert_eq!(tables.offset(m, k), Some(address as i64), "{row:?}");
            }
        }
    }
}

/// Eight kernels of 3x3x16 in the order that the source describes.
#[test]
fn weights_of_eight_kernels_and_eight_depths() {
    let layout = layout("HWKD8k8d", "KHWD", &[16, 3, 3, 16]);
    let order: Vec<Vec<u64>> = (0..512).step_by(8).map(|o| layout.index(o).unwrap().to_vec()).collect();
    let kernels = |from: u64, depth: u64, w: u64| (from..from + 8).map(move |k| vec![k, 0, w, depth]);
    let address = |from, depth, w| kernels(from, depth, w).collect::<Vec<_>>();
    let all = [(0, 0, 0), (0, 8, 0), (8, 0, 0), (8, 8, 0), (0, 0, 1), (0, 8, 1), (8, 0, 1), (8, 8, 1)];
    assert_eq!(order, all.into_iter().flat_map(|(k, d, w)| address(k, d, w)).collect::<Vec<_>>());
}

#[test]
fn texts() {
    for good in ["NCHW", "HWC4w4c", "NCHW4c8c", "2wHW", "H2wW1w", ""] {
        let layout: TiledLayout = good.parse().unwrap();
        assert_eq!(layout.order(), good);
    }
    for (bad, at, message) in [
        ("NC4", 3, "expected a letter after the tile size"),
        ("NCc", 2, "expected a tile size before 'c'"),
        ("NC4C", 3, "expected a small letter after the tile size, got 'C'"),
        ("NCC", 2, "duplicate dimension 'C'"),
        ("NC4h", 2, "a tile of 'H' without a dimension 'H'"),
        ("NC0c", 2, "a tile size must not start with 0"),
        ("NC99999999999999999999c", 2, "tile size is too large"),
        ("N\u{e9}", 1, "expected a letter for a dimension, got '\u{e9}'"),
        ("C4000000000c4000000000c", 0, "the product of the tile sizes is too large"),
        ("N1n1n1n1n1n1n1n1n1n1n1n1n1n1n1n1n1n1n1n1n1n1n1n1n1n1n1n1n1n1n1n1n", 63, "a layout has at most 32 levels"),
    ] {
        let error = bad.parse::<TiledLayout>().expect_err(bad);
        assert_eq!(error, LayoutError::Text { at, message: message.to_owned() }, "{bad}");
    }
}

#[test]
fn sizes_that_no_memory_has() {
    let tiled: TiledLayout = "NCHW8c".parse().unwrap();
    let big = 1 << 40;
    assert_eq!(tiled.of("NCHW", &[big, big, 1, 1]), Err(LayoutError::TooLarge));
    assert_eq!(tiled.of("NCHW", &[big, big, 0, 1]), Err(LayoutError::TooLarge));
    assert_eq!(tiled.of("NCHW", &[1, i64::MIN, 1, 1]), Err(LayoutError::Sizes));
    assert_eq!(tiled.of("NCHW", &[1, 1]), Err(LayoutError::Rank { found: 4, rank: 2 }));
    assert_eq!(tiled.of("NCHK", &[1; 4]), Err(LayoutError::Axis { axis: 'K', missing_in: "layout" }));
    assert_eq!(tiled.of("NCH", &[1; 3]), Err(LayoutError::Axis { axis: 'W', missing_in: "tensor" }));
    // Large, but there: proofs do not count, tables are refused.
    let layout = tiled.of("NCHW", &[1, 8, 1 << 20, 1 << 20]).unwrap();
    let window = SlidingWindow { outputs: (1 << 20) - 2, taps: 3, stride: 1, dilation: 1, start: 0 };
    let access = AccessFunction::conv(1, 1, 8, &[window, window], ReductionOrder::ChannelsLast);
    assert_eq!(access.check_separable(&layout), Ok(()));
    assert_eq!(access.separable_table(&layout), Err(LayoutError::TooLarge));
    assert_eq!(access.indirect_table(&layout), Err(LayoutError::TooLarge));
    let far = SlidingWindow { outputs: u64::MAX, stride: u64::MAX, ..window };
    let access = AccessFunction::conv(u64::MAX, u64::MAX, 8, &[far, far], ReductionOrder::ChannelsLast);
    assert_eq!(access.check_separable(&layout), Err(LayoutError::TooLarge));
    // One element in a tile of 2^40: what iterates does not iterate over padding.
    let sparse = "N1099511627776n".parse::<TiledLayout>().unwrap().of("N", &[1]).unwrap();
    assert_eq!(sparse.padding(), (1 << 40) - 1);
    assert_eq!(Sram::new(&sparse, 1 << 20, [4, 64], true).unwrap().used_slices(), 1);
}
