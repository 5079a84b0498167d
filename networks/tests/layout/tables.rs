//! Separability and tables against enumeration.

use super::oracle::{Random, bases, layout, reads, sums};
use gradus_networks::layout::{
    AccessFunction, AccessLoop, AddressTable, LayoutError, ReductionOrder, SlidingWindow, ZERO_PAGE,
};
use std::collections::BTreeMap;

/// Whether all addresses are a base plus an offset, by looking at all of them.
fn is_separable(reads: &[Vec<Option<i64>>]) -> bool {
    let sum = |row: &[Option<i64>]| {
        row.iter().zip(&reads[0]).all(|(&a, &b)| {
            a.is_some() && b.is_some() && a.unwrap() - b.unwrap() == row[0].unwrap() - reads[0][0].unwrap()
        })
    };
    reads.iter().all(|row| row[0].is_some() && sum(row))
}

/// Returns the longest contiguous run, among those into which the loops can be split.
fn longest_run(access: &AccessFunction, reads: &[Vec<Option<i64>>]) -> u64 {
    let (mut lengths, mut whole) = (vec![1], 1);
    for l in access.k.iter().rev() {
        lengths.extend((2..=l.extent).filter(|part| l.extent % part == 0).map(|part| whole * part));
        whole *= l.extent;
    }
    let goes_on = |row: &[Option<i64>]| row.windows(2).all(|w| w[1] == w[0].map(|o| o + 1));
    let fits = |len: u64| reads.iter().all(|row| row.chunks(len as usize).all(goes_on));
    lengths.into_iter().filter(|&len| fits(len)).max().unwrap()
}

/// Checks that the methods of a table agree with the addresses of all points.
fn check_operations(table: &AddressTable<'_>, reads: &[Vec<Option<i64>>], elements: i64) {
    assert_eq!([table.rows(), table.depth()], [reads.len(), reads[0].len()], "{table:?}");
    for (m, row) in reads.iter().enumerate() {
        assert!(table.row(m).eq(row.iter().copied()), "{table:?} {row:?}");
        assert!((0..row.len()).all(|k| table.offset(m, k) == row[k]), "{table:?} {row:?}");
    }
    let all = || reads.iter().flatten().flatten().copied();
    assert_eq!(table.span(), all().min().zip(all().max()).map(|(low, high)| [low, high]), "{table:?}");
    assert_eq!(table.check(elements), Ok(()));
    assert!(all().max().is_none_or(|last| table.check(last).is_err()), "{table:?}");
    assert_eq!(
        (table.offset(reads.len(), 0), table.offset(0, reads[0].len()), table.row(reads.len()).count()),
        (None, None, 0)
    );
}

/// Checks a random access; counts outcomes.
fn check(random: &mut Random, counts: &mut BTreeMap<&'static str, u32>) {
    let (text, axes, mut sizes) = random.layout(4);
    let mut access = AccessFunction {
        start: sizes.iter().map(|_| if random.below(8) == 0 { random.below(4) as i64 - 1 } else { 0 }).collect(),
        m: random.loops(sizes.len()).into(),
        k: random.loops(sizes.len()).into(),
    };
    if random.below(4) == 0 {
        access.m.pop();
    }
    // Buffers usually have the size that the accesses span.
    for (a, size) in sizes.iter_mut().enumerate().filter(|_| random.below(12) > 0) {
        let far = access.m.iter().chain(&access.k).filter(|l| l.axis == a).map(|l| ((l.extent - 1) * l.step) as i64);
        *size = (access.start[a] + far.sum::<i64>() + 1).max(1);
    }
    let (layout, reads) = (layout(&text, &axes, &sizes), reads(&access, &text, &axes, &sizes));
    let place = format!("{text} {axes} {sizes:?} {access:?}");
    let inside = reads.iter().flatten().all(Option::is_some);
    let verdict = access.separable_table(&layout);
    *counts
        .entry(match &verdict {
            Ok(_) if reads.len() > 1 && reads[0].len() > 1 => "sum",
            Ok(_) => "one",
            Err(LayoutError::NotSeparable { .. }) => "crosses",
            Err(_) => "outside",
        })
        .or_default() += 1;
    assert_eq!(verdict.is_ok(), is_separable(&reads), "{place}: {verdict:?}");
    assert_eq!(matches!(verdict, Err(LayoutError::OutOfBounds { .. })), !inside, "{place}");
    let table = access.indirect_table(&layout).unwrap();
    for table in verdict.iter().chain([&table]) {
        check_operations(table, &reads, layout.size() as i64);
    }
    let (run, longest) = (table.run() as u64, longest_run(&access, &reads));
    assert!(run <= longest, "{place}");
    // Where all is padding, runs may be longer by accident.
    *counts.entry(if run == longest || !inside { "longest" } else { "shorter" }).or_default() += 1;
    *counts.entry("long").or_default() += u32::from(longest > 1);
}

/// The separability proof agrees with enumeration, and tables hold the right addresses.
#[test]
fn random_accesses() {
    let (mut random, mut counts) = (Random(5), BTreeMap::new());
    for _ in 0..4000 {
        check(&mut random, &mut counts);
    }
    assert!(counts["sum"] > 1000 && counts["crosses"] > 100 && counts["outside"] > 100, "{counts:?}");
    assert!(counts["long"] > 400 && !counts.contains_key("shorter"), "{counts:?}");
}

fn window(outputs: u64, taps: u64, start: i64) -> SlidingWindow {
    SlidingWindow { outputs, taps, stride: 1, dilation: 1, start }
}

/// A width tiled by 4 is not separable for a window of 3, and the error names it.
#[test]
fn what_breaks_it() {
    let access = AccessFunction::conv(1, 1, 8, &[window(6, 3, 0), window(6, 3, 0)], ReductionOrder::ChannelsFirst);
    let error = access.separable_table(&layout("NCHW2w2w", "NCHW", &[1, 8, 8, 8])).map(|_| ());
    assert_eq!(error, Ok(()), "tiles of a width that lie in order are no tiles");
    let error = access.separable_table(&layout("NCWH4w", "NCHW", &[1, 8, 8, 8])).unwrap_err();
    let message = "the layout is not separable in dimension 'W': steps cross its tiles of 4 from some bases only";
    assert_eq!((&error, error.to_string().as_str()), (&LayoutError::NotSeparable { axis: 'W', tile: 4 }, message));
    let table = access.indirect_table(&layout("NCWH4w", "NCHW", &[1, 8, 8, 8])).unwrap();
    assert_eq!((table.run(), table.runs()), (1, 72));
}

/// A layout with even columns before odd ones suits a stride of two.
#[test]
fn polyphase() {
    let two = SlidingWindow { stride: 2, ..window(4, 2, 0) };
    let access = AccessFunction::conv(1, 1, 1, &[two, two], ReductionOrder::ChannelsFirst);
    let tables = access.separable_table(&layout("2h2wNCHW", "NCHW", &[1, 1, 8, 8])).unwrap();
    let (base, relative) = sums(&tables);
    assert_eq!((&base[..5], relative), (&[0, 1, 2, 3, 4][..], &[0, 16, 32, 48][..]));
}

/// Padding outside the buffer is read from a page of zeros; channels stay contiguous.
#[test]
fn zero_page() {
    let access = AccessFunction::conv(1, 1, 16, &[window(3, 3, -1), window(3, 3, -1)], ReductionOrder::ChannelsLast);
    let layout = layout("NHWC", "NCHW", &[1, 16, 3, 3]);
    assert_eq!(access.separable_table(&layout), Err(LayoutError::OutOfBounds { axis: 'H' }));
    let table = access.indirect_table(&layout).unwrap();
    assert_eq!((table.run(), table.runs()), (16, 9));
    let z = ZERO_PAGE;
    assert_eq!(bases(&table)[..9], [z, z, z, z, 0, 16, z, 48, 64]);
    assert_eq!(bases(&table)[36..45], [0, 16, 32, 48, 64, 80, 96, 112, 128]);
}

/// A buffer with more padding than needed: equal offsets, other bases.
#[test]
fn a_wider_halo() {
    let layout = layout("NCHW8c", "NCHW", &[1, 8, 8, 8]);
    let tables = |start| {
        AccessFunction::conv(1, 1, 8, &[window(4, 3, start); 2], ReductionOrder::ChannelsLast)
            .separable_table(&layout)
            .unwrap()
    };
    let (wide, exact) = (tables(1), tables(0));
    assert_eq!(sums(&wide).1, sums(&exact).1);
    assert_eq!(sums(&wide).0[0], 8 * 8 + 8);
    assert_eq!(wide.run(), 24, "three pixels of eight channels");
}

/// Groups, depthwise convolutions and products are the same thing.
#[test]
fn other_products() {
    let windows = [window(4, 3, 0), window(4, 3, 0)];
    let blocked = layout("NCHW8c", "NCHW", &[2, 16, 6, 6]);
    let grouped =
        AccessFunction::conv(2, 4, 4, &windows, ReductionOrder::ChannelsLast).separable_table(&blocked).unwrap();
    assert_eq!((grouped.rows(), grouped.depth(), grouped.run()), (4 * 2 * 16, 36, 4));
    assert_eq!([0, 32, 64].map(|row| sums(&grouped).0[row]), [0, 4, 8 * 36]);
    let unaligned = AccessFunction::conv(2, 4, 3, &windows, ReductionOrder::ChannelsLast);
    let layout12 = layout("NCHW8c", "NCHW", &[2, 12, 6, 6]);
    assert_eq!(unaligned.separable_table(&layout12), Err(LayoutError::NotSeparable { axis: 'C', tile: 8 }));
    let pool =
        AccessFunction::depthwise(2, 16, &windows, ReductionOrder::ChannelsLast).separable_table(&blocked).unwrap();
    assert_eq!((pool.rows(), pool.depth(), &sums(&pool).0[..3]), (2 * 16 * 16, 9, &[0, 1, 2][..]));
    let rows = AccessFunction::rows(5, 7).separable_table(&layout("KM", "MK", &[5, 7])).unwrap();
    let (base, relative) = sums(&rows);
    assert_eq!((base, &relative[..3], rows.run()), (&[0, 1, 2, 3, 4][..], &[0, 5, 10][..], 1));
    assert_eq!(AccessFunction::rows(5, 7).separable_table(&layout("MK", "MK", &[5, 7])).unwrap().run(), 7);
    let empty = AccessFunction::rows(5, 0).separable_table(&layout("MK", "MK", &[5, 0])).unwrap();
    assert_eq!((empty.rows(), empty.depth()), (5, 0));
}

/// Axes that are not there, and a loop that reads the same again.
#[test]
fn hostile() {
    let layout = layout("MK", "MK", &[5, 7]);
    let mut access = AccessFunction::rows(5, 7);
    access.m[0].axis = 2;
    assert_eq!(access.separable_table(&layout), Err(LayoutError::Rank { found: 3, rank: 2 }));
    assert_eq!(access.indirect_table(&layout), Err(LayoutError::Rank { found: 3, rank: 2 }));
    let mut access = AccessFunction::rows(5, 7);
    access.start[0] = i64::MIN;
    assert!(access.separable_table(&layout).is_err() && access.indirect_table(&layout).is_err());
    access.start[0] = 0;
    access.m.push(AccessLoop { extent: 3, axis: 0, step: 0 });
    assert_eq!(sums(&access.separable_table(&layout).unwrap()).0[..4], [0, 0, 0, 7]);
    access.m.push(AccessLoop { extent: u64::MAX, axis: 1, step: 0 });
    assert_eq!(access.separable_table(&layout), Err(LayoutError::TooLarge));
}

/// Runs that are found in tables themselves.
#[test]
fn runs_are_as_long_as_can_be() {
    let run = |relative: &[i32]| AddressTable::separable(&[0][..], relative).run();
    assert_eq!(run(&[]), 1);
    assert_eq!(run(&[3, 4, 5, 6]), 4);
    assert_eq!(run(&[0, 1, 4, 5, 8, 9]), 2);
    assert_eq!(run(&[0, 1, 2, 4, 5, 6, 7, 8]), 1);
    assert_eq!(run(&[0, 1, 2, 3, 9, 10]), 2);
    assert_eq!(run(&[i32::MAX, i32::MIN]), 1);
}

/// Tables of any numbers: extents that disagree are errors, and no operation overflows or panics.
#[test]
fn hostile_tables() {
    assert!(AddressTable::indirect(&[0; 6][..], [2, 2], 1).is_err());
    assert!(AddressTable::indirect(&[][..], [usize::MAX, 0], 1).is_ok());
    assert!(AddressTable::indirect(&[][..], [usize::MAX, 2], 1).is_err());
    assert!(AddressTable::indirect(&[0; 2][..], [1, 2], usize::MAX).is_err());
    let tables = [
        AddressTable::separable(&[i32::MIN, i32::MAX][..], &[i32::MIN, i32::MAX][..]),
        AddressTable::separable(&[][..], &[7][..]),
        AddressTable::separable(&[7][..], &[][..]),
        AddressTable::indirect(&[i32::MIN, i32::MAX][..], [2, 1], usize::MAX).unwrap(),
        AddressTable::indirect(&[i32::MAX, ZERO_PAGE][..], [1, 2], 0).unwrap(),
        AddressTable::indirect(&[][..], [3, 0], 4).unwrap(),
    ];
    for table in &tables {
        let points = [0, 1, 2, usize::MAX];
        points.iter().for_each(|&m| _ = points.map(|k| (table.offset(m, k), table.row(m).nth(k.min(9)))));
        assert_eq!(table.check(8).is_ok(), table.span().is_none(), "{table:?}");
    }
    assert_eq!(tables[0].span(), Some([2 * i64::from(i32::MIN), 2 * i64::from(i32::MAX)]));
    assert_eq!((tables[5].rows(), tables[5].depth(), tables[5].row(2).count()), (3, 0, 0));
}
