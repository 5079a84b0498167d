//! Convolutions with state.

use super::{ComposedOp, known_product};
use crate::graph::{ConvOp, SwishOp, activated};
use gradus_ir::{OpDecl, Refusal, Type, Value};

/// Emits a convolution of the past and the new positions, and the last positions.
pub(super) fn causal_convolution(c: &mut ComposedOp<'_, '_>) -> Result<Vec<Value>, Refusal> {
    let (x, weight, bias) = (c.operand("x")?, c.operand("weight")?, c.optional("bias"));
    let has_activation = activated(&c.args()?).map_err(|_| "an activation that is not known")?;
    let (image, filters) = (c.shape(x)?, c.shape(weight)?);
    let (&[batch, channels, length], &[_, _, taps]) = (&image[..], &filters[..]) else {
        return Err("operands that are not of rank 3".into());
    };
    known_product(&[channels, length, taps])?;
    c.in_type_of(x)?;
    let past = match c.optional("past_state") {
        Some(past) => past,
        None => {
            known_product(&[batch])?;
            c.e.filled(&[batch, channels, taps - 1], 0.0)
        }
    };
    let all = if taps > 1 { c.e.concat(&[past, x], 2) } else { x };
    let group = c.e.module().ctx.int_attr(Type::I64, channels);
    let mut y = c.e.op(ConvOp::INFO, all, &[Some(weight), bias], &[("group", Some(group))]);
    if has_activation {
        y = c.e.op(SwishOp::INFO, y, &[], &[]);
    }
    Ok(vec![y, c.e.slice(all, 2, length, i64::MAX)])
}
