//! Random layouts against enumeration.

use super::oracle::{Random, enumerate, indices, layout};
use gradus_ir::Context;
use gradus_networks::layout::{DIALECT, LayoutError, TiledLayout};

/// Offsets and indices are inverse; offsets are distinct and in bounds; the rest is padding.
#[test]
fn offsets_and_indices() {
    let mut random = Random(1);
    for _ in 0..600 {
        let (text, axes, sizes) = random.layout(7);
        let (layout, all) = (layout(&text, &axes, &sizes), enumerate(&text, &axes, &sizes));
        assert_eq!(layout.size(), all.len() as u64, "{text}");
        assert_eq!(layout.padding(), all.iter().filter(|i| i.is_none()).count() as u64, "{text}");
        for (offset, index) in (0..).zip(&all) {
            assert_eq!(layout.index(offset).map(|i| i.to_vec()), *index, "{text} {axes} {sizes:?} at {offset}");
            assert!(index.as_ref().is_none_or(|i| layout.offset(i) == offset), "{text} {axes} {sizes:?}");
        }
        assert_eq!(layout.index(layout.size()), None);
        assert_eq!(layout.index(u64::MAX), None);
        let digits = layout.axes().iter().map(|a| a.digits.len()).sum::<usize>();
        assert!(digits <= layout.loop_nest().len(), "{text}");
    }
}

/// Layouts compare equal iff enumeration finds equal offsets.
#[test]
fn comparison() {
    let (mut random, mut same) = (Random(2), 0);
    for _ in 0..2000 {
        let (text, axes, sizes) = random.layout(4);
        let other = random.order(&axes.chars().collect::<Vec<_>>());
        let [layout, tiled] = [&text, &other].map(|text| layout(text, &axes, &sizes));
        let sizes: Vec<u64> = sizes.iter().map(|&n| n as u64).collect();
        let equal = indices(&sizes).iter().all(|i| layout.offset(i) == tiled.offset(i));
        assert_eq!(layout.has_same_offsets(&tiled), equal, "{text} {other} {axes} {sizes:?}");
        same += u32::from(equal && text != other);
    }
    assert!(same > 100, "{same}");
}

/// A slice is a view of the whole, unless it begins inside a tile and ends beyond it.
#[test]
fn slices() {
    let (mut random, mut refused) = (Random(3), 0);
    for _ in 0..1500 {
        let (text, axes, sizes) = random.layout(9);
        let whole = layout(&text, &axes, &sizes);
        let starts: Vec<u64> = sizes.iter().map(|&n| random.below(n as u64)).collect();
        let parts: Vec<u64> = sizes.iter().zip(&starts).map(|(&n, s)| random.below(n as u64 - s + 1)).collect();
        let moved = |index: &[u64]| index.iter().zip(&starts).map(|(i, s)| i + s).collect::<Vec<u64>>();
        let slice = match whole.slice(&starts, &parts) {
            Ok(slice) => slice,
            Err(LayoutError::NotSeparable { axis, tile }) => {
                let a = axes.find(axis).unwrap();
                assert!(starts[a] % tile + parts[a] > tile, "{text} {axes} {sizes:?}: {starts:?} {parts:?}");
                refused += 1;
                continue;
            }
            Err(other) => panic!("{text}: {other}"),
        };
        let mut offsets = Vec::new();
        for index in indices(&parts) {
            assert_eq!(
                slice.offset(&index),
                whole.offset(&moved(&index)),
                "{text} {axes} {sizes:?} {starts:?} {parts:?}"
            );
            assert_eq!(slice.index(slice.offset(&index)).map(|i| i.to_vec()), Some(index.clone()));
            offsets.push(slice.offset(&index));
        }
        let inside = (0..whole.size()).filter(|&o| slice.index(o).is_some()).count();
        assert_eq!(inside, offsets.len(), "{text} {axes} {sizes:?} {starts:?} {parts:?}");
    }
    assert!(refused > 100, "{refused}");
}

/// A slice of a slice is a slice of the whole.
#[test]
fn slices_of_slices() {
    let whole = layout("NCHW8c", "NCHW", &[2, 32, 9, 9]);
    let once = whole.slice(&[1, 8, 2, 3], &[1, 24, 5, 6]).unwrap();
    let twice = once.slice(&[0, 8, 1, 1], &[1, 16, 2, 2]).unwrap();
    assert!(twice.has_same_offsets(&whole.slice(&[1, 16, 3, 4], &[1, 16, 2, 2]).unwrap()));
    assert_eq!(whole.slice(&[0, 4, 0, 0], &[2, 8, 9, 9]), Err(LayoutError::NotSeparable { axis: 'C', tile: 8 }));
    assert_eq!(whole.slice(&[0; 4], &[2, 33, 9, 9]), Err(LayoutError::OutOfBounds { axis: 'C' }));
    assert_eq!(whole.slice(&[0, u64::MAX, 0, 0], &[2, 1, 9, 9]), Err(LayoutError::OutOfBounds { axis: 'C' }));
}

/// Any text is a layout or an error with a position, and layouts round-trip.
#[test]
fn any_text() {
    let mut random = Random(4);
    let ctx = Context::new(&[&DIALECT]);
    for _ in 0..20_000 {
        let letters = ["N", "C", "H", "8c", "2h", "c", "4", "0", "\u{df}", "\"", " ", "n", "9223372036854775807h"];
        let text: String = (0..random.below(8)).map(|_| random.pick(&letters)).collect();
        match text.parse::<TiledLayout>() {
            Ok(layout) => assert_eq!(layout.order(), text),
            Err(LayoutError::Text { at, .. }) => assert!(at <= text.len() && text.is_char_boundary(at), "{text}"),
            Err(other) => panic!("{other:?}"),
        }
        let rest = random.pick(&["", ", pad = 1", ",pad=-inf", ", pad", " ,", "\"", ", pad = nan"]);
        let attr = format!("#layout.tiled<\"{text}\"{rest}>");
        if let Err(error) = ctx.parse_attr(&attr) {
            assert!(error.offset <= attr.len() && attr.is_char_boundary(error.offset), "{attr}");
        }
    }
}

#[test]
fn attributes() {
    let ctx = Context::new(&[&DIALECT]);
    for (text, printed) in [
        ("\"HWC\"", "\"HWC\""),
        (" \"HWC\" , pad = 0 ", "\"HWC\""),
        ("\"HWC4w\",pad=-128", "\"HWC4w\", pad = -128"),
        ("\"HWC4w\", pad = 1.50", "\"HWC4w\", pad = 1.5"),
        ("\"HWC4w\", pad = -inf", "\"HWC4w\", pad = -inf"),
        ("\"HWC4w\", pad = 1.e300", "\"HWC4w\", pad = 1.0e300"),
        ("\"HWC4w\", pad = 1.5e-9", "\"HWC4w\", pad = 1.5e-9"),
        ("\"HWC4w\", pad = -0.0", "\"HWC4w\", pad = -0"),
    ] {
        let attr = ctx.parse_attr(&format!("#layout.tiled<{text}>")).unwrap();
        assert_eq!(ctx.display_attr(attr), format!("#layout.tiled<{printed}>"));
        let layout = TiledLayout::from_attr(&ctx, attr).unwrap();
        assert_eq!(layout.to_attr(&ctx), attr);
    }
    // Only a number with a point has an exponent.
    assert!(ctx.parse_attr("#layout.tiled<\"HWC4w\", pad = 1e5>").is_err());
}

#[test]
fn tiles_and_letters() {
    let features: TiledLayout = "HWC".parse().unwrap();
    let tiled = features.with_pad(3.0).then("4w4c").unwrap();
    assert_eq!((tiled.order().as_str(), tiled.pad(), tiled.block(), tiled.tile('W')), ("HWC4w4c", 3.0, 16, 4));
    let weights = tiled.renamed(|c| if c == 'C' { 'K' } else { c }).unwrap();
    assert_eq!(weights.order(), "HWK4w4k");
    assert!(tiled.renamed(|c| if c == 'C' { 'W' } else { c }).is_err());
    assert!(tiled.renamed(|_| '\u{df}').is_err());
    assert!(tiled.then("C").is_err());
}
