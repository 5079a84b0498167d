//! Element-wise conversions.

use super::OVERFLOW;
use super::float::{floats, round_to};
use super::int::{unsigned, width, wrap};
use crate::constraint::{ANY, FLOAT_LIKE, INT_OR_INDEX_LIKE, SIGNLESS_INT_LIKE, kind};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::float::{FloatKind, from_f64, to_f64};
use gradus_ir::scalar::Scalar;
use gradus_ir::{
    Attr, AttrData, AttrKind, AttrText, Context, Folded, Int, Module, Op, OpArgs, Traits, Type, TypeData, Violation, op,
};

/// Rounding mode of `arith.truncf`.
pub const ROUNDING: AttrKind = AttrKind {
    text: AttrText::Cases(
        Type::I32,
        &[("to_nearest_even", 0), ("downward", 1), ("upward", 2), ("toward_zero", 3), ("to_nearest_away", 4)],
    ),
    ..kind("Floating point rounding mode", |c, a| c.as_int(a).is_some_and(|v| (0..5).contains(&v)))
};

macro_rules! casts {
    ($($Op:ident $name:literal $doc:literal $from:ident -> $to:ident, $fold:path, $verify:path, $key:ident = $meaning:path $(, $more:ident)?;)*) => { $(
        #[doc = $doc]
        #[op(
            $name,
            traits = Traits::ELEMENTWISE$(.and(Traits::$more))?,
            fold = $fold,
            verify = $verify,
            $key = $meaning,
            format = "$in attr-dict `:` type($in) `to` type($out)"
        )]
        pub struct $Op {
            /// Operand.
            #[name = "in"]
            input: Operand<$from>,
            /// Converted value.
            out: OpResult<$to>,
        }
    )* };
}

casts! {
    ExtUIOp "arith.extui" "Zero extension of an integer.\n\n```mlir\n%0 = arith.extui %a : i8 to i32\n```" SIGNLESS_INT_LIKE -> SIGNLESS_INT_LIKE, no_fold, wider, scalar = extui;
    ExtSIOp "arith.extsi" "Sign extension of an integer.\n\n```mlir\n%0 = arith.extsi %a : i8 to i32\n```" SIGNLESS_INT_LIKE -> SIGNLESS_INT_LIKE, no_fold, wider, scalar = extsi;
    UIToFPOp "arith.uitofp" "Converts an unsigned integer to a float, rounding to nearest.\n\n```mlir\n%0 = arith.uitofp %a : i32 to f32\n```" SIGNLESS_INT_LIKE -> FLOAT_LIKE, no_fold, alike, scalar = uitofp;
    SIToFPOp "arith.sitofp" "Converts a signed integer to a float, rounding to nearest.\n\n```mlir\n%0 = arith.sitofp %a : i32 to f32\n```" SIGNLESS_INT_LIKE -> FLOAT_LIKE, no_fold, alike, scalar = sitofp;
    FPToUIOp "arith.fptoui" "Converts a float to an unsigned integer, rounding toward zero; poison if the result does not fit.\n\n```mlir\n%0 = arith.fptoui %a : f32 to i32\n```" FLOAT_LIKE -> SIGNLESS_INT_LIKE, no_fold, alike, scalar = fptoui;
    FPToSIOp "arith.fptosi" "Converts a float to a signed integer, rounding toward zero; poison if the result does not fit.\n\n```mlir\n%0 = arith.fptosi %a : f32 to i32\n```" FLOAT_LIKE -> SIGNLESS_INT_LIKE, no_fold, alike, scalar = fptosi;
    IndexCastOp "arith.index_cast" "Converts between index and an integer: sign extension or truncation.\n\n```mlir\n%0 = arith.index_cast %a : i32 to index\n```" INT_OR_INDEX_LIKE -> INT_OR_INDEX_LIKE, no_fold, index_and_integer, scalar = index_cast;
    IndexCastUIOp "arith.index_castui" "Converts between index and an integer: zero extension or truncation.\n\n```mlir\n%0 = arith.index_castui %a : i32 to index\n```" INT_OR_INDEX_LIKE -> INT_OR_INDEX_LIKE, no_fold, index_and_integer, scalar = extui;
    BitcastOp "arith.bitcast" "Reinterprets the bits as a type of the same width; poison for a NaN of another type.\n\n```mlir\n%0 = arith.bitcast %a : f32 to i32\n```" ANY -> ANY, fold_bitcast, same_width, eval = bitcast, MAY_POISON;
}

/// Extends a float to a wider type. Exact.
///
/// ```mlir
/// %0 = arith.extf %a : f16 to f32
/// ```
#[op(
    "arith.extf",
    traits = Traits::ELEMENTWISE,
    verify = wider,
    scalar = convert_float,
    format = "$in (`fastmath` `` $fastmath^)? attr-dict `:` type($in) `to` type($out)"
)]
pub struct ExtFOp {
    /// Operand.
    #[name = "in"]
    input: Operand<FLOAT_LIKE>,
    /// Fast-math flags.
    fastmath: OptAttribute<FASTMATH>,
    /// Extended value.
    out: OpResult<FLOAT_LIKE>,
}

use super::FASTMATH;

/// Truncates an integer to its low bits.
///
/// ```mlir
/// %0 = arith.trunci %a overflow<nsw> : i32 to i8
/// ```
#[op(
    "arith.trunci",
    traits = Traits::ELEMENTWISE.and(Traits::PROMISES),
    verify = narrower,
    scalar = trunci,
    format = "$in (`overflow` `` $overflowFlags^)? attr-dict `:` type($in) `to` type($out)"
)]
pub struct TruncIOp {
    /// Operand.
    #[name = "in"]
    input: Operand<SIGNLESS_INT_LIKE>,
    /// Overflow flags: `nsw` and `nuw` yield poison if truncation changes the signed or unsigned value.
    #[name = "overflowFlags"]
    #[default = "#arith.overflow<none>"]
    overflow_flags: Attribute<OVERFLOW>,
    /// Truncated value.
    out: OpResult<SIGNLESS_INT_LIKE>,
}

/// Rounds a float to a narrower type.
///
/// ```mlir
/// %0 = arith.truncf %a to_nearest_even : f64 to f32
/// ```
#[op(
    "arith.truncf",
    traits = Traits::ELEMENTWISE,
    verify = narrower,
    scalar = truncf,
    format = "$in ($roundingmode^)? (`fastmath` `` $fastmath^)? attr-dict `:` type($in) `to` type($out)"
)]
pub struct TruncFOp {
    /// Operand.
    #[name = "in"]
    input: Operand<FLOAT_LIKE>,
    /// Rounding mode; to nearest even when absent.
    roundingmode: OptAttribute<ROUNDING>,
    /// Fast-math flags.
    fastmath: OptAttribute<FASTMATH>,
    /// Rounded value.
    out: OpResult<FLOAT_LIKE>,
}

// ---- checks

fn bits(ctx: &Context, ty: Type) -> Option<u32> {
    let elem = ctx.element_type(ty);
    ctx.int_width(elem).or_else(|| ctx.float_kind(elem).map(FloatKind::width))
}

/// Returns the element types of operand and result.
fn ends(m: &Module, op: Op) -> (Type, Type) {
    (m.value_type(m.operands(op)[0]), m.value_type(m.result(op, 0)))
}

fn incompatible(m: &Module, op: Op) -> String {
    let (from, to) = ends(m, op);
    let (from, to) = (m.ctx.display_type(from), m.ctx.display_type(to));
    format!("operand type '{from}' and result type '{to}' are cast incompatible")
}

/// Verifies that operand and result differ in the element type only: shape, scalability and encoding are equal.
fn alike(m: &Module, op: Op) -> Result<(), Violation> {
    let (from, to) = ends(m, op);
    let scalable = |t: Type| match m.ctx.type_data(t) {
        TypeData::Vector { scalable, .. } => scalable.clone(),
        _ => Box::default(),
    };
    if scalable(from) != scalable(to) {
        return Err("requires the same shape for all operands and results".into());
    }
    if m.ctx.shape(from) != m.ctx.shape(to) {
        return Err("failed to verify that input and output have the same tensor dimensions".into());
    }
    if m.ctx.with_element(from, m.ctx.element_type(to)) == to { Ok(()) } else { Err(incompatible(m, op).into()) }
}

fn wider(m: &Module, op: Op) -> Result<(), Violation> {
    alike(m, op)?;
    let (from, to) = ends(m, op);
    if bits(&m.ctx, from) < bits(&m.ctx, to) {
        return Ok(());
    }
    let to = m.ctx.display_type(to);
    Err(format!("result type '{to}' must be wider than operand type '{}'", m.ctx.display_type(from)).into())
}

fn narrower(m: &Module, op: Op) -> Result<(), Violation> {
    alike(m, op)?;
    let (from, to) = ends(m, op);
    if bits(&m.ctx, from) > bits(&m.ctx, to) {
        return Ok(());
    }
    let to = m.ctx.display_type(to);
    Err(format!("result type '{to}' must be shorter than operand type '{}'", m.ctx.display_type(from)).into())
}

fn index_and_integer(m: &Module, op: Op) -> Result<(), Violation> {
    alike(m, op)?;
    let (from, to) = ends(m, op);
    let index = |t| m.ctx.element_type(t) == Type::INDEX;
    if index(from) != index(to) { Ok(()) } else { Err(incompatible(m, op).into()) }
}

fn same_width(m: &Module, op: Op) -> Result<(), Violation> {
    alike(m, op)?;
    let (from, to) = ends(m, op);
    let (a, b) = (bits(&m.ctx, from), bits(&m.ctx, to));
    let index = |t| m.ctx.element_type(t) == Type::INDEX;
    if a.is_some() && a == b && !index(from) && !index(to) { Ok(()) } else { Err(incompatible(m, op).into()) }
}

// ---- identities

fn no_fold(_: &OpArgs<'_>, _: &[Option<Attr>]) -> Option<Folded> {
    None
}

/// bitcast(x) to its own type = x. Constant bits are copied, since evaluation would lose NaN payloads.
fn fold_bitcast(args: &OpArgs<'_>, c: &[Option<Attr>]) -> Option<Folded> {
    let ctx = args.ctx();
    let &[to] = args.result_types else { return None };
    if to == args.operand_type(0) {
        return Some(args.operands[0].into());
    }
    let raw = match *ctx.attr_data(c[0]?) {
        AttrData::Float { bits, .. } => bits[0],
        AttrData::Integer { value: Int::Small(v), .. } => v as u64,
        _ => return None,
    };
    if let Some(kind) = ctx.float_kind(to).filter(|k| k.width() <= 64) {
        let bits = [raw & (u64::MAX >> (64 - kind.width())), 0];
        return Some(ctx.attr(AttrData::Float { ty: to, bits }).into());
    }
    ctx.int_width(to).map(|_| ctx.int_attr(to, raw as i64).into())
}

// ---- semantics

/// Returns the element type of the result, and the storage type of its tensors.
fn target<'a>(args: &OpArgs<'a>) -> Result<(Type, Option<gradus_ir::DType>), Trap> {
    let ty = *args.result_types.first().ok_or_else(|| Trap::unsupported("a cast without a result type"))?;
    let elem = args.ctx().element_type(ty);
    if bits(args.ctx(), elem).is_none_or(|w| w > 64 || w == 0) {
        return Err(Trap::unsupported("values of this width"));
    }
    Ok((elem, args.ctx().dtype(elem)))
}

/// Converts integer to integer; `f` gets the operand and both widths.
fn int_to_int(
    args: &OpArgs<'_>,
    f: impl Fn(i64, u32, u32) -> Option<i64> + Send + Sync + 'static,
) -> Result<Scalar, Trap> {
    let from = width(args)?;
    let (elem, dtype) = target(args)?;
    let to = args.ctx().int_width(elem).unwrap_or(64);
    Ok(Scalar::Ints(Box::new(move |x| Ok(f(x[0], from, to))), dtype))
}

fn extui(args: &OpArgs<'_>) -> Result<Scalar, Trap> {
    int_to_int(args, |v, from, to| Some(wrap(i128::from(unsigned(v, from)), to)))
}

fn extsi(args: &OpArgs<'_>) -> Result<Scalar, Trap> {
    int_to_int(args, |v, from, to| Some(wrap(i128::from(wrap(i128::from(v), from)), to)))
}

fn index_cast(args: &OpArgs<'_>) -> Result<Scalar, Trap> {
    extsi(args)
}

fn trunci(args: &OpArgs<'_>) -> Result<Scalar, Trap> {
    let (nsw, nuw) = super::overflow_promises(args);
    int_to_int(args, move |v, from, to| {
        let cut = wrap(i128::from(v), to);
        let broken = (nsw && cut != v) || (nuw && unsigned(cut, to) != unsigned(v, from));
        (!broken).then_some(cut)
    })
}

fn int_to_float(args: &OpArgs<'_>, f: impl Fn(i64) -> i128 + Send + Sync + 'static) -> Result<Scalar, Trap> {
    let (elem, dtype) = target(args)?;
    let kind = args.ctx().float_kind(elem).ok_or_else(|| Trap::unsupported("floats of this type"))?;
    Ok(Scalar::IntsToFloat(Box::new(move |x| round_to(kind, int_as_f64(f(x[0]), kind))), dtype))
}

/// Converts to `f64`, rounding directly to `f32` where double rounding would differ.
fn int_as_f64(v: i128, kind: FloatKind) -> f64 {
    if kind == FloatKind::F32 { f64::from(v as f32) } else { v as f64 }
}

fn uitofp(args: &OpArgs<'_>) -> Result<Scalar, Trap> {
    let w = width(args)?;
    int_to_float(args, move |v| i128::from(unsigned(v, w)))
}

fn sitofp(args: &OpArgs<'_>) -> Result<Scalar, Trap> {
    let w = width(args)?;
    int_to_float(args, move |v| i128::from(wrap(i128::from(v), w)))
}

/// Converts float to integer; poison if the truncated value is outside `low..high`.
fn float_to_int(args: &OpArgs<'_>, signed: bool) -> Result<Scalar, Trap> {
    let (elem, dtype) = target(args)?;
    let w = args.ctx().int_width(elem).unwrap_or(64);
    let (low, high) =
        if signed { (-(2f64.powi(w as i32 - 1)), 2f64.powi(w as i32 - 1)) } else { (0.0, 2f64.powi(w as i32)) };
    let convert = move |x: &[f64]| {
        let v = x[0].trunc();
        (v >= low && v < high).then(|| wrap(v as i128, w))
    };
    Ok(Scalar::FloatsToInt(Box::new(convert), dtype))
}

fn fptoui(args: &OpArgs<'_>) -> Result<Scalar, Trap> {
    float_to_int(args, false)
}

fn fptosi(args: &OpArgs<'_>) -> Result<Scalar, Trap> {
    float_to_int(args, true)
}

fn convert_float(args: &OpArgs<'_>) -> Result<Scalar, Trap> {
    floats(args, |x| Some(x[0]))
}

fn truncf(args: &OpArgs<'_>) -> Result<Scalar, Trap> {
    let ctx = args.ctx();
    let (mode, elem) = (args.int("roundingmode").unwrap_or(0), ctx.element_type(args.result_types[0]));
    match ctx.float_kind(elem) {
        Some(kind) if mode != 0 => floats(args, move |x| Some(rounded_by(mode, kind, x[0]))),
        _ => convert_float(args),
    }
}

/// Rounds to a format in a direction: 1 down, 2 up, 3 to zero, 4 to the nearest number, away from zero between two.
fn rounded_by(mode: i64, kind: FloatKind, x: f64) -> f64 {
    let (size, nearest) = (x.abs(), round_to(kind, x.abs()));
    if !size.is_finite() || nearest == size {
        return round_to(kind, x);
    }
    // Magnitudes are in the order of their encodings.
    let code = from_f64(kind, nearest);
    let other = if nearest < size { code.checked_add(1) } else { code.checked_sub(1) };
    let other = other.map(|code| to_f64(kind, code)).filter(|other| !other.is_nan()).unwrap_or(nearest);
    let (low, high) = (nearest.min(other), nearest.max(other));
    let is_away = match mode {
        1 => x < 0.0,
        2 => x > 0.0,
        3 => false,
        _ if size - low == high - size => true,
        _ => nearest == high,
    };
    (if is_away { high } else { low }).copysign(x)
}

fn bitcast(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let ctx = args.ctx();
    let (to, dtype) = target(args)?;
    let from = ctx.element_type(args.operand_type(0));
    if let Datum::Tensor(tensor) = &data[0] {
        let dtype = dtype.ok_or_else(|| Trap::unsupported("tensors of this element type"))?;
        return Ok(vec![Datum::bitcast(tensor, dtype, tensor.shape().to_vec())?]);
    }
    if from != to && matches!(data[0], Datum::Float(value) if value.is_nan()) {
        return Ok(vec![Datum::Poison]);
    }
    let raw = match ctx.float_kind(from) {
        Some(kind) => from_f64(kind, data[0].float()?),
        None => u128::from(unsigned(data[0].int()?, width(args)?)),
    };
    Ok(vec![match ctx.float_kind(to) {
        Some(kind) => Datum::Float(to_f64(kind, raw)),
        None if ctx.is_unsigned(to) => Datum::Int(raw as i64),
        None => Datum::Int(wrap(raw as i128, ctx.int_width(to).unwrap_or(64))),
    }])
}
