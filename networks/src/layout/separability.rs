//! Proofs that addressing is separable.
//!
//! The contribution f of an axis index to the offset is a sum over its digits, so f(x + y) = f(x) + f(y) if x + y has
//! no carry. No digit carries if the largest remainders of x and of y modulo the tile add up to less than the tile. The
//! remainders of a strided loop are periodic, so their maximum follows from extent and step, without enumeration of the
//! pairs (x, y).

use super::concrete_layout::Axis;
use super::error::LayoutError;
use smallvec::SmallVec;

/// Maximum number of remainders that are enumerated; beyond it, an upper bound is used.
const MAX_REMAINDERS: u64 = 1 << 16;

/// Maximum number of pairs of remainders that are compared when digits carry but carries might cancel.
const MAX_PAIRS: usize = 1 << 12;

/// A set of indices along an axis: a start plus any combination of strided loops.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct IndexSet {
    start: u64,
    /// Extent and step of each loop with more than one index.
    loops: SmallVec<[(u64, u64); 2]>,
}

impl IndexSet {
    pub fn at(start: u64) -> IndexSet {
        IndexSet { start, loops: SmallVec::new() }
    }

    /// Adds a loop.
    #[must_use]
    pub fn and(mut self, extent: u64, step: u64) -> IndexSet {
        if extent > 1 && step > 0 {
            self.loops.push((extent, step));
        }
        self
    }

    /// Returns the largest index.
    pub fn last(&self) -> Option<u64> {
        let far = |sum: u64, &(extent, step): &(u64, u64)| sum.checked_add((extent - 1).checked_mul(step)?);
        self.loops.iter().try_fold(self.start, far)
    }

    /// Returns an upper bound, below `tile`, of the remainders modulo `tile`.
    pub fn largest_remainder(&self, tile: u64) -> u64 {
        let one = |sum: u64, &(extent, step): &(u64, u64)| sum.saturating_add(largest_multiple(extent, step, tile));
        let sum = self.loops.iter().fold(self.start % tile, one);
        if sum < tile {
            return sum;
        }
        if let Some(last) = self.remainders(tile).and_then(|all| all.last().copied()) {
            return last;
        }
        let common = self.loops.iter().fold(tile, |a, &(_, step)| gcd(a, step));
        tile - common + self.start % common
    }

    /// Returns all remainders modulo `tile`, sorted; `None` if there are more than [`MAX_PAIRS`].
    fn remainders(&self, tile: u64) -> Option<Vec<u64>> {
        let mut found = vec![self.start % tile];
        for &(extent, step) in &self.loops {
            let steps = extent.min(tile / gcd(step, tile));
            if steps.saturating_mul(found.len() as u64) > MAX_PAIRS as u64 {
                return None;
            }
            let add = |x: u64, i: u64| ((u128::from(x) + u128::from(i) * u128::from(step)) % u128::from(tile)) as u64;
            found = (0..steps).flat_map(|i| found.iter().map(move |&x| add(x, i))).collect();
            found.sort_unstable();
            found.dedup();
        }
        Some(found)
    }
}

/// Checks that f(x + y) is separable for every x of `fixed` and y of `moving`, which starts at zero.
pub(super) fn check_separable(axis: &Axis, fixed: &IndexSet, moving: &IndexSet) -> Result<(), LayoutError> {
    if fixed.loops.is_empty() || moving.loops.is_empty() {
        return Ok(());
    }
    match carrying_tile(axis, fixed, moving) {
        Some(tile) if !carries_cancel(axis, fixed, moving) => Err(LayoutError::NotSeparable { axis: axis.name, tile }),
        _ => Ok(()),
    }
}

/// Checks that indices from `start` on have the same offsets relative to `start` as indices from 0 on, for `size`
/// indices.
pub(super) fn check_translatable(axis: &Axis, start: u64, size: u64) -> Result<(), LayoutError> {
    let carries = carrying_tile(axis, &IndexSet::at(start), &IndexSet::at(0).and(size, 1));
    carries.map_or(Ok(()), |tile| Err(LayoutError::NotSeparable { axis: axis.name, tile }))
}

fn carrying_tile(axis: &Axis, fixed: &IndexSet, moving: &IndexSet) -> Option<u64> {
    let (_, inner) = axis.digits.split_last()?;
    let mut tile = 1_u64;
    inner.iter().find_map(|digit| {
        tile *= digit.extent;
        let (x, y) = (fixed.largest_remainder(tile), moving.largest_remainder(tile));
        (x.saturating_add(y) >= tile).then_some(tile)
    })
}

/// Whether carries cancel for all pairs of remainders modulo the largest tile, beyond which offsets are linear.
fn carries_cancel(axis: &Axis, fixed: &IndexSet, moving: &IndexSet) -> bool {
    let Some((_, inner)) = axis.digits.split_last() else { return true };
    let tile = inner.iter().map(|d| d.extent).product();
    let (Some(xs), Some(ys)) = (fixed.remainders(tile), moving.remainders(tile)) else { return false };
    let start = fixed.start % tile;
    let sums = |x: u64, y: u64| {
        let both = axis.contribution(x + y).wrapping_add(axis.contribution(start));
        both == axis.contribution(x).wrapping_add(axis.contribution(start + y))
    };
    xs.len() * ys.len() <= MAX_PAIRS && xs.iter().all(|&x| ys.iter().all(|&y| sums(x, y)))
}

/// Returns the maximum of `i * step mod tile` for i < `extent`, or an upper bound below `tile` if enumeration is too
/// long.
fn largest_multiple(extent: u64, step: u64, tile: u64) -> u64 {
    let step = step % tile;
    if let Some(last) = (extent - 1).checked_mul(step).filter(|&last| last < tile) {
        return last;
    }
    let common = gcd(step, tile);
    let period = tile / common;
    if extent >= period || extent > MAX_REMAINDERS {
        return tile - common;
    }
    let next = |x: &u64| Some(if tile - step > *x { x + step } else { x - (tile - step) });
    std::iter::successors(Some(0), next).take(extent as usize).max().unwrap_or(0)
}

/// Returns the greatest common divisor; gcd(0, n) = n.
pub(super) fn gcd(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
