//! Copies between layouts, and slices of blocks.

use super::oracle::{Random, indices, layout};
use gradus_networks::layout::{BlockAddress, CopyRun, Layout, LayoutError, Relayout, Sram, TransferCost};

/// Returns source and target offsets of all elements in target order, merged into maximal runs.
fn by_element(from: &Layout, to: &Layout) -> Vec<CopyRun> {
    let all = |l: &Layout| {
        let sizes: Vec<u64> = l.axes().iter().map(|a| a.size).collect();
        indices(&sizes).iter().map(|i| l.offset(i)).collect::<Vec<u64>>()
    };
    let mut pairs: Vec<(u64, u64)> = all(to).into_iter().zip(all(from)).collect();
    pairs.sort_unstable();
    let mut moves: Vec<CopyRun> = Vec::new();
    for (to, from) in pairs {
        match moves.last_mut() {
            Some(last) if last.to + last.len == to && last.from + last.len == from => last.len += 1,
            _ => moves.push(CopyRun { from, to, len: 1 }),
        }
    }
    moves
}

/// Copy runs are maximal and move every element once.
#[test]
fn random_relayouts() {
    let (mut random, mut reshapes) = (Random(6), 0);
    for _ in 0..2500 {
        let (text, axes, sizes) = random.layout(6);
        let from = layout(&text, &axes, &sizes);
        let (other, axes2, mut sizes2) = random.layout(6);
        // The same shape with other tiles, or the same number of elements in another shape.
        if sizes2.len() == sizes.len() {
            sizes2.clone_from(&sizes);
        } else {
            sizes2.fill(1);
            let at = random.below(sizes2.len() as u64) as usize;
            sizes2[at] = sizes.iter().product();
            reshapes += 1;
        }
        let to = layout(&other, &axes2, &sizes2);
        let relayout = Relayout::new(&from, &to).unwrap();
        let moves: Vec<CopyRun> = relayout.runs().collect();
        assert_eq!(moves, by_element(&from, &to), "{text} {axes} {sizes:?} to {other} {axes2} {sizes2:?}");
        assert_eq!(moves.iter().map(|m| m.len).sum::<u64>(), from.elements());
        for m in &moves {
            assert_eq!(relayout.target(m.from), Some(m.to));
            assert_eq!(relayout.inverse().target(m.to), Some(m.from));
        }
        assert!(relayout.then(relayout.inverse()).unwrap().is_identity());
        assert_eq!(relayout.is_identity(), moves.iter().all(|m| m.from == m.to));
    }
    assert!(reshapes > 500, "{reshapes}");
}

/// Copies `relayout` of elements of `size` bytes, and compares each with where its move says it goes.
fn check_copy(relayout: Relayout<'_>, from: &Layout, to: &Layout, size: usize, place: &str) {
    let source: Vec<u8> = (0..from.size() as usize * size).map(|i| (i * 7 % 251) as u8).collect();
    let (mut found, mut wanted) = (vec![255; to.size() as usize * size], vec![255; to.size() as usize * size]);
    relayout.copy(&source, &mut found, size).unwrap();
    for run in relayout.runs() {
        let [from, to, len] = [run.from, run.to, run.len].map(|n| n as usize * size);
        wanted[to..to + len].copy_from_slice(&source[from..from + len]);
    }
    assert!(found == wanted, "{place}");
    let Some(nest) = relayout.nest() else { return };
    for parts in [0, 1, 2, 3, 100] {
        let mut found = vec![0xFF; found.len()];
        let mut last = 0;
        for (range, part) in nest.divide(parts) {
            assert!(last <= range.start, "{place}");
            last = range.end;
            let [first, end] = [range.start, range.end].map(|n| n as usize * size);
            part.copy(&source, &mut found[first..end], size).unwrap();
        }
        assert!(found == wanted, "{place} in {parts} parts");
    }
}

/// Copy nests and copy runs agree.
#[test]
fn copies() {
    let (mut random, mut nests) = (Random(7), 0);
    for _ in 0..2500 {
        let (text, axes, sizes) = random.layout(9);
        let from = layout(&text, &axes, &sizes);
        let other = random.order(&axes.chars().collect::<Vec<_>>());
        let to = layout(&other, &axes, &sizes);
        let relayout = Relayout::new(&from, &to).unwrap();
        nests += u32::from(relayout.loops().is_some_and(|l| l.len() > 2));
        let size = random.pick(&[1, 2, 3, 4, 8, 16]);
        check_copy(relayout, &from, &to, size, &format!("{text} to {other} {axes} {sizes:?}"));
    }
    assert!(nests > 1000, "{nests}");
    let whole = layout("NCHW8c", "NCHW", &[2, 24, 5, 5]);
    let slice = whole.slice(&[1, 8, 1, 2], &[1, 11, 3, 2]).unwrap();
    for text in ["NCHW", "NHWC", "NCHW4c", "NHWC16c", "NCHW3c"] {
        let to = layout(text, "NCHW", &[1, 11, 3, 2]);
        check_copy(Relayout::new(&slice, &to).unwrap(), &slice, &to, 4, text);
        check_copy(Relayout::new(&to, &slice).unwrap(), &to, &slice, 4, text);
    }
    let (row, column) = (layout("HW", "HW", &[2, 3]), layout("WH", "HW", &[2, 3]));
    let there = Relayout::new(&row, &column).unwrap();
    assert_eq!(there.copy(&[0; 5], &mut [0; 6], 1), Err(LayoutError::TooLarge));
    assert_eq!(there.copy(&[0; 6], &mut [0; 5], 1), Err(LayoutError::TooLarge));
}

/// Copy runs of a slice are those of its elements.
#[test]
fn copies_of_a_slice() {
    let whole = layout("NCHW8c", "NCHW", &[2, 24, 5, 5]);
    let slice = whole.slice(&[1, 8, 1, 2], &[1, 11, 3, 2]).unwrap();
    for text in ["NCHW", "NHWC", "NCHW4c", "NHWC16c"] {
        let to = layout(text, "NCHW", &[1, 11, 3, 2]);
        assert_eq!(Relayout::new(&slice, &to).unwrap().runs().collect::<Vec<_>>(), by_element(&slice, &to), "{text}");
        assert_eq!(Relayout::new(&to, &slice).unwrap().runs().collect::<Vec<_>>(), by_element(&to, &slice), "{text}");
    }
}

#[test]
fn what_does_not_fit() {
    let (a, b) = (layout("HW", "HW", &[2, 3]), layout("HW", "HW", &[2, 4]));
    assert_eq!(Relayout::new(&a, &b).map(|_| ()), Err(LayoutError::Elements { from: 6, to: 8 }));
    let (row, column) = (layout("HW", "HW", &[2, 3]), layout("WH", "HW", &[2, 3]));
    let there = Relayout::new(&row, &column).unwrap();
    assert_eq!(there.then(there).map(|_| ()), Err(LayoutError::NotComposable));
    assert_eq!(Sram::new(&row, 2, [1, 64], true).map(|_| ()), Err(LayoutError::Slices { block: 1, slice: 2 }));
    assert_eq!(Sram::new(&row, 0, [1, 64], true).map(|_| ()), Err(LayoutError::Slices { block: 1, slice: 0 }));
    assert_eq!(Sram::new(&row, 1, [u64::MAX, 64], false).map(|_| ()), Err(LayoutError::TooLarge));
    let empty = layout("HW4w", "HW", &[0, 3]);
    assert_eq!(Relayout::new(&empty, &empty).unwrap().runs().count(), 0);
}

/// Long runs are found without enumeration, however large the tensor.
#[test]
fn large_tensors_copy_in_runs() {
    let sizes = [16, 64, 56, 56];
    let (from, to) = (layout("NCHW", "NCHW", &sizes), layout("NCHW", "NCHW", &sizes));
    assert_eq!(Relayout::new(&from, &to).unwrap().runs().count(), 1);
    let to = layout("CNHW", "NCHW", &sizes);
    assert_eq!(Relayout::new(&from, &to).unwrap().runs().count(), 16 * 64);
}

/// A 1x1xC feature under 4W4C is padded to 1x4xC; as 2K4C weights, one kernel per channel, that padding is dropped.
#[test]
fn a_feature_becomes_weights() {
    let feature = layout("HWC4w4c", "HWC", &[1, 1, 27]);
    let weights = layout("HWKC2k4c", "KHWC", &[27, 1, 1, 1]);
    let (before, after) =
        (Sram::new(&feature, 4, [1, 64], true).unwrap(), Sram::new(&weights, 4, [1, 64], true).unwrap());
    let traffic = before.transfer_cost(&after).unwrap();
    assert_eq!(traffic, TransferCost { moves: 27, bytes: 27, dropped: 7 * 4 - 7, added: 1 });
    let fifth = before.slice_copies(&after).unwrap().nth(5).unwrap();
    assert_eq!(fifth.from, BlockAddress { offset: 1, slice: 0, position: 1 });
    assert_eq!(fifth.to, BlockAddress { offset: 2, slice: 1, position: 0 });
}

/// Bytes of blocks that are shorter than a word.
#[test]
fn words() {
    let feature = layout("HWC2w", "HWC", &[1, 6, 3]);
    let sram = |pack| Sram::new(&feature, 1, [2, 64], pack).unwrap();
    assert_eq!((sram(true).bytes(), sram(false).bytes()), (9 * 4, 9 * 64));
    let place = sram(false).address(5);
    assert_eq!(place, BlockAddress { offset: 2, slice: 1, position: 0 });
    assert_eq!((sram(true).byte(place), sram(false).byte(place)), (10, 130));
}
