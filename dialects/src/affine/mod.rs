//! `affine`: loops, conditions and accesses to memory whose bounds and indices are affine expressions: sums of multiples
//! of loop counters and of numbers that do not change meanwhile, and what they leave when divided by constants. So little
//! is allowed that passes can know all that such a program does.
//!
//! Operands are *dimensions* (induction variables and what is computed of them) or *symbols* (numbers that are fixed in
//! the function); `scope` says which values can be which.

mod access;
mod applied;
mod apply;
mod counted;
mod dependence;
mod dma;
mod for_loop;
mod if_op;
mod index;
mod index_patterns;
mod min_max;
mod parallel;
mod range;
mod reduction;
mod scope;
mod text;
mod tile;

pub use access::{LoadOp, PrefetchOp, StoreOp, VectorLoadOp, VectorStoreOp};
pub use applied::Applied;
pub use apply::ApplyOp;
pub use dependence::{footprint, is_permutable};
pub use dma::{DmaStartOp, DmaWaitOp};
pub use for_loop::{Bounds, ForOp, simple_bound};
pub use if_op::IfOp;
pub use index::{DelinearizeIndexOp, LinearizeIndexOp};
pub use min_max::{MaxOp, MinOp, partly_folded};
pub use parallel::{GroupedBounds, ParallelOp};
pub use reduction::{REDUCTIONS, Reduction};
pub use scope::can_inline;
pub use tile::{perfect_nest, tile};

use crate::constraint::{ANY, kind};
use gradus_ir::affine::{AffineExpr, AffineMap, NoValue};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::scalar::Scalar;
use gradus_ir::{
    AttrData, AttrKind, Dialect, Module, Op, OpArgs, OpDecl, OpState, PatternRewriter, Rewriter, Traits, op,
};

/// An affine map.
pub const MAP: AttrKind = kind("AffineMap attribute", |c, a| matches!(c.attr_data(a), AttrData::AffineMap(_)));
/// An integer set.
pub const SET: AttrKind = kind("IntegerSet attribute", |c, a| matches!(c.attr_data(a), AttrData::IntegerSet(_)));

/// Ends a region of an affine op, and hands values to it.
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
    /// The values.
    operands: Operands<ANY>,
}

fn verify_yield(m: &Module, op: Op) -> Result<(), String> {
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

/// Bounds further from 0 are none: there is room beyond them for what passes make of bounds, such as multiples of a factor.
/// Extreme numbers, their halves and quarters, are far from it, so that they and what is made of them are on one side.
const FURTHEST: u64 = 3 << 60;

/// The results of a map for operands that something is decided by: where they have no value, the program is undefined. No
/// list is empty.
fn results(map: &AffineMap, data: &[Datum]) -> Result<Vec<i64>, Trap> {
    if data.contains(&Datum::Poison) {
        return Err(Trap::Ub("an affine map of poison".into()));
    }
    let near = |list: &Vec<i64>| list.iter().all(|n| n.unsigned_abs() <= FURTHEST);
    values(map, data)?.filter(near).ok_or_else(|| Trap::Ub("an affine expression overflows".into()))
}

/// The results of a map for operands that it is applied to; `None` if one is too large. No list is empty.
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

/// One of the results of the map in attribute `map` for all operands; poison if one is too large.
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

/// Poison for what is too large. To divide by a number below one is undefined.
fn no_value<T>(reason: NoValue) -> Result<Option<T>, Trap> {
    match reason {
        NoValue::Overflow => Ok(None),
        _ => Err(Trap::Ub("an affine expression divides by a number below one".into())),
    }
}

/// Whether the map in attribute `map` has a value, or poison, for all operands: it divides by positive constants alone.
fn divides_by_constants(m: &Module, op: Op) -> bool {
    let map = m.inherent_attr(op, "map").and_then(|a| text::map_data(&m.ctx, a));
    map.is_some_and(|map| map.results.iter().all(AffineExpr::divides_by_constants))
}

/// Gives an op another map, under `name`, and other operands from number `first` on.
fn set_map(rw: &mut Rewriter<'_>, op: Op, name: &str, first: usize, applied: &Applied) -> bool {
    let attr = applied.to_attr(&rw.module().ctx);
    let operands = [&rw.module().operands(op)[..first], &applied.operands].concat();
    rw.modify(op, |m| {
        m.set_attr(op, name, Some(attr));
        m.set_operands(op, &operands);
    });
    true
}

/// Replaces an op by op `name` of a map.
fn replace_with_map(rw: &mut Rewriter<'_>, op: Op, name: &str, applied: &Applied) -> bool {
    let m = rw.module();
    let mut state = OpState::new(&m.ctx, name, m.loc(op));
    state.operands.extend_from_slice(&applied.operands);
    state.inherent(&m.ctx, "map", Some(applied.to_attr(&m.ctx)));
    rw.replace_with(op, state).is_ok()
}

/// The dialect.
pub const DIALECT: Dialect = Dialect {
    name: "affine",
    doc: "Loops, conditions and accesses to memory with affine bounds and indices.",
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
    attrs: &[],
    constant: None,
    ..Dialect::DEFAULT
};
