//! Float functions.

use crate::arith::FASTMATH;
use crate::arith::float::with_fastmath;
use crate::constraint::{FLOAT_LIKE, INT_OR_INDEX_LIKE};
use gradus_ir::eval::{Datum, Trap, floats_to_tensor};
use gradus_ir::float::FloatKind;
use gradus_ir::scalar::Scalar;
use gradus_ir::{OpArgs, Traits, TypeRelation, declared_names, op};

macro_rules! unary {
    ($($Op:ident $name:literal $doc:literal $narrow:expr, $wide:expr;)*) => { $(
        #[doc = $doc]
        #[op(
            $name,
            traits = Traits::SAME_TYPE,
            scalar = |args| function(args, |x| ($narrow)(x[0]), |x| ($wide)(x[0])),
            format = "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
        )]
        pub struct $Op {
            /// Operand.
            operand: Operand<FLOAT_LIKE>,
            /// Fast-math flags.
            #[default = "#arith.fastmath<none>"]
            fastmath: Attribute<FASTMATH>,
            /// Result.
            result: OpResult<FLOAT_LIKE>,
        }
    )* };
}

unary! {
    AbsFOp "math.absf" "Absolute value of a float.\n\n```mlir\n%0 = math.absf %a : f64\n```" f32::abs, f64::abs;
    AcosOp "math.acos" "Arccosine.\n\n```mlir\n%0 = math.acos %a : f64\n```" f32::acos, f64::acos;
    AcoshOp "math.acosh" "Inverse hyperbolic cosine; NaN below 1.\n\n```mlir\n%0 = math.acosh %a : f64\n```" |v: f32| if v < 1.0 { f32::NAN } else { libm::acoshf(v) }, |v: f64| if v < 1.0 { f64::NAN } else { libm::acosh(v) };
    AsinOp "math.asin" "Arcsine.\n\n```mlir\n%0 = math.asin %a : f64\n```" f32::asin, f64::asin;
    AsinhOp "math.asinh" "Inverse hyperbolic sine.\n\n```mlir\n%0 = math.asinh %a : f64\n```" libm::asinhf, libm::asinh;
    AtanOp "math.atan" "Arctangent.\n\n```mlir\n%0 = math.atan %a : f64\n```" f32::atan, f64::atan;
    AtanhOp "math.atanh" "Inverse hyperbolic tangent.\n\n```mlir\n%0 = math.atanh %a : f64\n```" libm::atanhf, libm::atanh;
    CbrtOp "math.cbrt" "Cube root.\n\n```mlir\n%0 = math.cbrt %a : f64\n```" f32::cbrt, f64::cbrt;
    CeilOp "math.ceil" "Ceiling: rounds toward infinity.\n\n```mlir\n%0 = math.ceil %a : f64\n```" f32::ceil, f64::ceil;
    CosOp "math.cos" "Cosine.\n\n```mlir\n%0 = math.cos %a : f64\n```" f32::cos, f64::cos;
    CoshOp "math.cosh" "Hyperbolic cosine.\n\n```mlir\n%0 = math.cosh %a : f64\n```" f32::cosh, f64::cosh;
    ErfOp "math.erf" "Error function.\n\n```mlir\n%0 = math.erf %a : f64\n```" libm::erff, libm::erf;
    ErfcOp "math.erfc" "Complementary error function: 1 - erf(x), without cancellation.\n\n```mlir\n%0 = math.erfc %a : f64\n```" libm::erfcf, libm::erfc;
    ExpOp "math.exp" "Exponential: e^x.\n\n```mlir\n%0 = math.exp %a : f64\n```" f32::exp, f64::exp;
    Exp2Op "math.exp2" "Base-2 exponential: 2^x.\n\n```mlir\n%0 = math.exp2 %a : f64\n```" f32::exp2, f64::exp2;
    ExpM1Op "math.expm1" "e^x - 1, without cancellation.\n\n```mlir\n%0 = math.expm1 %a : f64\n```" f32::exp_m1, f64::exp_m1;
    FloorOp "math.floor" "Floor: rounds toward minus infinity.\n\n```mlir\n%0 = math.floor %a : f64\n```" f32::floor, f64::floor;
    LogOp "math.log" "Natural logarithm.\n\n```mlir\n%0 = math.log %a : f64\n```" f32::ln, f64::ln;
    Log10Op "math.log10" "Base-10 logarithm.\n\n```mlir\n%0 = math.log10 %a : f64\n```" f32::log10, f64::log10;
    Log1pOp "math.log1p" "log(1 + x), without cancellation.\n\n```mlir\n%0 = math.log1p %a : f64\n```" f32::ln_1p, f64::ln_1p;
    Log2Op "math.log2" "Base-2 logarithm.\n\n```mlir\n%0 = math.log2 %a : f64\n```" f32::log2, f64::log2;
    RoundOp "math.round" "Rounds to the nearest integer, half away from zero.\n\n```mlir\n%0 = math.round %a : f64\n```" f32::round, f64::round;
    RoundEvenOp "math.roundeven" "Rounds to the nearest integer, half to even.\n\n```mlir\n%0 = math.roundeven %a : f64\n```" f32::round_ties_even, f64::round_ties_even;
    RsqrtOp "math.rsqrt" "Reciprocal square root: 1 / sqrt(x).\n\n```mlir\n%0 = math.rsqrt %a : f64\n```" |v: f32| 1.0 / v.sqrt(), |v: f64| 1.0 / v.sqrt();
    SinOp "math.sin" "Sine.\n\n```mlir\n%0 = math.sin %a : f64\n```" f32::sin, f64::sin;
    SinhOp "math.sinh" "Hyperbolic sine.\n\n```mlir\n%0 = math.sinh %a : f64\n```" f32::sinh, f64::sinh;
    SqrtOp "math.sqrt" "Square root; NaN for negative values.\n\n```mlir\n%0 = math.sqrt %a : f64\n```" f32::sqrt, f64::sqrt;
    TanOp "math.tan" "Tangent.\n\n```mlir\n%0 = math.tan %a : f64\n```" f32::tan, f64::tan;
    TanhOp "math.tanh" "Hyperbolic tangent.\n\n```mlir\n%0 = math.tanh %a : f64\n```" f32::tanh, f64::tanh;
    TruncOp "math.trunc" "Truncation: rounds toward zero.\n\n```mlir\n%0 = math.trunc %a : f64\n```" f32::trunc, f64::trunc;
}

macro_rules! binary {
    ($($Op:ident $name:literal $doc:literal $narrow:expr, $wide:expr;)*) => { $(
        #[doc = $doc]
        #[op(
            $name,
            traits = Traits::SAME_TYPE,
            scalar = |args| function(args, |x| $narrow(x[0], x[1]), |x| $wide(x[0], x[1])),
            format = "$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
        )]
        pub struct $Op {
            /// Left operand.
            lhs: Operand<FLOAT_LIKE>,
            /// Right operand.
            rhs: Operand<FLOAT_LIKE>,
            /// Fast-math flags.
            #[default = "#arith.fastmath<none>"]
            fastmath: Attribute<FASTMATH>,
            /// Result.
            result: OpResult<FLOAT_LIKE>,
        }
    )* };
}

binary! {
    Atan2Op "math.atan2" "Two-argument arctangent: the angle of the point (rhs, lhs), in [-pi, pi].\n\n```mlir\n%0 = math.atan2 %y, %x : f32\n```" f32::atan2, f64::atan2;
    CopySignOp "math.copysign" "Magnitude of the first operand with the sign of the second.\n\n```mlir\n%0 = math.copysign %a, %b : f64\n```" f32::copysign, f64::copysign;
    PowFOp "math.powf" "Power: lhs^rhs.\n\n```mlir\n%0 = math.powf %a, %b : f64\n```" f32::powf, f64::powf;
}

/// Fused multiply-add: `a * b + c`, rounded once.
///
/// ```mlir
/// %0 = math.fma %a, %b, %c : f64
/// ```
#[op(
    "math.fma",
    traits = Traits::SAME_TYPE,
    scalar = |args| function(args, |x| x[0].mul_add(x[1], x[2]), |x| x[0].mul_add(x[1], x[2])),
    format = "$a `,` $b `,` $c (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
)]
pub struct FmaOp {
    /// First factor.
    a: Operand<FLOAT_LIKE>,
    /// Second factor.
    b: Operand<FLOAT_LIKE>,
    /// Summand.
    c: Operand<FLOAT_LIKE>,
    /// Fast-math flags.
    #[default = "#arith.fastmath<none>"]
    fastmath: Attribute<FASTMATH>,
    /// Result.
    result: OpResult<FLOAT_LIKE>,
}

/// Clamps a float to a range.
///
/// The result is `maximum(minimum(value, max), min)`: NaN if any operand is NaN, and `min` for an empty range.
///
/// ```mlir
/// %0 = math.clampf %value to [%min, %max] : f64
/// ```
#[op(
    "math.clampf",
    traits = Traits::SAME_TYPE,
    scalar = clamp,
    format = "$value `to` ` ` `[` $min `,` $max `]` (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
)]
pub struct ClampFOp {
    /// Operand.
    value: Operand<FLOAT_LIKE>,
    /// Lower bound.
    min: Operand<FLOAT_LIKE>,
    /// Upper bound.
    max: Operand<FLOAT_LIKE>,
    /// Fast-math flags.
    #[default = "#arith.fastmath<none>"]
    fastmath: Attribute<FASTMATH>,
    /// Clamped value.
    result: OpResult<FLOAT_LIKE>,
}

/// Raises a float to a signed integer power.
///
/// ```mlir
/// %0 = math.fpowi %base, %exponent : f32, i32
/// ```
#[op(
    "math.fpowi",
    traits = Traits::ELEMENTWISE,
    relations = &[TypeRelation::Same(&["lhs", "result"])],
    eval = fpowi,
    format = "$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($lhs) `,` type($rhs)"
)]
pub struct FPowIOp {
    /// Base.
    lhs: Operand<FLOAT_LIKE>,
    /// Exponent.
    rhs: Operand<INT_OR_INDEX_LIKE>,
    /// Fast-math flags.
    #[default = "#arith.fastmath<none>"]
    fastmath: Attribute<FASTMATH>,
    /// Power.
    result: OpResult<FLOAT_LIKE>,
}

/// Sine and cosine of an angle.
///
/// ```mlir
/// %sin, %cos = math.sincos %a : f64
/// ```
#[op(
    "math.sincos",
    traits = Traits::ELEMENTWISE,
    relations = &[TypeRelation::Same(&["operand", "sin", "cos"])],
    eval = sincos,
    result_names = declared_names,
    format = "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($operand)"
)]
pub struct SincosOp {
    /// Angle in radians.
    operand: Operand<FLOAT_LIKE>,
    /// Fast-math flags.
    #[default = "#arith.fastmath<none>"]
    fastmath: Attribute<FASTMATH>,
    /// Sine.
    sin: OpResult<FLOAT_LIKE>,
    /// Cosine.
    cos: OpResult<FLOAT_LIKE>,
}

/// Returns the evaluator of a function with `f32` and `f64` versions; narrower types are computed in `f64` and rounded.
fn function(
    args: &OpArgs<'_>,
    narrow: impl Fn(&[f32]) -> f32 + Send + Sync + 'static,
    wide: impl Fn(&[f64]) -> f64 + Send + Sync + 'static,
) -> Result<Scalar, Trap> {
    let ctx = args.ctx();
    if ctx.float_kind(ctx.element_type(args.operand_type(0))) != Some(FloatKind::F32) {
        return with_fastmath(args, wide);
    }
    with_fastmath(args, move |x| {
        let mut narrowed = [0.0; 3];
        narrowed.iter_mut().zip(x).for_each(|(to, from)| *to = *from as f32);
        f64::from(narrow(&narrowed[..x.len()]))
    })
}

fn clamp(args: &OpArgs<'_>) -> Result<Scalar, Trap> {
    with_fastmath(args, |x| crate::arith::float::pick(crate::arith::float::pick(x[0], x[2], false), x[1], true))
}

fn fpowi(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let exponents = match &data[1] {
        Datum::Tensor(t) => {
            let ints = t.to_i64().ok_or_else(|| Trap::unsupported("expected a tensor of integers"))?;
            let floats = ints.into_iter().map(|v| v as f64).collect();
            Datum::Tensor(floats_to_tensor(gradus_ir::DType::F64, t.shape(), floats))
        }
        scalar => Datum::Float(scalar.int()? as f64),
    };
    Ok(vec![with_fastmath(args, |x| powi(x[0], x[1] as i64))?.map(&[data[0].clone(), exponents])?])
}

/// Raises `base` to a power by repeated squaring.
fn powi(base: f64, exponent: i64) -> f64 {
    let (mut power, mut factor, mut left) = (1.0, base, exponent.unsigned_abs());
    while left > 0 {
        if left & 1 == 1 {
            power *= factor;
        }
        factor *= factor;
        left >>= 1;
    }
    if exponent < 0 { 1.0 / power } else { power }
}

fn sincos(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let sin = function(args, |x| x[0].sin(), |x| x[0].sin())?.map(data)?;
    let cos = function(args, |x| x[0].cos(), |x| x[0].cos())?.map(data)?;
    Ok(vec![sin, cos])
}
