//! Partitioning of work among threads.

use crate::module::{Module, Op};
use crate::traits::Traits;
use std::ops::Range;

/// Minimum number of ops per thread that outweighs the cost of the thread.
pub(crate) const MIN_OPS: usize = 2048;

/// Partitions consecutive items, given their sizes in ops, into at most `parts` ranges of about equal size. Returns one
/// range if the total is small.
pub(crate) fn partition(sizes: &[usize], parts: usize) -> Vec<Range<usize>> {
    let total: usize = sizes.iter().sum();
    let parts = parts.min(total / MIN_OPS).max(1);
    let (mut ranges, mut start, mut sum) = (Vec::new(), 0, 0);
    for (i, size) in sizes.iter().enumerate() {
        sum += size;
        // An item goes to the part that contains its larger share.
        let next = sizes.get(i + 1).copied().unwrap_or(0);
        if (sum + next / 2) * parts >= total * (ranges.len() + 1) && ranges.len() + 1 < parts {
            ranges.push(start..i + 1);
            start = i + 1;
        }
    }
    if start < sizes.len() {
        ranges.push(start..sizes.len());
    }
    ranges
}

/// Returns the number of ops in `op`, including itself.
pub(crate) fn count_ops(m: &Module, op: Op) -> usize {
    let (mut n, mut stack) = (1, vec![op]);
    while let Some(op) = stack.pop() {
        for block in m.regions(op).iter().flat_map(|&r| m.region_blocks(r)) {
            for inner in m.block_ops(block) {
                n += 1;
                if !m.regions(inner).is_empty() {
                    stack.push(inner);
                }
            }
        }
    }
    n
}

/// Returns the functions with bodies that are direct children of `op`.
pub(crate) fn functions_in(m: &Module, op: Op) -> Vec<Op> {
    let regions = m.regions(op).iter();
    let ops = regions.flat_map(|&r| m.region_blocks(r)).flat_map(|b| m.block_ops(b));
    ops.filter(|&op| is_function(m, op) && m.entry(m.regions(op)[0]).is_some()).collect()
}

pub(crate) fn is_function(m: &Module, op: Op) -> bool {
    m.has_trait(op, Traits::FUNCTION.and(Traits::ISOLATED)) && m.regions(op).len() == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_about_equal() {
        let ends = |sizes: &[usize], parts| -> Vec<usize> { partition(sizes, parts).iter().map(|r| r.end).collect() };
        assert_eq!(ends(&[1000; 8], 2), [4, 8]);
        assert_eq!(ends(&[6000, 1000, 1000, 4000], 2), [1, 4]);
        assert_eq!(ends(&[1000, 1000, 1000, 9000], 2), [3, 4]);
        assert_eq!(ends(&[100; 30], 4), [30]);
        assert_eq!(ends(&[20_000], 4), [1]);
        assert_eq!(ends(&[], 4), [0; 0]);
        let many = partition(&[700; 100], 7);
        assert_eq!((many.len(), many.iter().map(ExactSizeIterator::len).max()), (7, Some(15)));
    }
}
