//! Happens-before: joins of vector clocks, and maps of ranges of addresses for their last accesses.

use std::collections::BTreeMap;
use std::ops::Range;

/// Takes over into a vector clock what another one knows.
pub fn join_clocks(clock: &mut [u32], other: &[u32]) {
    clock.iter_mut().zip(other).for_each(|(known, &n)| *known = n.max(*known));
}

/// Values of disjoint ranges of addresses: by the start, the end and the value.
pub(crate) struct RangeMap<T>(BTreeMap<u64, (u64, T)>);

impl<T> Default for RangeMap<T> {
    fn default() -> Self {
        RangeMap(BTreeMap::new())
    }
}

impl<T: Copy> RangeMap<T> {
    /// Returns the parts of a range that have values, in order.
    pub fn overlapping(&self, range: &Range<u64>) -> impl Iterator<Item = (Range<u64>, &T)> {
        let Range { start: low, end: high } = *range;
        let before = self.0.range(..low).next_back().filter(|(_, (end, _))| *end > low);
        let all = before.into_iter().chain(self.0.range(low..high));
        all.map(move |(&start, (end, value))| (start.max(low)..high.min(*end), value))
    }

    /// Divides the range that contains `at`.
    fn split(&mut self, at: u64) {
        let Some((_, (end, value))) = self.0.range_mut(..at).next_back().filter(|(_, (end, _))| *end > at) else {
            return;
        };
        let right = (*end, *value);
        *end = at;
        self.0.insert(at, right);
    }

    /// Returns the parts of a range that have values, in order. They become ranges of their own.
    pub fn inside(&mut self, range: &Range<u64>) -> impl Iterator<Item = (Range<u64>, &mut T)> {
        self.split(range.start);
        self.split(range.end);
        self.0.range_mut(range.clone()).map(|(&start, (end, value))| (start..*end, value))
    }

    /// Sets the value of a range.
    pub fn set(&mut self, range: &Range<u64>, value: T) {
        if range.is_empty() {
            return;
        }
        self.split(range.start);
        self.split(range.end);
        // The usual case, without a change of the tree: the range of an earlier access.
        if self.0.insert(range.start, (range.end, value)).is_some_and(|(end, _)| end == range.end) {
            return;
        }
        while let Some((&next, _)) = self.0.range(range.start + 1..range.end).next() {
            self.0.remove(&next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RangeMap;

    #[test]
    fn ranges_are_divided_and_replaced() {
        let mut map = RangeMap::default();
        map.set(&(0..10), 'a');
        map.set(&(20..30), 'b');
        map.set(&(8..22), 'c');
        map.set(&(5..5), 'd');
        map.inside(&(2..4)).for_each(|(_, value)| *value = 'e');
        let parts = |from, to| map.overlapping(&(from..to)).map(|(part, value)| (part, *value)).collect::<Vec<_>>();
        assert_eq!(parts(0, 40), [(0..2, 'a'), (2..4, 'e'), (4..8, 'a'), (8..22, 'c'), (22..30, 'b')]);
        assert_eq!(parts(9, 12), [(9..12, 'c')]);
        assert_eq!(parts(30, 40), []);
    }
}
