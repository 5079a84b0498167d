//! Integer functions.

use crate::arith::int::{unsigned, width, wrap};
use crate::constraint::INT_OR_INDEX_LIKE;
use gradus_ir::eval::Trap;
use gradus_ir::scalar::Scalar;
use gradus_ir::{Effects, OpArgs, Traits, op};

macro_rules! unary {
    ($($Op:ident $name:literal $doc:literal $value:expr;)*) => { $(
        #[doc = $doc]
        #[op(
            $name,
            traits = Traits::SAME_TYPE,
            scalar = |args| map(args, $value),
            format = "$operand attr-dict `:` type($result)"
        )]
        pub struct $Op {
            /// Operand.
            operand: Operand<INT_OR_INDEX_LIKE>,
            /// Result.
            result: OpResult<INT_OR_INDEX_LIKE>,
        }
    )* };
}

unary! {
    AbsIOp "math.absi" "Absolute value of a signed integer; the minimum value is unchanged.\n\n```mlir\n%0 = math.absi %a : i64\n```" |v, _| i128::from(v).abs();
    CountLeadingZerosOp "math.ctlz" "Number of leading zero bits; the width for zero.\n\n```mlir\n%0 = math.ctlz %a : i32\n```" |v, w| i128::from(unsigned(v, w).leading_zeros() + w - 64);
    CtPopOp "math.ctpop" "Population count: number of one bits.\n\n```mlir\n%0 = math.ctpop %a : i32\n```" |v, w| i128::from(unsigned(v, w).count_ones());
    CountTrailingZerosOp "math.cttz" "Number of trailing zero bits; the width for zero.\n\n```mlir\n%0 = math.cttz %a : i32\n```" |v, w| i128::from(unsigned(v, w).trailing_zeros().min(w));
}

/// Raises a signed integer to a signed integer power; the result wraps.
///
/// A negative exponent yields 0 unless the base is 1 or -1, and is undefined behavior for base 0.
///
/// ```mlir
/// %0 = math.ipowi %base, %exponent : i32
/// ```
#[op(
    "math.ipowi",
    traits = Traits::SAME_TYPE,
    effects = Effects::MayUb,
    scalar = ipowi,
    format = "$lhs `,` $rhs attr-dict `:` type($result)"
)]
pub struct IPowIOp {
    /// Base.
    lhs: Operand<INT_OR_INDEX_LIKE>,
    /// Exponent.
    rhs: Operand<INT_OR_INDEX_LIKE>,
    /// Power.
    result: OpResult<INT_OR_INDEX_LIKE>,
}

fn map(args: &OpArgs<'_>, f: fn(i64, u32) -> i128) -> Result<Scalar, Trap> {
    let w = width(args)?;
    Ok(Scalar::ints(move |x| Ok(Some(wrap(f(x[0], w), w)))))
}

fn ipowi(args: &OpArgs<'_>) -> Result<Scalar, Trap> {
    let w = width(args)?;
    let power = |base: i64, exponent: i64| match (base, exponent) {
        (0, ..0) => Err(Trap::Ub("division by zero: zero to a negative power".into())),
        (1, ..0) => Ok(1),
        (-1, ..0) => Ok(if exponent & 1 == 0 { 1 } else { -1 }),
        (_, ..0) => Ok(0),
        _ => Ok(power(base, exponent)),
    };
    Ok(Scalar::ints(move |x| Ok(Some(wrap(power(x[0], x[1])?.into(), w)))))
}

/// Raises `base` to a nonnegative power modulo 2^64.
fn power(base: i64, exponent: i64) -> i64 {
    let (mut power, mut factor, mut left) = (1i64, base, exponent);
    while left > 0 {
        if left & 1 == 1 {
            power = power.wrapping_mul(factor);
        }
        factor = factor.wrapping_mul(factor);
        left >>= 1;
    }
    power
}
