//! Proofs that offsets are sums.
//!
//! What an index adds to the offset is a sum over its digits. So f(x + y) = f(x) + f(y) when no digit carries in x + y, and a
//! digit does not carry when the largest remainders of x and of y by the tile are less than the tile together. Remainders of
//! a loop's index repeat, and their largest is found from its extent and step: the work does not grow with the number of
//! pairs (x, y).

use super::error::LayoutError;
use super::placed::Axis;
use smallvec::SmallVec;

/// Remainders that are looked at one by one; beyond this their largest is estimated from above.
const MAX_REMAINDERS: u64 = 1 << 16;

/// Pairs of remainders that are compared where digits carry, in case that the carries cancel each other.
const MAX_PAIRS: usize = 1 << 12;

/// The indices that loops along an axis reach: a start, and a sum of multiples of steps.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Reach {
    start: u64,
    /// Extent and step of each loop that moves.
    loops: SmallVec<[(u64, u64); 2]>,
}

impl Reach {
    pub fn at(start: u64) -> Reach {
        Reach { start, loops: SmallVec::new() }
    }

    /// With a loop.
    #[must_use]
    pub fn and(mut self, extent: u64, step: u64) -> Reach {
        if extent > 1 && step > 0 {
            self.loops.push((extent, step));
        }
        self
    }

    /// The largest index.
    pub fn last(&self) -> Option<u64> {
        let far = |sum: u64, &(extent, step): &(u64, u64)| sum.checked_add((extent - 1).checked_mul(step)?);
        self.loops.iter().try_fold(self.start, far)
    }

    /// At least the largest remainder by `tile`, and less than `tile`.
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

    /// All remainders by `tile`, in order; `None` if there are many.
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

/// That the offset of x + y, for every x of `fixed` and y of `moving`, is a part of x alone and a part of y alone. `moving`
/// begins at zero.
pub(super) fn adds(axis: &Axis, fixed: &Reach, moving: &Reach) -> Result<(), LayoutError> {
    if fixed.loops.is_empty() || moving.loops.is_empty() {
        return Ok(());
    }
    match carrying_tile(axis, fixed, moving) {
        Some(tile) if !carries_cancel(axis, fixed, moving) => Err(LayoutError::Crosses { axis: axis.name, tile }),
        _ => Ok(()),
    }
}

/// That indices are from `start` on what they are from zero on: no digit carries for any of `size`.
pub(super) fn shifts(axis: &Axis, start: u64, size: u64) -> Result<(), LayoutError> {
    let carries = carrying_tile(axis, &Reach::at(start), &Reach::at(0).and(size, 1));
    carries.map_or(Ok(()), |tile| Err(LayoutError::Crosses { axis: axis.name, tile }))
}

fn carrying_tile(axis: &Axis, fixed: &Reach, moving: &Reach) -> Option<u64> {
    let (_, inner) = axis.digits.split_last()?;
    let mut tile = 1_u64;
    inner.iter().find_map(|digit| {
        tile *= digit.extent;
        let (x, y) = (fixed.largest_remainder(tile), moving.largest_remainder(tile));
        (x.saturating_add(y) >= tile).then_some(tile)
    })
}

/// Looks at the remainders by the largest tile, when they are few: beyond it, offsets are linear.
fn carries_cancel(axis: &Axis, fixed: &Reach, moving: &Reach) -> bool {
    let Some((_, inner)) = axis.digits.split_last() else { return true };
    let tile = inner.iter().map(|d| d.extent).product();
    let (Some(xs), Some(ys)) = (fixed.remainders(tile), moving.remainders(tile)) else { return false };
    let start = fixed.start % tile;
    let sums = |x: u64, y: u64| {
        let both = axis.part(x + y).wrapping_add(axis.part(start));
        both == axis.part(x).wrapping_add(axis.part(start + y))
    };
    xs.len() * ys.len() <= MAX_PAIRS && xs.iter().all(|&x| ys.iter().all(|&y| sums(x, y)))
}

/// The largest of 0, step, 2 step, ... by `tile`, of `extent` numbers; more, but less than `tile`, where that takes long.
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

/// The greatest common divisor; that of zero and another number is the other.
pub(super) fn gcd(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
