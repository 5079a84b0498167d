//! Products of 8-bit integers that stand for other numbers: zero points, and sums that are quantized again.

use super::{same, shape};
use crate::graph::Inputs;
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{Context, OpArgs, Tensor, Type};
use gradus_reference_kernels as kernels;

/// Whether an element type is an integer of eight bits.
pub(super) fn is_byte(ctx: &Context, elem: Type) -> bool {
    ctx.int_width(elem) == Some(8)
}

/// The element type of an operand.
pub(super) fn elem(args: &OpArgs<'_>, name: &str) -> Option<Type> {
    args.opt_operand(name).map(|v| args.ctx().element_type(args.module.value_type(v)))
}

/// What results are of, whose sums are of some type; that zero points and scales fit the factors and `n` columns.
pub(super) fn check(args: &OpArgs<'_>, n: i64, sums: Type) -> Result<Type, String> {
    let fits = |name: &str, of: Option<Type>, per_column: bool| {
        let shape = shape(args, name);
        let known = shape.is_empty() || per_column && matches!(shape, &[have] if same(have, n));
        args.opt_operand(name).is_none() || known && of == elem(args, name)
    };
    let bytes = |name: &str| elem(args, name).filter(|&elem| is_byte(args.ctx(), elem));
    if !fits("a_zero", bytes("a"), false) || !fits("b_zero", bytes("b"), true) {
        return Err(
            "requires zero points of 8-bit factors, one of the first, one or one for each column of the other".into()
        );
    }
    match (elem(args, "scale"), bytes("zero")) {
        (None, _) if args.opt_operand("zero").is_none() => Ok(sums),
        (Some(Type::F32), Some(made)) if sums == Type::I32 && fits("scale", Some(Type::F32), true) => {
            fits("zero", Some(made), false).then_some(made).ok_or_else(|| "requires one zero point of results".into())
        }
        _ => Err("requires a scale of 32-bit floats, one or one for each column, and a zero point of 8 bits, for sums of 8-bit \
                  integers"
            .into()),
    }
}

/// Sums as they are, or quantized.
pub(super) fn quantized(args: &OpArgs<'_>, data: &[Datum], sums: Tensor) -> Result<Tensor, Trap> {
    let inputs = Inputs::new(args, data);
    Ok(match (inputs.opt("scale")?, inputs.opt("zero")?) {
        (Some(scale), Some(zero)) => kernels::requantize(&sums, scale, zero)?,
        _ => sums,
    })
}
