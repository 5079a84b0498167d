//! Quantized products: zero points of 8-bit factors and requantization of sums.

use super::{is_compatible, shape};
use crate::graph::Inputs;
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{Context, OpArgs, Tensor, Type};
use gradus_reference_kernels as kernels;

/// Whether an element type is an 8-bit integer.
pub(super) fn is_byte(ctx: &Context, elem: Type) -> bool {
    ctx.int_width(elem) == Some(8)
}

/// Returns the element type of an operand.
pub(super) fn elem(args: &OpArgs<'_>, name: &str) -> Option<Type> {
    args.opt_operand(name).map(|v| args.ctx().element_type(args.module.value_type(v)))
}

/// Checks zero points and scales against the factors and `n` columns. Returns the element type of the result.
pub(super) fn result_element_type(args: &OpArgs<'_>, n: i64, sums: Type) -> Result<Type, String> {
    let fits = |name: &str, of: Option<Type>, per_column: bool| {
        let shape = shape(args, name);
        let known = shape.is_empty() || per_column && matches!(shape, &[have] if is_compatible(have, n));
        args.opt_operand(name).is_none() || known && of == elem(args, name)
    };
    let bytes = |name: &str| elem(args, name).filter(|&elem| is_byte(args.ctx(), elem));
    if !fits("a_zero", bytes("a"), false) || !fits("b_zero", bytes("b"), true) {
        return Err(
            "requires scalar 'a_zero' and scalar or per-column 'b_zero' of the element types of 8-bit factors".into()
        );
    }
    match (elem(args, "scale"), bytes("zero")) {
        (None, _) if args.opt_operand("zero").is_none() => Ok(sums),
        (Some(Type::F32), Some(made)) if sums == Type::I32 && fits("scale", Some(Type::F32), true) => {
            fits("zero", Some(made), false).then_some(made).ok_or_else(|| "requires a scalar 'zero'".into())
        }
        _ => {
            Err("requires scalar or per-column 'scale' of type f32 and an 8-bit 'zero', for sums of 8-bit integers"
                .into())
        }
    }
}

/// Requantizes the sums if the op has a scale.
pub(super) fn quantized(args: &OpArgs<'_>, data: &[Datum], sums: Tensor) -> Result<Tensor, Trap> {
    let inputs = Inputs::new(args, data);
    Ok(match (inputs.opt("scale")?, inputs.opt("zero")?) {
        (Some(scale), Some(zero)) => kernels::requantize(&sums, scale, zero)?,
        _ => sums,
    })
}
