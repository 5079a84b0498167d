//! Reassociations: groups of consecutive dimensions that are collapsed, as in `[[0, 1], [2]]`.

use gradus_ir::{Attr, AttrData, AttrKind, Context, DYNAMIC, Type};
use std::ops::Range;

/// The dimensions of the expanded shape for each dimension of the collapsed shape.
pub type Reassociation = Vec<Vec<i64>>;

/// A reassociation: an array of arrays of 64-bit integers.
pub const REASSOCIATION: AttrKind =
    crate::constraint::kind("Array of 64-bit integer array attributes", |c, a| groups(c, a).is_some());

fn groups(ctx: &Context, attr: Attr) -> Option<Reassociation> {
    let int = |&e: &Attr| match ctx.attr_data(e) {
        AttrData::Integer { ty: Type::I64, .. } => ctx.as_int(e),
        _ => None,
    };
    ctx.as_array(attr)?.iter().map(|&group| ctx.as_array(group)?.iter().map(int).collect()).collect()
}

/// Returns the reassociation of an attribute; empty for other attributes.
pub fn reassociation_of(ctx: &Context, attr: Option<Attr>) -> Reassociation {
    attr.and_then(|a| groups(ctx, a)).unwrap_or_default()
}

/// Returns the reassociation as an attribute.
pub fn reassociation_attr(ctx: &Context, groups: &[Vec<i64>]) -> Attr {
    let group = |g: &Vec<i64>| {
        let ints: Vec<Attr> = g.iter().map(|&i| ctx.int_attr(Type::I64, i)).collect();
        ctx.array_attr(&ints)
    };
    ctx.array_attr(&groups.iter().map(group).collect::<Vec<_>>())
}

/// Composes two consecutive collapses or expansions. `None` if they have the same number of groups or do not match.
pub fn compose(first: &[Vec<i64>], second: &[Vec<i64>]) -> Option<Reassociation> {
    let (fine, coarse) = if first.len() > second.len() { (first, second) } else { (second, first) };
    if fine.len() == coarse.len() {
        return None;
    }
    // Rank 0 has no groups.
    if !coarse.is_empty() && coarse.iter().map(Vec::len).sum::<usize>() != fine.len() {
        return None;
    }
    let inner = |&i: &i64| fine.get(usize::try_from(i).ok()?);
    let join = |group: &Vec<i64>| {
        Some(group.iter().map(inner).collect::<Option<Vec<_>>>()?.into_iter().flatten().copied().collect())
    };
    coarse.iter().map(join).collect()
}

/// Groups the groups of the finer reassociation by those of the coarser one, for a collapse of an expansion or the
/// reverse. `None` if a group of `fine` crosses a boundary of `coarse`.
pub fn regroup(fine: &[Vec<i64>], coarse: &[Vec<i64>]) -> Option<Reassociation> {
    let mut next = 0;
    let mut groups = Vec::with_capacity(coarse.len());
    for group in coarse {
        let &last = group.last()?;
        let mut members = Vec::new();
        while let Some(&end) = fine.get(next).and_then(|g| g.last()) {
            if end > last {
                return None;
            }
            members.push(next as i64);
            next += 1;
            if end == last {
                break;
            }
        }
        groups.push(members);
    }
    Some(groups)
}

/// Infers the reassociation that collapses `from` to `to`. `None` if it is ambiguous in more than the position of unit
/// dimensions: inference from the left and from the right must agree.
pub fn collapsing(from: &[i64], to: &[i64]) -> Option<Reassociation> {
    if from.len() <= to.len() {
        return None;
    }
    if to.is_empty() {
        let fits = from.iter().all(|&d| d == 1 || d == DYNAMIC);
        return fits.then(|| vec![(0..from.len() as i64).collect()]);
    }
    let forward = ranges(from, to)?;
    let reversed = |shape: &[i64]| shape.iter().rev().copied().collect::<Vec<_>>();
    let backward = ranges(&reversed(from), &reversed(to))?;
    for (a, b) in forward.iter().zip(backward.iter().rev()) {
        let b = from.len() - b.end..from.len() - b.start;
        let common = a.start.max(b.start)..a.end.min(b.end);
        let all = a.start.min(b.start)..a.end.max(b.end);
        let unit = |i: usize| common.contains(&i) || from[i] == 1;
        if !all.into_iter().all(unit) {
            return None;
        }
    }
    Some(forward.into_iter().map(|r| (r.start as i64..r.end as i64).collect()).collect())
}

/// Returns the ranges of `from` that make up each dimension of `to`, chosen from the left, as short as possible. The
/// last range takes the rest.
fn ranges(from: &[i64], to: &[i64]) -> Option<Vec<Range<usize>>> {
    let mut out: Vec<Range<usize>> = Vec::with_capacity(to.len());
    let mut at = 0;
    for (i, &size) in to.iter().enumerate() {
        let all = i + 1 == to.len();
        let range = if size == DYNAMIC { dynamic_range(from, at, all) } else { static_range(from, at, size, all) }?;
        if range.start > at {
            // Skipped dimensions can only belong to a preceding dynamic dimension.
            let previous = out.last_mut().filter(|_| to[i - 1] == DYNAMIC)?;
            previous.end = range.start;
        }
        at = range.end;
        out.push(range);
    }
    (at == from.len()).then_some(out)
}

/// Returns the range from `start` to the first dynamic dimension, or to the end if `all`.
fn dynamic_range(from: &[i64], start: usize, all: bool) -> Option<Range<usize>> {
    let first = from.get(start..)?.iter().position(|&d| d == DYNAMIC)?;
    Some(start..if all { from.len() } else { start + first + 1 })
}

/// Returns the shortest static range from `start` whose product is `size`; with `all`, followed by all adjacent unit
/// dimensions.
fn static_range(from: &[i64], start: usize, size: i64, all: bool) -> Option<Range<usize>> {
    let mut begin = start;
    let mut product = 1i64;
    for end in start..from.len() {
        if from[end] == DYNAMIC {
            (begin, product) = (end + 1, 1);
            continue;
        }
        product = product.checked_mul(from[end])?;
        while product > size && begin < end {
            product /= from[begin].max(1);
            begin += 1;
        }
        if product == size {
            let units = if all { from[end + 1..].iter().take_while(|&&d| d == 1).count() } else { 0 };
            return Some(begin..end + 1 + units);
        }
    }
    None
}
