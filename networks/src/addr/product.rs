//! The shared part of the products: the operands besides the factors, and the epilogue. Each operand is declared, checked and
//! evaluated in this file, and executed by kernels; passes copy all of them without naming them.

use super::{is_compatible, shape};
use crate::graph::Inputs;
use gradus_dialects::constraint::kind;
use gradus_ir::eval::{Datum, Trap, floats_to_tensor};
use gradus_ir::{AttrKind, Context, DYNAMIC, Module, Op, OpArgs, Tensor, Type, Violation};
use gradus_reference_kernels as kernels;

/// Declares a product: an op with these operands, attributes and result, and those that all products share. A declaration
/// has the op's name, the text of its factors, its `infer` and `eval`.
macro_rules! product_op {
    (
        $(#[doc = $doc:literal])*
        $name:literal $factors:literal infer $infer:ident eval $eval:ident
        pub struct $Op:ident { $($fields:tt)* }
    ) => {
        $(#[doc = $doc])*
        #[op(
            $name,
            traits = Traits::OPERAND_SEGMENTS,
            effects = Effects::MayUb,
            speculatable = is_inside,
            infer = $infer,
            extensions = &[&DeclaredCost(cost)],
            eval = $eval,
            format = concat!(
                $factors,
                " (`a_zero` $a_zero^)? (`b_zero` $b_zero^)? (`bias` $bias^)? (`plus` $add^)? (`scale` $scale^ `zero` $zero)?",
                " attr-dict `:` functional-type(operands, results)"
            )
        )]
        pub struct $Op {
            $($fields)*
            /// Zero point of `a`, a scalar.
            a_zero: OptOperand<RANKED_TENSOR>,
            /// Zero point of `b`, a scalar or `[N]`.
            b_zero: OptOperand<RANKED_TENSOR>,
            /// Bias, `[N]`.
            bias: OptOperand<RANKED_TENSOR>,
            /// Summand of each element, `[M, N]`.
            add: OptOperand<RANKED_TENSOR>,
            /// Requantization scale, a scalar or `[N]`.
            scale: OptOperand<RANKED_TENSOR>,
            /// Zero point of the requantized result, a scalar.
            zero: OptOperand<RANKED_TENSOR>,
            /// Lower bound of the result.
            low: OptAttribute<F32>,
            /// Upper bound of the result.
            high: OptAttribute<F32>,
            /// Function of each element, after the clamp.
            activation: OptAttribute<ACTIVATION>,
            /// Factor of the activation.
            factor: OptAttribute<F32>,
            /// Summand of its product with the factor.
            addend: OptAttribute<F32>,
        }
    };
}
pub(super) use product_op;

/// The activation functions of epilogues.
pub(super) const ACTIVATION: AttrKind =
    kind("the name of an activation: hard_swish", |c, a| c.as_str(a) == Some("hard_swish"));

/// The stages of the epilogue in the order in which they apply: operands, or attributes, of all products.
const EPILOGUE: [&str; 8] = ["bias", "add", "low", "high", "activation", "factor", "addend", "scale"];

/// Those that only floats have.
const OF_FLOATS: &[&str] = &["low", "high", "activation", "factor", "addend"];

/// Whether the epilogue of a product has this stage: an operand or attribute.
pub fn has_stage(m: &Module, product: Op, stage: &str) -> bool {
    m.args(product).is_some_and(|args| args.opt_operand(stage).is_some() || args.attr(stage).is_some())
}

/// Whether the epilogue of a product has a stage that applies after this one.
pub fn has_stage_after(m: &Module, product: Op, stage: &str) -> bool {
    EPILOGUE.iter().skip_while(|&&other| other != stage).skip(1).any(|later| has_stage(m, product, later))
}

/// Infers the type of the result: `[M, N]` of the accumulator type, i32 for 8-bit factors, or of the requantized type.
pub(super) fn infer_sums(args: &OpArgs<'_>, [m, n]: [i64; 2]) -> Result<Vec<Type>, Violation> {
    let ctx = args.ctx();
    let [a, b] = ["a", "b"].map(|name| elem(args, name));
    let are_bytes = [a, b].iter().flatten().all(|&elem| is_byte(ctx, elem));
    let elem = a.filter(|_| a == b || are_bytes).ok_or("requires 'a' and 'b' of the same element type")?;
    if elem == Type::I1 {
        return Err("requires factors that are numbers".into());
    }
    let sums = if are_bytes { Type::I32 } else { elem };
    let extents = result_extents(args, [m, n])?;
    check_summands(args, n, &extents, sums)?;
    Ok(vec![ctx.tensor_type(&extents, result_element_type(args, n, sums)?)])
}

/// Returns the extents of the result: `[M, N]`, or those of blocks of columns.
fn result_extents(args: &OpArgs<'_>, [m, n]: [i64; 2]) -> Result<Vec<i64>, Violation> {
    match args.int("block") {
        None => Ok(vec![m, n]),
        Some(block) if n == DYNAMIC => Ok(vec![DYNAMIC, m, block]),
        Some(block) if n.checked_rem(block) == Some(0) => Ok(vec![n / block, m, block]),
        Some(block) => Err(format!("requires columns that blocks of {block} divide, not {n}").into()),
    }
}

/// Checks the element types and shapes of `bias` and `add`, and that the stages for floats are of floats.
fn check_summands(args: &OpArgs<'_>, n: i64, result: &[i64], sums: Type) -> Result<(), Violation> {
    let ctx = args.ctx();
    is_of_sums(args, "bias", &[n], sums)?;
    is_of_sums(args, "add", result, sums)?;
    match OF_FLOATS.iter().find(|name| args.attr(name).is_some()) {
        Some(name) if ctx.float_kind(sums).is_none() => {
            Err(format!("requires floating-point sums for '{name}'").into())
        }
        _ => Ok(()),
    }
}

/// Checks that an operand, if present, has these extents and this element type.
pub(super) fn is_of_sums(args: &OpArgs<'_>, name: &str, extents: &[i64], sums: Type) -> Result<(), Violation> {
    let ctx = args.ctx();
    let Some(ty) = args.opt_operand(name).map(|v| args.module.value_type(v)) else { return Ok(()) };
    let is_same =
        |shape: &[i64]| shape.len() == extents.len() && shape.iter().zip(extents).all(|(&a, &b)| is_compatible(a, b));
    if ctx.shape(ty).is_some_and(is_same) && ctx.element_type(ty) == sums {
        return Ok(());
    }
    Err(format!("requires '{name}' of type {}", ctx.display_type(ctx.tensor_type(extents, sums))).into())
}

/// Whether an element type is an 8-bit integer.
fn is_byte(ctx: &Context, elem: Type) -> bool {
    ctx.int_width(elem) == Some(8)
}

/// Returns the element type of an operand.
fn elem(args: &OpArgs<'_>, name: &str) -> Option<Type> {
    args.opt_operand(name).map(|v| args.ctx().element_type(args.module.value_type(v)))
}

/// Checks zero points and scales against the factors and `n` columns. Returns the element type of the result.
fn result_element_type(args: &OpArgs<'_>, n: i64, sums: Type) -> Result<Type, Violation> {
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

/// Returns the zero points of both factors.
pub(super) fn zero_points(inputs: Inputs<'_>) -> Result<[Option<&Tensor>; 2], Trap> {
    Ok([inputs.opt("a_zero")?, inputs.opt("b_zero")?])
}

/// Applies the epilogue to sums: bias, summands, the stages for floats, and requantization.
pub(super) fn epilogue(args: &OpArgs<'_>, data: &[Datum], mut sums: Tensor) -> Result<Tensor, Trap> {
    let inputs = Inputs::new(args, data);
    if let Some(bias) = inputs.opt("bias")? {
        sums = kernels::add(&sums, bias)?;
    }
    let (extents, block) = (sums.shape().to_vec(), args.int("block"));
    let add = match (inputs.opt("add")?, block) {
        (Some(blocks), Some(_)) => Some(kernels::transpose(blocks, &[1, 0, 2])?.reshape(extents.clone())?),
        (add, _) => add.cloned(),
    };
    let sums = finished(args, add.as_ref(), sums)?;
    let rows = match (inputs.opt("scale")?, inputs.opt("zero")?) {
        (Some(scale), Some(zero)) => kernels::requantize(&sums, scale, zero)?,
        _ => sums,
    };
    let Some(block) = block else { return Ok(rows) };
    let (&[rows_count, columns], Ok(block)) = (&extents[..], usize::try_from(block)) else {
        return Err(Trap::unsupported("sums that are no rows"));
    };
    let blocks = columns.checked_div(block).filter(|blocks| blocks * block == columns);
    let blocks = blocks.ok_or_else(|| Trap::Ub(format!("blocks of {block} do not divide {columns} columns")))?;
    Ok(kernels::transpose(&rows.reshape(vec![rows_count, blocks, block])?, &[1, 0, 2])?)
}

/// Checks the summands of planes of channels: bias per channel, and a summand per element.
pub(super) fn check_plane_summands(
    args: &OpArgs<'_>,
    channels: i64,
    planes: &[i64],
    sums: Type,
) -> Result<(), Violation> {
    is_of_sums(args, "bias", &[channels], sums)?;
    is_of_sums(args, "add", planes, sums)
}

/// Applies the epilogue to the sums of channel planes, `[N, C, P]`. Returns `[N * C, P]`.
pub(super) fn plane_epilogue(args: &OpArgs<'_>, data: &[Datum], mut sums: Tensor) -> Result<Tensor, Trap> {
    let inputs = Inputs::new(args, data);
    let (planes, channels) = match *sums.shape() {
        [images, channels, positions] => (vec![images * channels, positions], channels),
        _ => return Err(Trap::unsupported("sums that are no planes")),
    };
    if let Some(bias) = inputs.opt("bias")? {
        sums = kernels::add(&sums, &bias.reshape(vec![channels, 1])?)?;
    }
    finished(args, inputs.opt("add")?, sums.reshape(planes)?)
}

/// Applies the epilogue to sums that begin with a bias.
pub(super) fn epilogue_of(
    args: &OpArgs<'_>,
    data: &[Datum],
    sums: impl FnOnce(Option<&Tensor>) -> Result<Tensor, Trap>,
) -> Result<Tensor, Trap> {
    let inputs = Inputs::new(args, data);
    finished(args, inputs.opt("add")?, sums(inputs.opt("bias")?)?)
}

/// Adds summands to sums with their bias, and applies the stages for floats.
fn finished(args: &OpArgs<'_>, add: Option<&Tensor>, mut sums: Tensor) -> Result<Tensor, Trap> {
    if let Some(add) = add {
        sums = kernels::add(&sums, add)?;
    }
    let dtype = sums.dtype();
    let number = |name: &str| {
        let value = args.attr(name).and_then(|a| args.ctx().as_float(a))?;
        Some(floats_to_tensor(dtype, &[], vec![value]))
    };
    let (low, high) = (number("low"), number("high"));
    if low.is_some() || high.is_some() {
        sums = kernels::clip(&sums, low.as_ref(), high.as_ref())?;
    }
    if args.attr("activation").is_some() {
        sums = kernels::hard_swish(&sums)?;
    }
    if let Some(factor) = number("factor") {
        sums = kernels::mul(&sums, &factor)?;
    }
    if let Some(addend) = number("addend") {
        sums = kernels::add(&sums, &addend)?;
    }
    Ok(sums)
}
