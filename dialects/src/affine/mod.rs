//! `affine`: loops, conditionals and memory accesses with affine bounds and indices, that is, linear combinations of
//! induction variables and symbols, with division and remainder by constants. The restrictions make exact dependence
//! analysis possible.
//!
//! Operands are *dimensions* (induction variables and affine functions of them) or *symbols* (invariant within the
//! affine scope); see `scope`.

mod access;
mod apply;
mod counted;
mod dependence;
mod dma;
mod for_loop;
mod if_op;
mod index;
mod inline;
mod min_max;
mod parallel;
mod range;
mod reduction;
mod scope;
mod text;
mod tile;
mod value_map;

pub use access::{LoadOp, PrefetchOp, StoreOp, VectorLoadOp, VectorStoreOp};
pub use apply::ApplyOp;
pub use dependence::{footprint, is_permutable};
pub use dma::{DmaStartOp, DmaWaitOp};
pub use for_loop::{ForOp, LoopBounds, simple_bound};
pub use if_op::IfOp;
pub use index::{DelinearizeIndexOp, LinearizeIndexOp};
pub use inline::can_inline;
pub use min_max::{MaxOp, MinOp, folded_map};
pub use parallel::{GroupedBounds, ParallelOp};
pub use reduction::{REDUCTIONS, ReductionKind};
pub use tile::{perfect_nest, tile};
pub use value_map::AffineValueMap;

use crate::constraint::{ANY, kind};
use crate::scf::iteration_space::FURTHEST;
use gradus_ir::affine::{AffineBinOp, AffineBinary, AffineExpr, AffineMap, NoValue};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::scalar::Scalar;
use gradus_ir::{
    AttrData, AttrKind, Dialect, Module, Op, OpArgs, OpDecl, OpState, PatternRewriter, Rewriter, Traits, Violation, op,
};

/// An affine map.
pub const MAP: AttrKind = kind("AffineMap attribute", |c, a| matches!(c.attr_data(a), AttrData::AffineMap(_)));
/// An integer set.
pub const SET: AttrKind = kind("IntegerSet attribute", |c, a| matches!(c.attr_data(a), AttrData::IntegerSet(_)));

/// Terminates a region of an affine op and yields values to it.
///
/// ```mlir
/// %sum = affine.for %i = 0 to 8 iter_args(%acc = %init) -> (index) {
///   %next = arith.addi %acc, %i : index
///   affine.yield %next : index
/// }
/// ```
#[op(
    "affine.yield",
    traits = Traits::TERMINATOR.and(Traits::RETURN_LIKE),
    format = "attr-dict ($operands^ `:` type($operands))?",
    verify = verify_yield
)]
pub struct YieldOp {
    /// Yielded values.
    operands: Operands<ANY>,
}

fn verify_yield(m: &Module, op: Op) -> Result<(), Violation> {
    let parent = m
        .parent_op(op)
        .filter(|&p| ParallelOp::cast(m, p).is_some() || IfOp::cast(m, p).is_some() || ForOp::cast(m, p).is_some());
    let Some(parent) = parent else { return Err("only terminates affine.if/for/parallel regions".into()) };
    if m.num_results(parent) != m.operands(op).len() {
        return Err("parent of yield must have same number of results as the yield operands".into());
    }
    let mut pairs = m.results(parent).zip(m.operands(op));
    if pairs.any(|(result, &operand)| m.value_type(result) != m.value_type(operand)) {
        return Err("types mismatch between yield op and its parent".into());
    }
    Ok(())
}

/// Evaluates a map whose results control execution: poison and overflow are undefined behavior. Never empty.
fn results(map: &AffineMap, data: &[Datum]) -> Result<Vec<i64>, Trap> {
    if data.contains(&Datum::Poison) {
        return Err(Trap::Ub("a control-flow decision depends on a poison affine map".into()));
    }
    values(map, data)?.ok_or_else(|| Trap::Ub("an affine expression overflows".into()))
}

/// Evaluates the bound of a loop, which `pick` chooses among the results of a map. One beyond [`FURTHEST`] is undefined behavior.
fn bound(map: &AffineMap, data: &[Datum], pick: fn(i64, i64) -> i64) -> Result<i64, Trap> {
    let bound = results(map, data)?.into_iter().reduce(pick).unwrap_or(0);
    let is_near = bound.unsigned_abs() <= FURTHEST;
    is_near.then_some(bound).ok_or_else(|| Trap::Ub(format!("a bound of a loop is {bound}, beyond 3 * 2^60")))
}

/// Evaluates a map; `None` on overflow. Never empty.
fn values(map: &AffineMap, data: &[Datum]) -> Result<Option<Vec<i64>>, Trap> {
    let inputs = data.iter().map(Datum::int).collect::<Result<Vec<i64>, Trap>>()?;
    if inputs.len() != map.num_inputs() || map.results.is_empty() {
        return Err(Trap::unsupported("a map that does not fit its operands"));
    }
    let (dims, symbols) = inputs.split_at(map.num_dims as usize);
    match map.eval(dims, symbols) {
        Ok(values) => Ok(Some(values)),
        Err(reason) => no_value(reason),
    }
}

/// Evaluates the map attribute `map` and picks a result; poison on overflow.
fn one_result(args: &OpArgs<'_>, pick: fn(i64, i64) -> i64) -> Result<Scalar, Trap> {
    let map = args.attr("map").and_then(|a| text::map_data(args.ctx(), a));
    let map = map.ok_or_else(|| Trap::unsupported("an op without its map"))?.clone();
    if args.operands.len() != map.num_inputs() || map.results.is_empty() {
        return Err(Trap::unsupported("a map that does not fit its operands"));
    }
    Ok(Scalar::ints(move |x| {
        let (dims, symbols) = x.split_at(map.num_dims as usize);
        if let [expr] = &*map.results {
            return expr.eval(dims, symbols).map_or_else(no_value, |value| Ok(Some(value)));
        }
        match map.eval(dims, symbols) {
            Ok(values) => Ok(values.into_iter().reduce(pick)),
            Err(reason) => no_value(reason),
        }
    }))
}

/// Maps overflow to poison, and division by a non-positive number to undefined behavior.
fn no_value<T>(reason: NoValue) -> Result<Option<T>, Trap> {
    match reason {
        NoValue::Overflow => Ok(None),
        _ => Err(Trap::Ub("an affine expression divides by a non-positive number".into())),
    }
}

/// Whether the attribute `map` divides by positive constants only, so that evaluation is never undefined.
fn divides_by_constants(m: &Module, op: Op) -> bool {
    let map = m.inherent_attr(op, "map").and_then(|a| text::map_data(&m.ctx, a));
    map.is_some_and(|map| map.results.iter().all(AffineExpr::divides_by_constants))
}

/// Whether the attribute `map` divides by an expression of input `i`. Poison there is undefined behavior: lowered to
/// arithmetic, the divisor is poison.
fn is_in_divisor(args: &OpArgs<'_>, i: usize) -> bool {
    let Some(map) = args.attr("map").and_then(|a| text::map_data(args.ctx(), a)) else { return false };
    let is_input = |leaf: &AffineExpr| match *leaf {
        AffineExpr::Dim(n) => n as usize == i,
        AffineExpr::Symbol(n) => (n + map.num_dims) as usize == i,
        _ => false,
    };
    // Whether the expression has the input, and whether a divisor in it has.
    let divides = |node: &AffineBinary, lhs: (bool, bool), rhs: (bool, bool)| {
        let is_division = !matches!(node.op(), AffineBinOp::Add | AffineBinOp::Mul);
        Some((lhs.0 | rhs.0, lhs.1 | rhs.1 | (is_division && rhs.0)))
    };
    map.results.iter().any(|expr| expr.fold(|leaf| Some((is_input(leaf), false)), divides).is_some_and(|found| found.1))
}

/// Sets the map `name` of an op and its operands from `first` on.
fn set_map(rw: &mut Rewriter<'_>, op: Op, name: &str, first: usize, applied: &AffineValueMap) -> bool {
    let attr = applied.to_attr(&rw.module().ctx);
    let operands = [&rw.module().operands(op)[..first], &applied.operands].concat();
    rw.modify(op, |m| {
        m.set_attr(op, name, Some(attr));
        m.set_operands(op, &operands);
    });
    true
}

/// Replaces an op by the op `name` with a map.
fn replace_with_map(rw: &mut Rewriter<'_>, op: Op, name: &str, applied: &AffineValueMap) -> bool {
    let m = rw.module();
    let mut state = OpState::new(&m.ctx, name, m.loc(op));
    state.operands.extend_from_slice(&applied.operands);
    state.inherent(&m.ctx, "map", Some(applied.to_attr(&m.ctx)));
    rw.replace_with(op, state).is_ok()
}

/// The dialect declaration.
pub const DIALECT: Dialect = Dialect {
    name: "affine",
    doc: "Loops, conditionals and memory accesses with affine bounds and indices.",
    ops: &[
        ApplyOp::INFO,
        MinOp::INFO,
        MaxOp::INFO,
        ForOp::INFO,
        IfOp::INFO,
        ParallelOp::INFO,
        YieldOp::INFO,
        LoadOp::INFO,
        StoreOp::INFO,
        VectorLoadOp::INFO,
        VectorStoreOp::INFO,
        PrefetchOp::INFO,
        DmaStartOp::INFO,
        DmaWaitOp::INFO,
        DelinearizeIndexOp::INFO,
        LinearizeIndexOp::INFO,
    ],
    constant: None,
    ..Dialect::DEFAULT
};
