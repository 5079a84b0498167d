//! Classification of floats.

use crate::arith::{FASTMATH, bool_like, excludes_nan_and_inf};
use crate::constraint::{BOOL_LIKE, FLOAT_LIKE};
use gradus_ir::eval::Trap;
use gradus_ir::float::FloatKind;
use gradus_ir::scalar::Scalar;
use gradus_ir::{DType, OpArgs, TypeRelation, op};

macro_rules! questions {
    ($($Op:ident $name:literal $doc:literal $answer:expr;)*) => { $(
        #[doc = $doc]
        #[op(
            $name,
            relations = SHAPED_LIKE_OPERAND,
            scalar = |args| answer(args, $answer),
            format = "$operand attr-dict `:` type($operand)"
        )]
        pub struct $Op {
            /// Operand.
            operand: Operand<FLOAT_LIKE>,
            /// Fast-math flags.
            #[default = "#arith.fastmath<none>"]
            fastmath: Attribute<FASTMATH>,
            /// Truth value.
            result: OpResult<BOOL_LIKE>,
        }
    )* };
}

const SHAPED_LIKE_OPERAND: &[TypeRelation] = &[TypeRelation::Derived {
    to: "result",
    from: "operand",
    of: |ctx, ty| Some(bool_like(ctx, ty)),
    summary: "result type has i1 element type and same shape as operands",
}];

questions! {
    IsFiniteOp "math.isfinite" "Whether a float is neither infinite nor NaN.\n\n```mlir\n%0 = math.isfinite %a : f32\n```" |v, _| v.is_finite();
    IsInfOp "math.isinf" "Whether a float is infinite.\n\n```mlir\n%0 = math.isinf %a : f32\n```" |v, _| v.is_infinite();
    IsNaNOp "math.isnan" "Whether a float is NaN.\n\n```mlir\n%0 = math.isnan %a : f32\n```" |v, _| v.is_nan();
    IsNormalOp "math.isnormal" "Whether a float is neither zero, subnormal, infinite nor NaN.\n\n```mlir\n%0 = math.isnormal %a : f32\n```" |v, least| v.is_finite() && v.abs() >= least;
}

/// Returns the evaluator of a predicate on value and smallest normal value.
fn answer(args: &OpArgs<'_>, f: fn(f64, f64) -> bool) -> Result<Scalar, Trap> {
    let ctx = args.ctx();
    let kind = ctx.float_kind(ctx.element_type(args.operand_type(0)));
    let least = kind.and_then(min_normal).ok_or_else(|| Trap::unsupported("floats of this type"))?;
    let (nnan, ninf) = excludes_nan_and_inf(args);
    let known = move |x: &[f64]| {
        let broken = (nnan && x[0].is_nan()) || (ninf && x[0].is_infinite());
        (!broken).then(|| -i64::from(f(x[0], least)))
    };
    Ok(Scalar::FloatsToInt(Box::new(known), Some(DType::Bool)))
}

/// Returns the smallest positive normal value of a type.
fn min_normal(kind: FloatKind) -> Option<f64> {
    Some(match kind {
        FloatKind::F16 => 2f64.powi(-14),
        FloatKind::BF16 | FloatKind::F32 => f64::from(f32::MIN_POSITIVE),
        FloatKind::F64 => f64::MIN_POSITIVE,
        _ => return None,
    })
}
