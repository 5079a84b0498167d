//! Comparisons and selection.

use super::int::{unsigned, width};
use super::{FASTMATH, bool_like};
use crate::constraint::{ANY, BOOL_LIKE, FLOAT_LIKE, INT_OR_INDEX_LIKE, kind};
use gradus_ir::eval::{Datum, PoisonTensor, Trap};
use gradus_ir::scalar::Scalar;
use gradus_ir::{
    Attr, AttrKind, AttrText, DType, Folded, Module, Op, OpArgs, Traits, Type, TypeRelation, Violation, op,
};

/// The numbers of the predicates of `arith.cmpi`.
pub mod int_predicate {
    /// Equal.
    pub const EQ: i64 = 0;
    /// Not equal.
    pub const NE: i64 = 1;
    /// Less, signed.
    pub const SLT: i64 = 2;
    /// Less or equal, signed.
    pub const SLE: i64 = 3;
    /// Greater, signed.
    pub const SGT: i64 = 4;
    /// Greater or equal, signed.
    pub const SGE: i64 = 5;
    /// Less, unsigned.
    pub const ULT: i64 = 6;
    /// Less or equal, unsigned.
    pub const ULE: i64 = 7;
    /// Greater, unsigned.
    pub const UGT: i64 = 8;
    /// Greater or equal, unsigned.
    pub const UGE: i64 = 9;
}

const INT_CASES: &[(&str, i64)] = &[
    ("eq", int_predicate::EQ),
    ("ne", int_predicate::NE),
    ("slt", int_predicate::SLT),
    ("sle", int_predicate::SLE),
    ("sgt", int_predicate::SGT),
    ("sge", int_predicate::SGE),
    ("ult", int_predicate::ULT),
    ("ule", int_predicate::ULE),
    ("ugt", int_predicate::UGT),
    ("uge", int_predicate::UGE),
];

const FLOAT_CASES: &[(&str, i64)] = &[
    ("false", 0),
    ("oeq", 1),
    ("ogt", 2),
    ("oge", 3),
    ("olt", 4),
    ("ole", 5),
    ("one", 6),
    ("ord", 7),
    ("ueq", 8),
    ("ugt", 9),
    ("uge", 10),
    ("ult", 11),
    ("ule", 12),
    ("une", 13),
    ("uno", 14),
    ("true", 15),
];

/// Integer comparison predicate.
pub const INT_PREDICATE: AttrKind = AttrKind {
    text: AttrText::Cases(Type::I64, INT_CASES),
    ..kind("allowed 64-bit signless integer cases: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9", |c, a| {
        c.attr_type(a) == Some(Type::I64) && c.as_int(a).is_some_and(|v| (0..10).contains(&v))
    })
};

/// Float comparison predicate: ordered predicates are false for NaN, unordered ones true.
pub const FLOAT_PREDICATE: AttrKind = AttrKind {
    text: AttrText::Cases(Type::I64, FLOAT_CASES),
    ..kind("allowed 64-bit signless integer cases: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15", |c, a| {
        c.attr_type(a) == Some(Type::I64) && c.as_int(a).is_some_and(|v| (0..16).contains(&v))
    })
};

/// Integer comparison.
///
/// ```mlir
/// %0 = arith.cmpi slt, %a, %b : i32
/// ```
#[op(
    "arith.cmpi",
    infer = infer,
    relations = &[TypeRelation::SameOperands],
    fold = fold_cmpi,
    scalar = cmpi,
    format = "$predicate `,` $lhs `,` $rhs attr-dict `:` type($lhs)"
)]
pub struct CmpIOp {
    /// Predicate.
    predicate: Attribute<INT_PREDICATE>,
    /// Left operand.
    lhs: Operand<INT_OR_INDEX_LIKE>,
    /// Right operand.
    rhs: Operand<INT_OR_INDEX_LIKE>,
    /// Truth value.
    result: OpResult<BOOL_LIKE>,
}

/// Float comparison.
///
/// ```mlir
/// %0 = arith.cmpf olt, %a, %b : f32
/// ```
#[op(
    "arith.cmpf",
    infer = infer,
    relations = &[TypeRelation::SameOperands],
    scalar = cmpf,
    format = "$predicate `,` $lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($lhs)"
)]
pub struct CmpFOp {
    /// Predicate.
    predicate: Attribute<FLOAT_PREDICATE>,
    /// Left operand.
    lhs: Operand<FLOAT_LIKE>,
    /// Right operand.
    rhs: Operand<FLOAT_LIKE>,
    /// Fast-math flags.
    #[default = "#arith.fastmath<none>"]
    fastmath: Attribute<FASTMATH>,
    /// Truth value.
    result: OpResult<BOOL_LIKE>,
}

/// Selects one of two values by a condition; elementwise for a vector or tensor of conditions.
///
/// ```mlir
/// %0 = arith.select %c, %a, %b : i32
/// %1 = arith.select %d, %x, %y : vector<4xi1>, vector<4xi32>
/// ```
#[op(
    "arith.select",
    relations = &[TypeRelation::Same(&["true_value", "false_value", "result"])],
    verify = verify_select,
    fold = fold_select,
    eval = select,
    traits = Traits::SEES_POISON,
    format = "$condition `,` $true_value `,` $false_value attr-dict `:` custom<ConditionTypes>($condition, $result)"
)]
pub struct SelectOp {
    /// Condition.
    condition: Operand<BOOL_LIKE>,
    /// Value if the condition is true.
    true_value: Operand<ANY>,
    /// Value if the condition is false.
    false_value: Operand<ANY>,
    /// Selected value.
    result: OpResult<ANY>,
}

fn infer(args: &OpArgs<'_>) -> Result<Vec<Type>, Violation> {
    Ok(vec![bool_like(args.ctx(), args.operand_type(0))])
}

fn verify_select(m: &Module, op: Op) -> Result<(), Violation> {
    let ctx = &m.ctx;
    let types: Vec<Type> = m.operands(op).iter().map(|&v| m.value_type(v)).collect();
    let result = m.value_type(m.result(op, 0));
    if types[0] != Type::I1 && types[0] != bool_like(ctx, result) {
        let (have, want) = (ctx.display_type(types[0]), ctx.display_type(bool_like(ctx, result)));
        return Err(format!(
            "expected condition type to have the same shape as the result type, expected '{want}', but got '{have}'"
        )
        .into());
    }
    Ok(())
}

/// Whether the predicate holds for equal operands.
fn holds_for_equal(predicate: i64) -> bool {
    matches!(predicate, 0 | 3 | 5 | 7 | 9)
}

/// cmpi(x, x) is constant.
fn fold_cmpi(args: &OpArgs<'_>, _: &[Option<Attr>]) -> Option<Folded> {
    if args.operands[0] != args.operands[1] {
        return None;
    }
    let holds = holds_for_equal(args.int("predicate")?);
    args.ctx().uniform_attr(*args.result_types.first()?, -f64::from(holds)).map(Folded::from)
}

/// select(c, x, x) = x, select(true, x, y) = x, select(false, x, y) = y, and the operand that is not poison is
/// selected.
fn fold_select(args: &OpArgs<'_>, c: &[Option<Attr>]) -> Option<Folded> {
    let poison = Some(args.ctx().poison_attr());
    let [_, yes, no] = *args.operands else { return None };
    if yes == no || c[2] == poison {
        return Some(yes.into());
    }
    if c[1] == poison {
        return Some(no.into());
    }
    match args.ctx().as_uniform(c[0]?)? {
        0.0 => Some(args.operands[2].into()),
        _ => Some(args.operands[1].into()),
    }
}

fn cmpi(args: &OpArgs<'_>) -> Result<Scalar, Trap> {
    let w = width(args)?;
    let predicate = args.int("predicate").unwrap_or(0);
    let answer = move |x: &[i64]| {
        let (a, b) = (x[0], x[1]);
        let (ua, ub) = (unsigned(a, w), unsigned(b, w));
        Ok(Some(-i64::from(match predicate {
            0 => a == b,
            1 => a != b,
            2 => a < b,
            3 => a <= b,
            4 => a > b,
            5 => a >= b,
            6 => ua < ub,
            7 => ua <= ub,
            8 => ua > ub,
            _ => ua >= ub,
        })))
    };
    Ok(Scalar::Ints(Box::new(answer), Some(DType::Bool)))
}

fn cmpf(args: &OpArgs<'_>) -> Result<Scalar, Trap> {
    let predicate = args.int("predicate").unwrap_or(0);
    let (nnan, ninf) = super::excludes_nan_and_inf(args);
    let answer = move |x: &[f64]| {
        let (a, b) = (x[0], x[1]);
        let broken = (nnan && (a.is_nan() || b.is_nan())) || (ninf && (a.is_infinite() || b.is_infinite()));
        (!broken).then(|| -i64::from(holds(predicate, a, b)))
    };
    Ok(Scalar::FloatsToInt(Box::new(answer), Some(DType::Bool)))
}

/// Evaluates a predicate. Ordered predicates are bit sums of equal 1, greater 2 and less 4; the others add unordered 8,
/// except that MLIR numbers `uno` after them.
fn holds(predicate: i64, a: f64, b: f64) -> bool {
    let predicate = match predicate {
        0..=7 | 15 => predicate,
        14 => 8,
        _ => predicate + 1,
    };
    let bit = match a.partial_cmp(&b) {
        Some(std::cmp::Ordering::Equal) => 1,
        Some(std::cmp::Ordering::Greater) => 2,
        Some(std::cmp::Ordering::Less) => 4,
        None => 8,
    };
    predicate & bit != 0
}

/// Evaluates a selection; values that are not selected may be poison.
fn select(_: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let condition = match &data[0] {
        Datum::Tensor(condition) => condition,
        Datum::Poison => return Ok(vec![poison_like(&data[1])]),
        Datum::PoisonTensor(_) => return select_elements(data),
        scalar => return Ok(vec![data[if scalar.int()? != 0 { 1 } else { 2 }].clone()]),
    };
    let (Datum::Tensor(yes), Datum::Tensor(no)) = (&data[1], &data[2]) else { return select_elements(data) };
    if yes.dtype() != no.dtype() || yes.len() != no.len() || condition.len() != yes.len() {
        return Err(Trap::unsupported("tensors of different shapes"));
    }
    let size = yes.dtype().size();
    let rows = condition.bytes().iter().zip(yes.bytes().chunks(size).zip(no.bytes().chunks(size)));
    let bytes: Vec<u8> = rows.flat_map(|(&c, (y, n))| if c != 0 { y } else { n }).copied().collect();
    Ok(vec![Datum::Tensor(gradus_ir::Tensor::new(yes.dtype(), yes.shape().to_vec(), bytes.into())?)])
}

/// Returns poison with the extents of a value.
fn poison_like(datum: &Datum) -> Datum {
    let extents = |(tensor, _): (&gradus_ir::Tensor, _)| PoisonTensor::all(tensor.dtype(), tensor.shape());
    datum.masked().and_then(extents).unwrap_or(Datum::Poison)
}

/// Evaluates a selection between tensors element by element; poison if extents are unknown.
fn select_elements(data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let Some((like, _)) = data[1..].iter().find_map(Datum::masked) else { return Ok(vec![Datum::Poison]) };
    let elements = |datum: &Datum| datum.elements().unwrap_or_else(|| vec![Datum::Poison; like.len()]);
    let (conditions, yes, no) = (elements(&data[0]), elements(&data[1]), elements(&data[2]));
    let chosen = conditions.iter().zip(yes.into_iter().zip(no)).map(|(condition, (yes, no))| match condition {
        Datum::Poison => Datum::Poison,
        Datum::Int(0) => no,
        _ => yes,
    });
    Ok(vec![Datum::from_elements(like.dtype(), like.shape(), &chosen.collect::<Vec<_>>())?])
}
