//! Reference semantics of layouts and accesses by enumeration, and random layouts.

use gradus_networks::layout::{AccessFunction, AccessLoop, AddressTable, Addressing, Layout, TiledLayout};
use std::collections::BTreeMap;

/// A small generator: the same layouts in every run.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n.max(1)
    }

    pub fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize]
    }

    fn shuffle<T>(&mut self, list: &mut [T]) {
        for i in (1..list.len()).rev() {
            list.swap(i, self.below(i as u64 + 1) as usize);
        }
    }

    /// Returns a random layout of up to four axes and four tiles, with the letters and sizes of its axes.
    pub fn layout(&mut self, most: u64) -> (String, String, Vec<i64>) {
        let mut letters: Vec<char> = "NCHWKD".chars().collect();
        self.shuffle(&mut letters);
        letters.truncate(1 + self.below(4) as usize);
        let text = self.order(&letters);
        let sizes = letters.iter().map(|_| 1 + self.below(most) as i64).collect();
        self.shuffle(&mut letters);
        (text, letters.iter().collect(), sizes)
    }

    /// Returns a random layout string of axes, with up to four tiles.
    pub fn order(&mut self, letters: &[char]) -> String {
        let mut levels: Vec<String> = letters.iter().map(char::to_string).collect();
        self.shuffle(&mut levels);
        for _ in 0..self.below(5) {
            let letter = self.pick(letters).to_ascii_lowercase();
            let tile = format!("{}{letter}", 1 + self.below(5));
            let at = if self.below(4) == 0 { self.below(levels.len() as u64 + 1) as usize } else { levels.len() };
            levels.insert(at, tile);
        }
        levels.concat()
    }

    /// Loops over an axis or none each, which need not stay inside.
    pub fn loops(&mut self, rank: usize) -> Vec<AccessLoop> {
        let one = |random: &mut Random| AccessLoop {
            extent: 1 + random.below(4),
            axis: random.below(rank as u64) as usize,
            step: random.pick(&[0, 1, 1, 1, 2, 2, 3, 4]),
        };
        (0..3).map(|_| one(self)).collect()
    }
}

/// Parses a layout string with axes and sizes.
pub fn layout(text: &str, axes: &str, sizes: &[i64]) -> Layout {
    let tiled: TiledLayout = text.parse().unwrap_or_else(|e| panic!("{text}: {e}"));
    tiled.of(axes, sizes).unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// Returns the index at each offset, `None` for padding, by running the loops of a layout string.
pub fn enumerate(text: &str, axes: &str, sizes: &[i64]) -> Vec<Option<Vec<u64>>> {
    let mut levels = Vec::new();
    let mut number = String::new();
    for c in text.chars() {
        if c.is_ascii_digit() {
            number.push(c);
            continue;
        }
        levels.push((axes.find(c.to_ascii_uppercase()).unwrap(), number.parse::<u64>().ok()));
        number.clear();
    }
    let levels = &levels;
    // The tiles of an axis, innermost last; the axis itself is the outermost wherever it stands.
    let tiles = |axis: usize| levels.iter().filter(move |l| l.0 == axis).filter_map(|l| l.1);
    let whole = |axis: usize| (sizes[axis] as u64).div_ceil(tiles(axis).product());
    let extents: Vec<u64> = levels.iter().map(|&(axis, tile)| tile.unwrap_or(whole(axis))).collect();
    let total: u64 = extents.iter().product();
    let mut all = Vec::new();
    for offset in 0..total {
        let mut rest = offset;
        let mut counts = vec![0; levels.len()];
        for i in (0..levels.len()).rev() {
            counts[i] = rest % extents[i];
            rest /= extents[i];
        }
        let index = |axis: usize| {
            let own = || (0..levels.len()).filter(move |&i| levels[i].0 == axis);
            let top = own().find(|&i| levels[i].1.is_none()).unwrap();
            own().filter(|&i| i != top).fold(counts[top], |sum, i| sum * extents[i] + counts[i])
        };
        let index: Vec<u64> = (0..sizes.len()).map(index).collect();
        let inside = index.iter().zip(sizes).all(|(&i, &n)| (i as i64) < n);
        all.push(inside.then_some(index));
    }
    all
}

/// Returns all indices of a shape in row-major order.
pub fn indices(sizes: &[u64]) -> Vec<Vec<u64>> {
    let mut all = vec![Vec::new()];
    for &n in sizes {
        let longer = |index: &Vec<u64>, i: u64| index.iter().copied().chain([i]).collect();
        all = all.iter().flat_map(|index| (0..n).map(move |i| longer(index, i)).collect::<Vec<_>>()).collect();
    }
    all
}

/// Returns the index contribution of each loop point per axis.
pub fn points(loops: &[AccessLoop], rank: usize) -> Vec<Vec<i64>> {
    let extents: Vec<u64> = loops.iter().map(|l| l.extent).collect();
    let point = |counts: Vec<u64>| {
        let mut moved = vec![0; rank];
        for (l, count) in loops.iter().zip(counts) {
            moved[l.axis] += (count * l.step) as i64;
        }
        moved
    };
    indices(&extents).into_iter().map(point).collect()
}

/// Returns the offset read by every output point m for every k; `None` outside the tensor.
pub fn reads(access: &AccessFunction, text: &str, axes: &str, sizes: &[i64]) -> Vec<Vec<Option<i64>>> {
    let at: BTreeMap<Vec<u64>, i64> =
        (0..).zip(enumerate(text, axes, sizes)).filter_map(|(offset, index)| Some((index?, offset))).collect();
    let (ms, ks) = (points(&access.m, sizes.len()), points(&access.k, sizes.len()));
    let read = |m: &[i64], k: &[i64]| {
        let index = (0..sizes.len()).map(|a| u64::try_from(access.start[a] + m[a] + k[a]).ok());
        at.get(&index.collect::<Option<Vec<u64>>>()?).copied()
    };
    ms.iter().map(|m| ks.iter().map(|k| read(m, k)).collect()).collect()
}

/// Returns the base and relative addresses of a table of separable addresses.
pub fn sums<'t>(table: &'t AddressTable<'_>) -> (&'t [i32], &'t [i32]) {
    let Addressing::Separable { base, relative } = table.addressing() else { panic!("{table:?}") };
    (base, relative)
}

/// Returns the bases of a table of indirect addresses.
pub fn bases<'t>(table: &'t AddressTable<'_>) -> &'t [i32] {
    let Addressing::Indirect { bases, .. } = table.addressing() else { panic!("{table:?}") };
    bases
}
