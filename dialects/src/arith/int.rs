//! Integer arithmetic.

use super::OVERFLOW;
use super::fold;
use crate::constraint::{BOOL_LIKE, INT_OR_INDEX_LIKE, UNIT};
use gradus_ir::eval::{Datum, Trap, map_int};
use gradus_ir::scalar::Scalar;
use gradus_ir::{Effects, Module, Op, OpArgs, Traits, Type, TypeRelation, Value, Violation, declared_names, op};

const COMMUTATIVE: Traits = Traits::SAME_TYPE.and(Traits::COMMUTATIVE);
const ASSOCIATIVE: Traits = COMMUTATIVE.and(Traits::ASSOCIATIVE);

/// Binary ops that wrap, with overflow flags.
macro_rules! overflowing {
    ($($Op:ident $name:literal $doc:literal $traits:expr, $fold:path, $eval:path $(, $names:path)?;)*) => { $(
        #[doc = $doc]
        #[op(
            $name,
            traits = $traits.and(Traits::PROMISES),
            fold = $fold,
            scalar = $eval,
            $(result_names = $names,)?
            format = "$lhs `,` $rhs (`overflow` `` $overflowFlags^)? attr-dict `:` type($result)"
        )]
        pub struct $Op {
            /// Left operand.
            lhs: Operand<INT_OR_INDEX_LIKE>,
            /// Right operand.
            rhs: Operand<INT_OR_INDEX_LIKE>,
            /// Overflow flags; a violation yields poison.
            #[name = "overflowFlags"]
            #[default = "#arith.overflow<none>"]
            overflow_flags: Attribute<OVERFLOW>,
            /// Result.
            result: OpResult<INT_OR_INDEX_LIKE>,
        }
    )* };
}

overflowing! {
    AddIOp "arith.addi" "Integer addition.\n\n```mlir\n%0 = arith.addi %a, %b overflow<nsw> : i32\n```" ASSOCIATIVE, fold::addi, addi;
    SubIOp "arith.subi" "Integer subtraction.\n\n```mlir\n%0 = arith.subi %a, %b : i32\n```" Traits::SAME_TYPE, fold::subi, subi;
    MulIOp "arith.muli" "Integer multiplication.\n\n```mlir\n%0 = arith.muli %a, %b : i32\n```" ASSOCIATIVE, fold::muli, muli, scaled_name;
    ShLIOp "arith.shli" "Shift left. A shift amount of at least the width yields poison.\n\n```mlir\n%0 = arith.shli %a, %b : i32\n```" Traits::SAME_TYPE, fold::shift, shli;
}

/// Returns `c8_vscale` for a multiple of `vector.vscale`, whose name is `vscale`.
fn scaled_name(m: &Module, op: Op) -> Vec<(usize, String)> {
    let of = |a: Value, b: Value| {
        let factor = m.constant_int(a).filter(|_| m.value_type(a) == Type::INDEX)?;
        let scale = m.defining_op(b)?;
        let names = m.info(scale)?.result_names?(m, scale);
        names.iter().any(|(_, name)| name == "vscale").then(|| vec![(0, format!("c{factor}_vscale"))])
    };
    let (lhs, rhs) = (MulIOp(op).lhs(m), MulIOp(op).rhs(m));
    of(lhs, rhs).or_else(|| of(rhs, lhs)).unwrap_or_default()
}

/// Binary ops with an `exact` flag.
macro_rules! exact {
    ($($Op:ident $name:literal $doc:literal $effects:expr, $fold:path, $eval:path;)*) => { $(
        #[doc = $doc]
        #[op(
            $name,
            traits = Traits::SAME_TYPE.and(Traits::PROMISES),
            effects = $effects,
            speculatable = divides_by_constant,
            fold = $fold,
            scalar = $eval,
            format = "$lhs `,` $rhs (`exact` $isExact^)? attr-dict `:` type($result)"
        )]
        pub struct $Op {
            /// Left operand.
            lhs: Operand<INT_OR_INDEX_LIKE>,
            /// Right operand.
            rhs: Operand<INT_OR_INDEX_LIKE>,
            /// Whether the result is guaranteed exact; a violation yields poison.
            #[name = "isExact"]
            is_exact: OptAttribute<UNIT_FLAG>,
            /// Result.
            result: OpResult<INT_OR_INDEX_LIKE>,
        }
    )* };
}

/// A unit attribute spelled as a keyword.
const UNIT_FLAG: gradus_ir::AttrKind = gradus_ir::AttrKind { text: gradus_ir::AttrText::Flag, ..UNIT };

exact! {
    DivUIOp "arith.divui" "Unsigned division, rounded toward zero. A zero divisor is undefined behavior.\n\n```mlir\n%0 = arith.divui %a, %b : i32\n```" Effects::MayUb, fold::divide, divui;
    DivSIOp "arith.divsi" "Signed division, rounded toward zero. A zero divisor and overflow are undefined behavior.\n\n```mlir\n%0 = arith.divsi %a, %b exact : i32\n```" Effects::MayUb, fold::divide, divsi;
    ShRUIOp "arith.shrui" "Logical shift right. A shift amount of at least the width yields poison.\n\n```mlir\n%0 = arith.shrui %a, %b : i32\n```" Effects::Pure, fold::shift, shrui;
    ShRSIOp "arith.shrsi" "Arithmetic shift right. A shift amount of at least the width yields poison.\n\n```mlir\n%0 = arith.shrsi %a, %b : i32\n```" Effects::Pure, fold::shift, shrsi;
}

/// Binary ops without flags.
macro_rules! plain {
    ($($Op:ident $name:literal $doc:literal $traits:expr, $effects:expr, $fold:path, $eval:path;)*) => { $(
        #[doc = $doc]
        #[op(
            $name,
            traits = $traits,
            effects = $effects,
            speculatable = divides_by_constant,
            fold = $fold,
            scalar = $eval,
            format = "$lhs `,` $rhs attr-dict `:` type($result)"
        )]
        pub struct $Op {
            /// Left operand.
            lhs: Operand<INT_OR_INDEX_LIKE>,
            /// Right operand.
            rhs: Operand<INT_OR_INDEX_LIKE>,
            /// Result.
            result: OpResult<INT_OR_INDEX_LIKE>,
        }
    )* };
}

plain! {
    CeilDivUIOp "arith.ceildivui" "Unsigned division, rounded up.\n\n```mlir\n%0 = arith.ceildivui %a, %b : i32\n```" Traits::SAME_TYPE, Effects::MayUb, fold::divide, ceildivui;
    CeilDivSIOp "arith.ceildivsi" "Signed division, rounded toward positive infinity.\n\n```mlir\n%0 = arith.ceildivsi %a, %b : i32\n```" Traits::SAME_TYPE, Effects::MayUb, fold::divide, ceildivsi;
    FloorDivSIOp "arith.floordivsi" "Signed division, rounded toward negative infinity.\n\n```mlir\n%0 = arith.floordivsi %a, %b : i32\n```" Traits::SAME_TYPE, Effects::MayUb, fold::divide, floordivsi;
    RemUIOp "arith.remui" "Remainder of unsigned division.\n\n```mlir\n%0 = arith.remui %a, %b : i32\n```" Traits::SAME_TYPE, Effects::MayUb, fold::remainder, remui;
    RemSIOp "arith.remsi" "Remainder of signed division, with the sign of the dividend.\n\n```mlir\n%0 = arith.remsi %a, %b : i32\n```" Traits::SAME_TYPE, Effects::MayUb, fold::remainder, remsi;
    AndIOp "arith.andi" "Bitwise AND.\n\n```mlir\n%0 = arith.andi %a, %b : i32\n```" ASSOCIATIVE.and(Traits::IDEMPOTENT), Effects::Pure, fold::andi, andi;
    OrIOp "arith.ori" "Bitwise OR.\n\n```mlir\n%0 = arith.ori %a, %b : i32\n```" ASSOCIATIVE.and(Traits::IDEMPOTENT), Effects::Pure, fold::ori, ori;
    XOrIOp "arith.xori" "Bitwise XOR.\n\n```mlir\n%0 = arith.xori %a, %b : i32\n```" ASSOCIATIVE, Effects::Pure, fold::xori, xori;
    MaxSIOp "arith.maxsi" "Maximum of two signed integers.\n\n```mlir\n%0 = arith.maxsi %a, %b : i32\n```" ASSOCIATIVE.and(Traits::IDEMPOTENT), Effects::Pure, fold::same_operands, maxsi;
    MaxUIOp "arith.maxui" "Maximum of two unsigned integers.\n\n```mlir\n%0 = arith.maxui %a, %b : i32\n```" ASSOCIATIVE.and(Traits::IDEMPOTENT), Effects::Pure, fold::same_operands, maxui;
    MinSIOp "arith.minsi" "Minimum of two signed integers.\n\n```mlir\n%0 = arith.minsi %a, %b : i32\n```" ASSOCIATIVE.and(Traits::IDEMPOTENT), Effects::Pure, fold::same_operands, minsi;
    MinUIOp "arith.minui" "Minimum of two unsigned integers.\n\n```mlir\n%0 = arith.minui %a, %b : i32\n```" ASSOCIATIVE.and(Traits::IDEMPOTENT), Effects::Pure, fold::same_operands, minui;
}

/// Unsigned addition with carry.
///
/// ```mlir
/// %sum, %carry = arith.addui_extended %a, %b : i32, i1
/// ```
#[op(
    "arith.addui_extended",
    traits = Traits::COMMUTATIVE.and(Traits::ELEMENTWISE),
    relations = &[TypeRelation::Same(&["lhs", "rhs", "sum"])],
    eval = addui_extended,
    result_names = declared_names,
    format = "$lhs `,` $rhs attr-dict `:` type($sum) `,` type($overflow)",
    infer = infer_carry
)]
pub struct AddUIExtendedOp {
    /// Left operand.
    lhs: Operand<INT_OR_INDEX_LIKE>,
    /// Right operand.
    rhs: Operand<INT_OR_INDEX_LIKE>,
    /// Wrapped sum.
    sum: OpResult<INT_OR_INDEX_LIKE>,
    /// Carry.
    overflow: OpResult<BOOL_LIKE>,
}

macro_rules! extended_mul {
    ($($Op:ident $name:literal $doc:literal $eval:path;)*) => { $(
        #[doc = $doc]
        #[op($name, traits = COMMUTATIVE.and(Traits::ELEMENTWISE), eval = $eval, result_names = declared_names, format = "$lhs `,` $rhs attr-dict `:` type($lhs)")]
        pub struct $Op {
            /// Left operand.
            lhs: Operand<INT_OR_INDEX_LIKE>,
            /// Right operand.
            rhs: Operand<INT_OR_INDEX_LIKE>,
            /// Low half of the product.
            low: OpResult<INT_OR_INDEX_LIKE>,
            /// High half of the product.
            high: OpResult<INT_OR_INDEX_LIKE>,
        }
    )* };
}

extended_mul! {
    MulSIExtendedOp "arith.mulsi_extended" "Signed multiplication with a result of twice the width.\n\n```mlir\n%low, %high = arith.mulsi_extended %a, %b : i32\n```" mulsi_extended;
    MulUIExtendedOp "arith.mului_extended" "Unsigned multiplication with a result of twice the width.\n\n```mlir\n%low, %high = arith.mului_extended %a, %b : i32\n```" mului_extended;
}

fn infer_carry(args: &OpArgs<'_>) -> Result<Vec<Type>, Violation> {
    let ty = args.operand_type(0);
    Ok(vec![ty, super::bool_like(args.ctx(), ty)])
}

// ---- semantics

/// Returns the width of the operands' elements; an error beyond 64 bits.
pub(crate) fn width(args: &OpArgs<'_>) -> Result<u32, Trap> {
    let ctx = args.ctx();
    match ctx.int_width(ctx.element_type(args.operand_type(0))) {
        Some(w @ 1..=64) => Ok(w),
        _ => Err(Trap::unsupported("integers of this width")),
    }
}

/// Wraps `v` to a signed integer of `width` bits.
pub(crate) fn wrap(v: i128, width: u32) -> i64 {
    let unused = 64 - width;
    (v as i64) << unused >> unused
}

/// Returns the low `width` bits of `v` as an unsigned integer.
pub(crate) fn unsigned(v: i64, width: u32) -> u64 {
    v as u64 & (u64::MAX >> (64 - width))
}

/// Returns the evaluator of a binary op; `f` gets the operands and the width, and returns `None` for poison.
fn binary(
    args: &OpArgs<'_>,
    f: impl Fn(i64, i64, u32) -> Result<Option<i128>, Trap> + Send + Sync + 'static,
) -> Result<Scalar, Trap> {
    let w = width(args)?;
    Ok(Scalar::ints(move |x| Ok(f(x[0], x[1], w)?.map(|v| wrap(v, w)))))
}

/// Returns the wrapped result, or poison if an overflow flag is violated.
fn with_overflow_flags(
    args: &OpArgs<'_>,
    f: impl Fn(i128, i128) -> i128 + Send + Sync + 'static,
) -> Result<Scalar, Trap> {
    let (nsw, nuw) = super::overflow_promises(args);
    if !nsw && !nuw {
        return binary(args, move |a, b, _| Ok(Some(f(i128::from(a), i128::from(b)))));
    }
    binary(args, move |a, b, w| {
        let signed = f(i128::from(a), i128::from(b));
        let plain = f(i128::from(unsigned(a, w)), i128::from(unsigned(b, w)));
        let broken = (nsw && i128::from(wrap(signed, w)) != signed)
            || (nuw && (plain < 0 || plain != i128::from(unsigned(plain as i64, w))));
        Ok((!broken).then_some(signed))
    })
}

fn addi(args: &OpArgs<'_>) -> Result<Scalar, Trap> {
    with_overflow_flags(args, |a, b| a + b)
}

fn subi(args: &OpArgs<'_>) -> Result<Scalar, Trap> {
    with_overflow_flags(args, |a, b| a - b)
}

fn muli(args: &OpArgs<'_>) -> Result<Scalar, Trap> {
    with_overflow_flags(args, i128::wrapping_mul)
}

fn shli(args: &OpArgs<'_>) -> Result<Scalar, Trap> {
    let (nsw, nuw) = super::overflow_promises(args);
    binary(args, move |a, b, w| {
        let amount = unsigned(b, w);
        if amount >= u64::from(w) {
            return Ok(None);
        }
        let signed = i128::from(a) << amount;
        let lost = unsigned(wrap(signed, w), w) >> amount != unsigned(a, w);
        let broken = (nsw && i128::from(wrap(signed, w)) != signed) || (nuw && lost);
        Ok((!broken).then_some(signed))
    })
}

/// Whether a division is defined for every dividend: the divisor must be a constant other than 0 and, for signed
/// division, -1.
fn divides_by_constant(m: &Module, op: Op) -> bool {
    let divisor = m.operands(op)[1];
    let constant = m.constant(divisor).and_then(|attr| m.ctx.as_uniform(attr));
    let is_bool = m.ctx.element_type(m.value_type(divisor)) == Type::I1;
    constant.is_some_and(|by| by != 0.0 && by != -1.0 && !is_bool)
}

fn is_exact(args: &OpArgs<'_>) -> bool {
    args.attr("isExact").is_some()
}

fn shift_right(args: &OpArgs<'_>, f: impl Fn(i64, u64, u32) -> i128 + Send + Sync + 'static) -> Result<Scalar, Trap> {
    let exact = is_exact(args);
    binary(args, move |a, b, w| {
        let amount = unsigned(b, w);
        if amount >= u64::from(w) {
            return Ok(None);
        }
        let lost = unsigned(a, w) & ((1u64 << amount) - 1) != 0;
        Ok((!(exact && lost)).then(|| f(a, amount, w)))
    })
}

fn shrui(args: &OpArgs<'_>) -> Result<Scalar, Trap> {
    shift_right(args, |a, n, w| i128::from(unsigned(a, w) >> n))
}

fn shrsi(args: &OpArgs<'_>) -> Result<Scalar, Trap> {
    shift_right(args, |a, n, _| i128::from(a >> n))
}

fn zero_divisor() -> Trap {
    Trap::Ub("division by zero".into())
}

/// Evaluates unsigned division and remainder; a zero divisor is undefined behavior.
fn unsigned_division(args: &OpArgs<'_>, f: impl Fn(u64, u64) -> u64 + Send + Sync + 'static) -> Result<Scalar, Trap> {
    let exact = is_exact(args);
    binary(args, move |a, b, w| {
        let (a, b) = (unsigned(a, w), unsigned(b, w));
        if b == 0 {
            return Err(zero_divisor());
        }
        Ok((!(exact && a % b != 0)).then(|| i128::from(f(a, b))))
    })
}

/// Evaluates signed division and remainder; a zero divisor and overflow are undefined behavior.
fn signed_division(args: &OpArgs<'_>, f: impl Fn(i128, i128) -> i128 + Send + Sync + 'static) -> Result<Scalar, Trap> {
    let exact = is_exact(args);
    binary(args, move |a, b, w| {
        if b == 0 {
            return Err(zero_divisor());
        }
        let (a, b) = (i128::from(a), i128::from(b));
        if b == -1 && i128::from(wrap(-a, w)) != -a {
            return Err(Trap::Ub("signed division overflows".into()));
        }
        Ok((!(exact && a % b != 0)).then(|| f(a, b)))
    })
}

fn divui(args: &OpArgs<'_>) -> Result<Scalar, Trap> {
    unsigned_division(args, |a, b| a / b)
}

fn divsi(args: &OpArgs<'_>) -> Result<Scalar, Trap> {
    signed_division(args, |a, b| a / b)
}

fn ceildivui(args: &OpArgs<'_>) -> Result<Scalar, Trap> {
    unsigned_division(args, u64::div_ceil)
}

fn ceildivsi(args: &OpArgs<'_>) -> Result<Scalar, Trap> {
    signed_division(args, |a, b| -(-a).div_euclid(b) + i128::from(b < 0 && a % b != 0))
}

fn floordivsi(args: &OpArgs<'_>) -> Result<Scalar, Trap> {
    signed_division(args, |a, b| a / b - i128::from(a % b != 0 && (a < 0) != (b < 0)))
}

fn remui(args: &OpArgs<'_>) -> Result<Scalar, Trap> {
    unsigned_division(args, |a, b| a % b)
}

fn remsi(args: &OpArgs<'_>) -> Result<Scalar, Trap> {
    signed_division(args, |a, b| a % b)
}

macro_rules! bitwise {
    ($($name:ident = |$a:ident, $b:ident, $w:ident| $value:expr;)*) => { $(
        fn $name(args: &OpArgs<'_>) -> Result<Scalar, Trap> {
            #[allow(unused_variables, reason = "not every op looks at the width")]
            binary(args, |$a, $b, $w| Ok(Some(i128::from($value))))
        }
    )* };
}

bitwise! {
    andi = |a, b, w| a & b;
    ori = |a, b, w| a | b;
    xori = |a, b, w| a ^ b;
    maxsi = |a, b, w| a.max(b);
    minsi = |a, b, w| a.min(b);
    maxui = |a, b, w| unsigned(a, w).max(unsigned(b, w));
    minui = |a, b, w| unsigned(a, w).min(unsigned(b, w));
}

fn addui_extended(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let w = width(args)?;
    let sum = |x: &[i64]| i128::from(unsigned(x[0], w)) + i128::from(unsigned(x[1], w));
    let low = map_int(data, None, |x| Ok(Some(wrap(sum(x), w))))?;
    let carry = map_int(data, Some(gradus_ir::DType::Bool), |x| Ok(Some(-i64::from(sum(x) >> w != 0))))?;
    Ok(vec![low, carry])
}

/// Returns the low and high half of a product.
fn halves(args: &OpArgs<'_>, data: &[Datum], product: impl Fn(i64, i64, u32) -> i128) -> Result<Vec<Datum>, Trap> {
    let w = width(args)?;
    let low = map_int(data, None, |x| Ok(Some(wrap(product(x[0], x[1], w), w))))?;
    let high = map_int(data, None, |x| Ok(Some(wrap(product(x[0], x[1], w) >> w, w))))?;
    Ok(vec![low, high])
}

fn mulsi_extended(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    halves(args, data, |a, b, _| i128::from(a) * i128::from(b))
}

fn mului_extended(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    halves(args, data, |a, b, w| (u128::from(unsigned(a, w)) * u128::from(unsigned(b, w))) as i128)
}
