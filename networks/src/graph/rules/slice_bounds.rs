//! Slice bounds of merged tensors, for all axes, counted from the front.

use super::extents::{dims, list, positions, shape};
use gradus_ir::rules::Arg;
use gradus_ir::{Attr, Module};

/// Returns the start of a slice: all zeros.
pub(super) fn origin(m: &Module, x: &[Arg]) -> Option<Attr> {
    Some(list(m, vec![0; dims(m, x[0])?.len()]))
}

/// Returns the start of the tensor that follows `first` along an axis.
pub(super) fn start_after(m: &Module, first: Arg, axis: usize) -> Option<Attr> {
    let dims = dims(m, first)?;
    let mut start = vec![0; dims.len()];
    *start.get_mut(axis)? = *dims.get(axis)?;
    Some(list(m, start))
}

/// Returns the end of the tensor that follows another along an axis.
pub(super) fn end_after(m: &Module, x: &[Arg], axis: usize) -> Option<Attr> {
    let (first, mut end) = (dims(m, x[0])?, dims(m, x[1])?);
    let last = end.get_mut(axis)?;
    *last = last.checked_add(*first.get(axis)?)?;
    shape(m, &end)
}

/// Whether filters can be concatenated along their first axis.
pub(super) fn stackable(m: &Module, x: &[Arg]) -> bool {
    let (Some(a), Some(b)) = (dims(m, x[0]), dims(m, x[1])) else { return false };
    a.len() > 1 && a.len() == b.len() && a[1..] == b[1..]
}

/// Translates an index in a slice to one in the whole: index, start of the slice, type of the slice.
pub(super) fn shifted(m: &Module, x: &[Arg]) -> Option<Attr> {
    let (at, start, part) = (positions(m, x[0])?, positions(m, x[1])?, dims(m, x[2])?);
    let counted = |((&at, &start), &extent): ((&i64, &i64), &i64)| {
        let inside = if at < 0 { at.checked_add(extent)? } else { at };
        // An index into an empty slice has no position in the whole.
        let known = start >= 0 && extent > 0;
        known.then(|| inside.clamp(0, extent).checked_add(start)).flatten()
    };
    if at.len() != part.len() || start.len() != part.len() {
        return None;
    }
    let all: Option<Vec<i64>> = at.iter().zip(&start).zip(&part).map(counted).collect();
    all.map(|all| list(m, all))
}

/// Whether filters are 1x1.
pub(super) fn is_1x1(m: &Module, x: &[Arg]) -> bool {
    dims(m, x[0]).is_some_and(|d| d.len() == 4 && d[2..] == [1, 1])
}
