//! Float arithmetic: IEEE 754, rounded to the operands' type after each op.

use super::FASTMATH;
use crate::constraint::FLOAT_LIKE;
use gradus_ir::eval::Trap;
use gradus_ir::float::{FloatKind, from_f64, to_f64};
use gradus_ir::scalar::Scalar;
use gradus_ir::{Attr, Folded, OpArgs, Traits, op};

const COMMUTATIVE: Traits = Traits::SAME_TYPE.and(Traits::COMMUTATIVE);
const ASSOCIATIVE: Traits = COMMUTATIVE.and(Traits::ASSOCIATIVE);

macro_rules! binary {
    ($($Op:ident $name:literal $doc:literal $traits:expr, $fold:path, $eval:path;)*) => { $(
        #[doc = $doc]
        #[op(
            $name,
            traits = $traits,
            fold = $fold,
            scalar = $eval,
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
    AddFOp "arith.addf" "Float addition.\n\n```mlir\n%0 = arith.addf %a, %b fastmath<nnan> : f32\n```" ASSOCIATIVE, fold_add, add;
    SubFOp "arith.subf" "Float subtraction.\n\n```mlir\n%0 = arith.subf %a, %b : f32\n```" Traits::SAME_TYPE, fold_sub, sub;
    MulFOp "arith.mulf" "Float multiplication.\n\n```mlir\n%0 = arith.mulf %a, %b : f32\n```" ASSOCIATIVE, fold_mul, mul;
    DivFOp "arith.divf" "Float division.\n\n```mlir\n%0 = arith.divf %a, %b : f32\n```" Traits::SAME_TYPE, fold_div, div;
    RemFOp "arith.remf" "Remainder of float division, with the sign of the dividend.\n\n```mlir\n%0 = arith.remf %a, %b : f32\n```" Traits::SAME_TYPE, no_fold, rem;
    MaximumFOp "arith.maximumf" "Maximum of two floats; NaN if either is NaN, and 0 > -0.\n\n```mlir\n%0 = arith.maximumf %a, %b : f32\n```" ASSOCIATIVE, fold_same, maximum;
    MinimumFOp "arith.minimumf" "Minimum of two floats; NaN if either is NaN, and -0 < 0.\n\n```mlir\n%0 = arith.minimumf %a, %b : f32\n```" ASSOCIATIVE, fold_same, minimum;
    MaxNumFOp "arith.maxnumf" "Maximum of two floats; if one is NaN, the other one.\n\n```mlir\n%0 = arith.maxnumf %a, %b : f32\n```" COMMUTATIVE, fold_same, maxnum;
    MinNumFOp "arith.minnumf" "Minimum of two floats; if one is NaN, the other one.\n\n```mlir\n%0 = arith.minnumf %a, %b : f32\n```" COMMUTATIVE, fold_same, minnum;
}

/// Float negation: flips the sign bit, also of NaN.
///
/// ```mlir
/// %0 = arith.negf %a : f32
/// ```
#[op(
    "arith.negf",
    traits = Traits::SAME_TYPE.and(Traits::INVOLUTION),
    scalar = negate,
    format = "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
)]
pub struct NegFOp {
    /// Operand.
    operand: Operand<FLOAT_LIKE>,
    /// Fast-math flags.
    #[default = "#arith.fastmath<none>"]
    fastmath: Attribute<FASTMATH>,
    /// Result.
    result: OpResult<FLOAT_LIKE>,
}

// ---- identities

fn is(args: &OpArgs<'_>, constant: Option<Attr>, value: f64) -> bool {
    constant.is_some_and(|c| args.ctx().is_uniform(c, value))
}

fn no_fold(_: &OpArgs<'_>, _: &[Option<Attr>]) -> Option<Folded> {
    None
}

/// x + -0 = x; x + 0 is not x when x is -0.
fn fold_add(args: &OpArgs<'_>, c: &[Option<Attr>]) -> Option<Folded> {
    match () {
        () if is(args, c[1], -0.0) => Some(args.operands[0].into()),
        () if is(args, c[0], -0.0) => Some(args.operands[1].into()),
        () => None,
    }
}

/// x - 0 = x
fn fold_sub(args: &OpArgs<'_>, c: &[Option<Attr>]) -> Option<Folded> {
    is(args, c[1], 0.0).then(|| args.operands[0].into())
}

/// x * 1 = x
fn fold_mul(args: &OpArgs<'_>, c: &[Option<Attr>]) -> Option<Folded> {
    match () {
        () if is(args, c[1], 1.0) => Some(args.operands[0].into()),
        () if is(args, c[0], 1.0) => Some(args.operands[1].into()),
        () => None,
    }
}

/// x / 1 = x
fn fold_div(args: &OpArgs<'_>, c: &[Option<Attr>]) -> Option<Folded> {
    is(args, c[1], 1.0).then(|| args.operands[0].into())
}

/// op(x, x) = x
fn fold_same(args: &OpArgs<'_>, _: &[Option<Attr>]) -> Option<Folded> {
    (args.operands[0] == args.operands[1]).then(|| args.operands[0].into())
}

// ---- semantics

/// Rounds `v` to a float type.
///
/// One rounding of an `f64` result equals rounding the exact one for `+ - * /` of types up to `f32`, because `f64` has
/// more than twice their precision (Figueroa, "When is double rounding innocuous?").
pub(super) fn round_to(kind: FloatKind, v: f64) -> f64 {
    to_f64(kind, from_f64(kind, v))
}

/// Returns an evaluator on floats of the result type. `None` is poison.
pub(super) fn floats(
    args: &OpArgs<'_>,
    f: impl Fn(&[f64]) -> Option<f64> + Send + Sync + 'static,
) -> Result<Scalar, Trap> {
    let ctx = args.ctx();
    let ty = args.result_types.first().copied().unwrap_or(args.operand_type(0));
    let elem = ctx.element_type(ty);
    let kind = ctx.float_kind(elem).filter(|k| k.width() <= 64);
    let kind = kind.ok_or_else(|| Trap::unsupported("floats of this type"))?;
    Ok(Scalar::Floats(Box::new(move |x| f(x).map(|v| round_to(kind, v))), ctx.dtype(elem)))
}

/// Returns an evaluator with fast-math flags: NaN or infinity against the flags yields poison.
pub(crate) fn with_fastmath(
    args: &OpArgs<'_>,
    f: impl Fn(&[f64]) -> f64 + Send + Sync + 'static,
) -> Result<Scalar, Trap> {
    let (nnan, ninf) = super::excludes_nan_and_inf(args);
    floats(args, move |x| {
        let out = f(x);
        let seen = || x.iter().copied().chain([out]);
        let broken = (nnan && seen().any(f64::is_nan)) || (ninf && seen().any(f64::is_infinite));
        (!broken).then_some(out)
    })
}

macro_rules! meaning {
    ($($name:ident = |$a:ident, $b:ident| $value:expr;)*) => { $(
        fn $name(args: &OpArgs<'_>) -> Result<Scalar, Trap> {
            with_fastmath(args, |x| {
                let ($a, $b) = (x[0], *x.get(1).unwrap_or(&0.0));
                let out: f64 = $value;
                // The sign of a newly created NaN differs between processors.
                if out.is_nan() && !x.iter().any(|v| v.is_nan()) { f64::NAN } else { out }
            })
        }
    )* };
}

meaning! {
    add = |a, b| a + b;
    sub = |a, b| a - b;
    mul = |a, b| a * b;
    div = |a, b| a / b;
    rem = |a, b| a % b;
    maximum = |a, b| pick(a, b, true);
    minimum = |a, b| pick(a, b, false);
    maxnum = |a, b| if a.is_nan() { b } else if b.is_nan() { a } else { pick(a, b, true) };
    minnum = |a, b| if a.is_nan() { b } else if b.is_nan() { a } else { pick(a, b, false) };
    negate = |a, _b| -a;
}

/// Returns the maximum or minimum of two; NaN if either is NaN, zeros ordered by sign.
pub(crate) fn pick(a: f64, b: f64, larger: bool) -> f64 {
    if a.is_nan() || b.is_nan() {
        return f64::NAN;
    }
    if (a.total_cmp(&b) == std::cmp::Ordering::Greater) == larger { a } else { b }
}
