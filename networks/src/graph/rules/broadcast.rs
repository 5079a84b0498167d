//! The mapping of broadcasting products to depthwise convolutions.
//!
//! A convolution of `[batch, groups, positions, 1]` with `[groups * filters, 1, 1, 1]` multiplies element `(n, g, p)` by
//! factor `(g, f)`; its result is `[batch, groups * filters, positions, 1]`. So it computes each product whose axes are, in
//! this order: of the left operand only, of both, of the right one only, of the left one only. Reshapes do the rest; an image by a number for
//! each channel stays one.
//! Other products have it after one or both operands are expanded.

use super::extents::inferred_shape;
use gradus_ir::rules::Arg;
use gradus_ir::{Attr, DYNAMIC, Module, Type};

/// The extents of a convolution that computes a product. Only `batch` may be [`DYNAMIC`]: a window fits no image without
/// positions.
struct Mapping {
    /// Product of the leading axes of the left operand.
    batch: i64,
    /// Product of the axes of both operands.
    groups: i64,
    /// Product of the axes of the right operand.
    filters: i64,
    /// Product of the trailing axes of the left operand.
    positions: i64,
}

/// Returns the extents of two types per axis of the result: the shorter one is extended by leading ones.
fn aligned(m: &Module, x: &[Arg]) -> Option<Vec<[i64; 2]>> {
    let (a, b) = (m.ctx.shape(x[0].ty())?, m.ctx.shape(x[1].ty())?);
    let rank = a.len().max(b.len());
    let at = |dims: &[i64], i: usize| if i + dims.len() < rank { 1 } else { dims[i + dims.len() - rank] };
    Some((0..rank).map(|i| [at(a, i), at(b, i)]).collect())
}

/// Whether the right one of two aligned types has one element.
fn has_one_element(pairs: &[[i64; 2]]) -> bool {
    pairs.iter().all(|&[_, b]| b == 1)
}

/// Multiplies extents, one of which may be dynamic. Fails for an extent of 0.
fn times(a: i64, b: i64) -> Option<i64> {
    match (a, b) {
        (0, _) | (_, 0) | (DYNAMIC, DYNAMIC) => None,
        (DYNAMIC, _) | (_, DYNAMIC) => Some(DYNAMIC),
        _ => a.checked_mul(b),
    }
}

/// Returns the mapping of the product of two types. Fails if the axes have another order, or if extents that are known
/// only at run time decide it.
fn mapping(m: &Module, x: &[Arg]) -> Option<Mapping> {
    let (pairs, mut extents, mut last) = (aligned(m, x)?, [1; 4], 0);
    let one_element = has_one_element(&pairs);
    for [a, b] in pairs {
        let (at, extent) = match [a, b] {
            [1, 1] => continue,
            // The positions of an image are multiplied in parallel, and priced if the batch is dynamic.
            [a, 1] if last == 0 && (a == DYNAMIC || !one_element) => (0, a),
            [DYNAMIC, _] | [_, DYNAMIC] => return None,
            [a, 1] => (3, a),
            [1, b] => (2, b),
            [a, b] if a == b => (1, a),
            _ => return None,
        };
        if at < last {
            return None;
        }
        (extents[at], last) = (times(extents[at], extent)?, at);
    }
    let [batch, groups, filters, positions] = extents;
    Some(Mapping { batch, groups, filters, positions })
}

/// Returns the number of groups of the convolution that multiplies two types.
pub(super) fn factor_groups(m: &Module, x: &[Arg]) -> Option<Attr> {
    Some(m.ctx.int_attr(Type::I64, mapping(m, x)?.groups))
}

/// Returns the shape of the left operand as the image of that convolution: its own, if it is an image whose groups are the channels.
pub(super) fn as_features(m: &Module, x: &[Arg]) -> Option<Attr> {
    let Mapping { batch, groups, positions, .. } = mapping(m, x)?;
    let own = m.ctx.shape(x[0].ty())?;
    let is_image =
        |[n, c, h, w]: [i64; 4]| [n, c] == [batch, groups] && h > 0 && w > 0 && h.checked_mul(w) == Some(positions);
    match <[i64; 4]>::try_from(own) {
        Ok(image) if is_image(image) => inferred_shape(m, own),
        _ => inferred_shape(m, &[batch, groups, positions, 1]),
    }
}

/// Returns the shape of the right operand as the filters of that convolution.
pub(super) fn as_factors(m: &Module, x: &[Arg]) -> Option<Attr> {
    let Mapping { groups, filters, .. } = mapping(m, x)?;
    inferred_shape(m, &[groups.checked_mul(filters)?, 1, 1, 1])
}

/// Returns the shape with which the right operand of a product is expanded: one element to one per channel, so that
/// groups are convolved in parallel; otherwise, if the product has no mapping, to all axes but the first, which may be
/// dynamic. Fails if this changes nothing.
pub(super) fn expansion(m: &Module, x: &[Arg]) -> Option<Attr> {
    let pairs = aligned(m, x)?;
    let result = |&[a, b]: &[i64; 2]| if a == 1 || a == DYNAMIC && b != 1 { b } else { a };
    let result: Vec<i64> = pairs.iter().map(result).collect();
    let mut sample = result.clone();
    if sample.len() > 1 {
        sample[0] = 1;
    }
    let shape = if has_one_element(&pairs) {
        let channel = if result.len() > 2 { 1 } else { result.len().checked_sub(1)? };
        let ones = (0..result.len()).map(|i| if i == channel { result[i] } else { 1 });
        if [1, DYNAMIC].contains(&result[channel]) { sample } else { ones.collect() }
    } else if mapping(m, x).is_none() {
        sample
    } else {
        return None;
    };
    let grows = pairs.iter().zip(&shape).any(|(&[_, b], &extent)| b == 1 && extent != 1);
    if grows && !shape.contains(&DYNAMIC) { inferred_shape(m, &shape) } else { None }
}

/// Whether extents that are known only at run time decide how two types broadcast.
pub(super) fn decided_at_run_time(m: &Module, x: &[Arg]) -> bool {
    mapping(m, x).is_none() && aligned(m, x).is_some_and(|pairs| pairs.as_flattened().contains(&DYNAMIC))
}
