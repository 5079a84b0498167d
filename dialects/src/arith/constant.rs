//! `arith.constant`.

use crate::constraint::{ANY, TYPED_ATTR};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{AttrData, Int, Module, Op, OpArgs, Traits, Type, TypeData, Violation, op};

/// Constant integer, float, vector or tensor.
///
/// ```mlir
/// %c4 = arith.constant 4 : i32
/// %cst = arith.constant dense<1.0> : tensor<2xf32>
/// ```
#[op(
    "arith.constant",
    traits = Traits::CONSTANT_LIKE,
    format = "attr-dict $value",
    infer = infer,
    verify = verify,
    eval = eval,
    result_names = result_names
)]
pub struct ConstantOp {
    /// Value; its type is the result type.
    value: Attribute<TYPED_ATTR>,
    /// Constant.
    result: OpResult<ANY>,
}

fn infer(args: &OpArgs<'_>) -> Result<Vec<Type>, Violation> {
    let value = args.attr("value").ok_or("requires attribute 'value'")?;
    Ok(vec![args.ctx().attr_type(value).ok_or("requires a typed attribute 'value'")?])
}

fn verify(m: &Module, op: Op) -> Result<(), Violation> {
    let ctx = &m.ctx;
    let ty = m.value_type(m.result(op, 0));
    let elem = ctx.element_type(ty);
    if ctx.int_width(elem).is_some()
        && !matches!(ctx.type_data(elem), TypeData::Index)
        && ctx.int_type(ctx.int_width(elem).unwrap_or(0), gradus_ir::Signedness::Signless) != elem
    {
        return Err("integer return type must be signless".into());
    }
    if let TypeData::Vector { scalable, .. } = ctx.type_data(ty)
        && scalable.contains(&true)
        && let Some(AttrData::Dense(dense)) = m.inherent_attr(op, "value").map(|a| ctx.attr_data(a))
        && !dense.splat
    {
        return Err(
            "intializing scalable vectors with elements attribute is not supported unless it's a vector splat".into()
        );
    }
    if !ctx.is_shaped(ty) && ctx.int_width(ty).is_none() && ctx.float_kind(ty).is_none() {
        return Err("value must be an integer, float, or elements attribute".into());
    }
    Ok(())
}

fn eval(args: &OpArgs<'_>, _: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let datum = args.attr("value").and_then(|a| args.ctx().attr_datum(a));
    Ok(vec![datum.ok_or_else(|| Trap::unsupported("a constant of this type"))?])
}

/// Returns mlir-opt's name of a constant: `c4_i32`, `c4` for an index, `true`, or `cst`.
fn result_names(m: &Module, op: Op) -> Vec<(usize, String)> {
    let Some(value) = m.constant(m.result(op, 0)) else { return Vec::new() };
    let name = match m.ctx.attr_data(value) {
        AttrData::Integer { ty: Type::I1, value: Int::Small(v) } => if *v == 0 { "false" } else { "true" }.to_owned(),
        AttrData::Integer { ty: Type::INDEX, value: Int::Small(v) } => format!("c{v}"),
        AttrData::Integer { ty, value: Int::Small(v) } => format!("c{v}_{}", m.ctx.display_type(*ty)),
        AttrData::Integer { value: Int::Wide(_), .. } => format!("c{}", m.ctx.display_attr(value).replace(" : ", "_")),
        _ => "cst".to_owned(),
    };
    vec![(0, name)]
}
