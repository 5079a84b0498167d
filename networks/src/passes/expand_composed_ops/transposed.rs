//! Transposed convolutions.

use super::{ComposedOp, known_product};
use crate::graph::{ConvOp, ConvTransposeOp, transposed_convolution};
use gradus_ir::{Module, Op, OpDecl, Refusal, Type, Value};

/// Emits a transposed convolution whose windows are at distance 1, with finite constant filters, as a convolution: its filters have their taps in
/// reverse, and its padding is what their reach exceeds that of the transposed one by.
pub(super) fn convolution(c: &mut ComposedOp<'_, '_>) -> Result<Vec<Value>, Refusal> {
    let (x, w, bias) = (c.operand("x")?, c.operand("w")?, c.optional("b"));
    let (groups, window) = transposed_convolution(c.e.module(), c.op).map_err(|_| "an image of unknown extents")?;
    let filters = c.known(w)?;
    if !filters.to_f64().iter().all(|weight| weight.is_finite()) {
        return Err(Refusal::of(w, "filters that are not finite"));
    }
    let (mut begins, mut ends) = (Vec::new(), Vec::new());
    for axis in 0..window.input.len() {
        let reach = (window.kernel[axis] - 1) * window.dilations[axis];
        let begin = reach.checked_sub(window.pads_begin[axis]).ok_or("padding that exceeds the reach of filters")?;
        let end = (window.output[axis] + reach).checked_sub(window.input[axis] + begin);
        begins.push(begin as i64);
        ends.push(end.ok_or("padding that exceeds the reach of filters")? as i64);
    }
    let shape = c.shape(w)?;
    let &[channels, per_group, ..] = &shape[..] else { return Err("filters without channels".into()) };
    let groups = groups as i64;
    let (kernel, rank) = (&shape[2..], shape.len() as i64);
    known_product(&shape)?;
    let apart = c.e.reshape(w, 0, &[&[groups, channels / groups, per_group], kernel].concat())?;
    let perm: Vec<i64> = [0, 2, 1].into_iter().chain(3..=rank).collect();
    let mut filters = c.e.transpose(apart, &perm);
    filters = c.e.reshape(filters, 0, &[&[groups * per_group, channels / groups], kernel].concat())?;
    for (axis, taps) in (2..rank).zip(kernel) {
        filters = c.e.strided_slice(filters, axis, [taps - 1, i64::MIN], -1);
    }
    let ctx = c.e.ctx();
    let group = ctx.int_attr(Type::I64, groups);
    let pads = ctx.i64_array_attr(&[begins, ends].concat());
    let attrs = [("dilations", c.attr("dilations")), ("group", Some(group)), ("pads", Some(pads))];
    Ok(vec![c.e.op(ConvOp::INFO, x, &[Some(filters), bias], &attrs)])
}

/// Whether an op is a transposed convolution that is no convolution: its windows are further apart, or its filters are not constant.
pub(super) fn stays(m: &Module, op: Op) -> bool {
    let Some(conv) = ConvTransposeOp::cast(m, op) else { return false };
    let strides = m.args(op).and_then(|args| args.ints("strides")).unwrap_or_default();
    strides.iter().any(|&stride| stride != 1) || m.constant(conv.w(m)).is_none()
}
