//! The division of an operator among clusters.

use super::region::Region;

/// A division of a box among the first clusters: they form groups, which divide the outer axis; the clusters of a group divide the inner
/// axis. Rows alone are one group with inner axis 0, channels alone one group with inner axis 2.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Split {
    /// Axis that groups divide.
    pub outer: usize,
    /// Axis that the clusters of a group divide.
    pub inner: usize,
    /// Number of groups.
    pub groups: u32,
    /// Number of clusters that have a part; the others have none.
    pub clusters: u32,
}

impl Split {
    /// Divides rows alone.
    pub fn rows(clusters: u32) -> Split {
        Split { outer: 2, inner: 0, groups: 1, clusters }
    }

    /// Returns the boxes of `all` clusters, which are disjoint and contain all elements. Some may be empty.
    pub fn boxes(&self, region: &Region, all: u32) -> Vec<Region> {
        let mut boxes = Vec::with_capacity(all as usize);
        for group in 0..self.groups {
            let [first, end] = [group, group + 1].map(|g| g * self.clusters / self.groups);
            let part = cut(region, self.outer, [first, end], self.clusters);
            let size = end - first;
            boxes.extend((0..size).map(|i| cut(&part, self.inner, [i, i + 1], size)));
        }
        boxes.resize(all as usize, Region::default());
        boxes
    }

    /// Returns the division in words: `rows of 2 groups of channels, 5 clusters`.
    pub fn text(&self) -> String {
        let name = |axis: usize| ["rows", "columns", "channels"][axis];
        let groups = match self.groups {
            1 => String::new(),
            groups => format!(" of {groups} groups of {}", name(self.outer)),
        };
        format!("{}{groups}, {} clusters", name(self.inner), self.clusters)
    }

    /// Whether channels are divided.
    pub fn divides_channels(&self) -> bool {
        self.inner == 2 || self.outer == 2 && self.groups > 1
    }

    /// Returns the divisions of a box of the given extents for a number of clusters, rows first, without those that leave more clusters
    /// without work than there are to be.
    pub fn all(extents: [u32; 3], clusters: u32, divides_channels: bool) -> Vec<Split> {
        let axes = |split: &Split| divides_channels || !split.divides_channels();
        let alone = [0, 1, 2].map(|inner| Split { outer: if inner == 2 { 0 } else { 2 }, inner, groups: 1, clusters });
        let pairs = [(2, 0), (0, 1), (2, 1)];
        let mixed = pairs
            .iter()
            .flat_map(|&(outer, inner)| (2..clusters).map(move |groups| Split { outer, inner, groups, clusters }));
        let is_even = |groups: u32| clusters < 8 || clusters.is_multiple_of(groups);
        let mixed = mixed.filter(|split| is_even(split.groups));
        let fits = |split: &Split| {
            let largest = clusters.div_ceil(split.groups);
            extents[split.inner] >= largest && (split.groups == 1 || extents[split.outer] >= split.groups)
        };
        let found: Vec<Split> = alone.into_iter().chain(mixed).filter(|s| axes(s) && fits(s)).collect();
        if found.is_empty() { alone.into_iter().filter(axes).collect() } else { found }
    }
}

/// Returns parts `parts[0]..parts[1]` of `count` parts along an axis.
fn cut(region: &Region, axis: usize, parts: [u32; 2], count: u32) -> Region {
    let (lo, len) = (region.lo[axis], region.extents()[axis]);
    let share = len / count.max(1);
    // Channels are divided at multiples that leave parts within 1/16 of each other.
    let granule = if axis == 2 { 1 << (share / 16).max(1).ilog2().min(3) } else { 1 };
    let at = |part: u32| {
        let exact = u64::from(len) * u64::from(part);
        let rounded = (2 * exact + u64::from(count * granule)) / (2 * u64::from(count * granule)) * u64::from(granule);
        if part == count { len } else { (rounded as u32).min(len) }
    };
    region.with(axis, lo + at(parts[0]), lo + at(parts[1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divisions_cover_a_box_without_overlap() {
        for clusters in [1, 2, 3, 5, 7, 16] {
            for extents in [[7, 7, 512], [56, 56, 64], [1, 1, 1000], [3, 2, 5], [224, 224, 3], [1, 1, 1]] {
                let whole = Region::whole(extents);
                for split in Split::all(extents, clusters, true) {
                    let boxes = split.boxes(&whole, clusters + 2);
                    assert_eq!(boxes.len(), clusters as usize + 2);
                    assert_eq!(boxes.iter().map(Region::len).sum::<u64>(), whole.len(), "{split:?} {extents:?}");
                    let pairs = boxes.iter().enumerate().flat_map(|(i, a)| boxes[i + 1..].iter().map(move |b| (a, b)));
                    assert!(pairs.into_iter().all(|(a, b)| a.intersection(b).is_empty()), "{split:?} {extents:?}");
                }
            }
        }
    }

    #[test]
    fn five_clusters_balance_56_rows_by_mixed_divisions() {
        let best = |extents: [u32; 3]| {
            let splits = Split::all(extents, 5, true);
            let balance = |s: &Split| {
                let boxes = s.boxes(&Region::whole(extents), 5);
                let most = boxes.iter().map(Region::len).max().unwrap_or(0);
                Region::whole(extents).len() as f64 / (5 * most) as f64
            };
            splits.iter().map(balance).fold(0.0, f64::max)
        };
        assert!(best([56, 56, 64]) > 0.97 && best([7, 7, 512]) > 0.97);
    }
}
