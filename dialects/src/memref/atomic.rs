//! Atomic updates: `atomic_rmw`, `generic_atomic_rmw`.

use super::access::FOLD_CAST_KEEPING_VALUE;
use super::types::{NUMBER, NUMBERS, element_of_memref};
use super::{indices, rank};
use crate::arith;
use crate::constraint::{ANY, INDEX, kind};
use gradus_ir::control::{Event, Next};
use gradus_ir::effects::is_memory_free;
use gradus_ir::eval::{Datum, Trap, eval_op};
use gradus_ir::memory::Memory;
use gradus_ir::{
    Access, Attr, AttrData, AttrKind, AttrText, Effects, Int, Module, Op, OpArgs, OpDecl, OpInfo, Traits, Type,
    TypeRelation, Violation, op,
};

/// Atomically combines an element with a value and stores the result. Returns the old element.
///
/// ```mlir
/// %0 = memref.atomic_rmw addf %v, %m[%i] : (f32, memref<10xf32>) -> f32
/// ```
#[op(
    "memref.atomic_rmw",
    effects = ACCESS,
    relations = &[
        TypeRelation::Same(&["value", "result"]),
        element_of_memref("value", "value type matches element type of memref"),
    ],
    format = "$kind $value `,` $memref `[` $indices `]` attr-dict `:` `(` type($value) `,` type($memref) `)` `->` type($result)",
    verify = verify_rmw,
    exec = rmw,
    patterns = &[FOLD_CAST_KEEPING_VALUE]
)]
pub struct AtomicRMWOp {
    /// Kind of the combination.
    kind: Attribute<ATOMIC_KIND>,
    /// Value to combine with.
    value: Operand<NUMBER>,
    /// Memref of the updated element.
    memref: Operand<NUMBERS>,
    /// Indices, one per dimension.
    indices: Operands<INDEX>,
    /// Old element.
    result: OpResult<NUMBER>,
}

/// Atomically replaces an element by the result of a region. Returns the old element.
///
/// ```mlir
/// %0 = memref.generic_atomic_rmw %m[%i] : memref<10xf32> {
/// ^bb0(%old: f32):
///   %1 = arith.negf %old : f32
///   memref.atomic_yield %1 : f32
/// }
/// ```
#[op(
    "memref.generic_atomic_rmw",
    traits = Traits::SINGLE_BLOCK,
    effects = ACCESS,
    relations = &[element_of_memref("result", "result type matches element type of memref")],
    format = "$memref `[` $indices `]` `:` type($memref) $atomic_body attr-dict",
    verify = verify_generic,
    control_memory = generic
)]
pub struct GenericAtomicRMWOp {
    /// Memref of the updated element.
    memref: Operand<NUMBERS>,
    /// Indices, one per dimension.
    indices: Operands<INDEX>,
    /// Old element.
    result: OpResult<NUMBER>,
    /// Computes the new element from the old one; must be free of side effects.
    atomic_body: Region,
}

/// Terminates the region of `memref.generic_atomic_rmw`.
#[op(
    "memref.atomic_yield",
    traits = Traits::TERMINATOR,
    parents = &["memref.generic_atomic_rmw"],
    format = "$result attr-dict `:` type($result)",
    verify = verify_yield
)]
pub struct AtomicYieldOp {
    /// New element.
    result: Operand<ANY>,
}

const ACCESS: Effects = Effects::Memory(&[(Access::Read, "memref"), (Access::Write, "memref")]);

/// The kind of an atomic read-modify-write.
pub const ATOMIC_KIND: AttrKind = AttrKind {
    text: AttrText::Cases(
        Type::I64,
        &[
            ("addf", 0),
            ("addi", 1),
            ("andi", 2),
            ("assign", 3),
            ("maximumf", 4),
            ("maxnumf", 5),
            ("maxs", 6),
            ("maxu", 7),
            ("minimumf", 8),
            ("minnumf", 9),
            ("mins", 10),
            ("minu", 11),
            ("mulf", 12),
            ("muli", 13),
            ("ori", 14),
            ("xori", 15),
        ],
    ),
    ..kind("allowed 64-bit signless integer cases: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15", |c, a| {
        matches!(c.attr_data(a), AttrData::Integer { ty: Type::I64, value: Int::Small(0..=15) })
    })
};

/// Returns the op that computes an atomic kind; `None` for `assign`.
pub fn combining_op(kind: i64) -> Option<&'static OpInfo> {
    Some(match kind {
        0 => arith::AddFOp::INFO,
        1 => arith::AddIOp::INFO,
        2 => arith::AndIOp::INFO,
        4 => arith::MaximumFOp::INFO,
        5 => arith::MaxNumFOp::INFO,
        6 => arith::MaxSIOp::INFO,
        7 => arith::MaxUIOp::INFO,
        8 => arith::MinimumFOp::INFO,
        9 => arith::MinNumFOp::INFO,
        10 => arith::MinSIOp::INFO,
        11 => arith::MinUIOp::INFO,
        12 => arith::MulFOp::INFO,
        13 => arith::MulIOp::INFO,
        14 => arith::OrIOp::INFO,
        15 => arith::XOrIOp::INFO,
        _ => return None,
    })
}

fn verify_rmw(m: &Module, op: Op) -> Result<(), Violation> {
    let rmw = AtomicRMWOp(op);
    if rank(m, rmw.memref(m)) != rmw.indices(m).len() {
        return Err("expects the number of subscripts to be equal to memref rank".into());
    }
    let kind = rmw.kind(m).and_then(|a| m.ctx.as_int(a)).unwrap_or(0);
    let AttrText::Cases(_, cases) = ATOMIC_KIND.text else { return Ok(()) };
    let word = cases.iter().find(|c| c.1 == kind).map_or("", |c| c.0);
    let is_float = m.ctx.float_kind(m.value_type(rmw.value(m))).is_some();
    match kind {
        0 | 4 | 8 | 12 if !is_float => Err(format!("with kind '{word}' expects a floating-point type").into()),
        1 | 2 | 6 | 7 | 10 | 11 | 13 | 14 | 15 if is_float => {
            Err(format!("with kind '{word}' expects an integer type").into())
        }
        _ => Ok(()),
    }
}

fn verify_generic(m: &Module, op: Op) -> Result<(), Violation> {
    let rmw = GenericAtomicRMWOp(op);
    if rank(m, rmw.memref(m)) != rmw.indices(m).len() {
        return Err("expects the number of subscripts to be equal to memref rank".into());
    }
    let args = m.entry(rmw.atomic_body(m)).map_or(&[][..], |b| m.block_args(b));
    let &[arg] = args else { return Err("expected single number of entry block arguments".into()) };
    if m.value_type(arg) != m.value_type(rmw.result(m)) {
        return Err("expected block argument of the same type result type".into());
    }
    let inner = m.ops_under(op);
    if inner[1..].iter().any(|&inner| !is_memory_free(m, inner)) {
        return Err("body of 'memref.generic_atomic_rmw' should contain only operations with no side effects".into());
    }
    Ok(())
}

fn verify_yield(m: &Module, op: Op) -> Result<(), Violation> {
    let Some(rmw) = m.parent_op(op).and_then(|p| GenericAtomicRMWOp::cast(m, p)) else { return Ok(()) };
    let (have, want) = (m.value_type(AtomicYieldOp(op).result(m)), m.value_type(rmw.result(m)));
    if have == want {
        return Ok(());
    }
    let (have, want) = (m.ctx.display_type(have), m.ctx.display_type(want));
    Err(format!("types mismatch between yield op: '{have}' and its parent: '{want}'").into())
}

fn rmw(args: &OpArgs<'_>, data: &[Datum], memory: &mut Memory) -> Result<Vec<Datum>, Trap> {
    let (view, at) = (data[1].memref()?, indices(&data[2..])?);
    let old = memory.atomically(|memory| memory.load(view, &at))?;
    let new = match combining_op(args.int("kind").unwrap_or(0)) {
        Some(info) => {
            let args = OpArgs { info, op: None, operands: &args.operands[..1], props: Attr::EMPTY_DICT, ..*args };
            eval_op(&args, &[old.clone(), data[0].clone()])?.remove(0)
        }
        None => data[0].clone(),
    };
    memory.atomically(|memory| memory.store(new, view, &at))?;
    Ok(vec![old])
}

fn generic(_: &OpArgs<'_>, data: &[Datum], event: Event<'_>, memory: &mut Memory) -> Result<Next, Trap> {
    let (view, at) = (data[0].memref()?, indices(&data[1..])?);
    Ok(match event {
        Event::Enter => Next::Region(0, vec![memory.atomically(|memory| memory.load(view, &at))?]),
        Event::Left { args, yielded, .. } => {
            let new = yielded.first().cloned().unwrap_or(Datum::Poison);
            memory.atomically(|memory| memory.store(new, view, &at))?;
            Next::Done(args.to_vec())
        }
    })
}
