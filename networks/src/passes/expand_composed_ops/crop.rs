//! Crops around the center.

use super::{ComposedOp, position};
use crate::graph::PadOp;
use gradus_ir::{OpDecl, Refusal, Value};

/// Emits a slice of each axis that is longer than wanted, and a padding of the others. An odd element is cut or added at the end.
pub(super) fn center(c: &mut ComposedOp<'_, '_>) -> Result<Vec<Value>, Refusal> {
    let (mut x, shape) = (c.operand("x")?, c.operand("shape")?);
    let sizes = c.known(shape)?.to_i64().ok_or(Refusal::of(shape, "extents that are no integers"))?;
    let extents = c.shape(x)?;
    let axes = match c.ints("axes") {
        axes if axes.is_empty() => (0..extents.len()).collect(),
        axes => axes.into_iter().map(|axis| position(axis, extents.len())).collect::<Result<Vec<usize>, _>>()?,
    };
    if axes.len() != sizes.len() {
        return Err(Refusal::of(shape, "extents of other axes"));
    }
    for (axis, size) in axes.into_iter().zip(sizes) {
        let extent = extents[axis];
        if extent < 0 || size < 0 {
            return Err(Refusal::of(x, "an extent that is not known"));
        }
        if size < extent {
            let start = (extent - size) / 2;
            x = c.e.slice(x, axis as i64, start, start + size);
        } else if size > extent {
            let before = (size - extent) / 2;
            let (pads, axes) = (c.e.list(&[before, size - extent - before]), c.e.list(&[axis as i64]));
            x = c.e.op(PadOp::INFO, x, &[Some(pads), None, Some(axes)], &[]);
        }
    }
    Ok(vec![x])
}
