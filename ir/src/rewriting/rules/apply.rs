//! Application of rules to programs: the first match at an op is rewritten.

use super::bindings::Bindings;
use super::builder::{RightSideBuilder, build_right_side};
use super::matcher::{Anchor, Match, MatchGraph, Matcher, Premises};
use super::profit::{CostFn, is_profitable};
use super::{CompiledRule, OpTerm};
use crate::context::Context;
use crate::edit::OpState;
use crate::intern::{Attr, Type};
use crate::module::{Module, Op, Value, ValueList};
use crate::op_info::{FoldResult, Folded};
use crate::rewriting::pattern_rewriter::PatternRewriter;
use crate::rewriting::rewrite::{Rewriter, fold};
use crate::verify::verify_op;
use smallvec::SmallVec;
use std::ops::ControlFlow;

/// Maximum number of ops examined per match attempt.
const FUEL: usize = 2000;

/// Maximum number of users of a value tried for a further root.
const MAX_USERS: usize = 100;

/// Applies a rule at an op, without a driver: only the new ops are folded. Returns whether the rule fired.
pub fn apply_at(m: &mut Module, rule: &CompiledRule, op: Op) -> bool {
    apply(&mut Rewriter::new(m, None, None), rule, op, None)
}

/// Whether a rule matches at an op and its conditions hold.
pub fn matches_at(m: &Module, rule: &CompiledRule, op: Op) -> bool {
    find(m, rule, op).is_some()
}

/// Applies a rule at an op, if it is profitable under `cost_fn`. Returns whether it fired; otherwise the program is
/// unchanged.
pub(crate) fn apply(rewriter: &mut Rewriter<'_>, rule: &CompiledRule, op: Op, cost_fn: Option<&CostFn>) -> bool {
    let m = rewriter.module();
    let Some(found) = find(m, rule, op) else { return false };
    let replaced: SmallVec<[Op; 2]> =
        (0..found.roots.len()).filter(|&i| !rule.keeps(i)).map(|i| found.roots[i]).collect();
    if replaced.is_empty() {
        return false;
    }
    let at = first_of(m, &replaced);
    let mut builder = RewriteBuilder { rewriter, at, made: SmallVec::new() };
    let values = builder.build_replacements(rule, found.bindings, &found.roots);
    let made = builder.made;
    let m = rewriter.module();
    let is_accepted =
        |values: &ValueList| cost_fn.is_none_or(|cost_fn| is_profitable(m, cost_fn, &made, &replaced, values));
    let Some(values) = values.filter(is_accepted) else {
        made.into_iter().rev().for_each(|op| rewriter.discard(op));
        return false;
    };
    let mut values = values.as_slice();
    for root in found.roots {
        let (own, rest) = values.split_at(rewriter.module().num_results(root));
        values = rest;
        if !rewriter.module().results(root).eq(own.iter().copied()) {
            rewriter.replace(root, own);
        }
    }
    true
}

/// Returns the first match of a rule at an op.
fn find(m: &Module, rule: &CompiledRule, op: Op) -> Option<Match<Op, Value>> {
    if !is_candidate(m, op, &rule.roots[0]) {
        return None;
    }
    let mut first = None;
    let _ = Matcher::new(m, rule, FUEL).at(op, &mut |found| {
        first = Some(found.clone());
        ControlFlow::Break(())
    });
    first
}

/// Whether an op has the name and number of operands of a pattern.
fn is_candidate(m: &Module, op: Op, pattern: &OpTerm) -> bool {
    m.name(op) == pattern.name && m.operands(op).len() == pattern.operands.len()
}

impl MatchGraph for Module {
    type Value = Value;
    type Node = Op;

    fn module(&self) -> &Module {
        self
    }

    fn is_same(&self, a: Value, b: Value) -> bool {
        a == b
    }

    fn value_type(&self, value: Value) -> Type {
        Module::value_type(self, value)
    }

    fn constant(&self, value: Value) -> Option<(Attr, Value)> {
        Module::constant(self, value).map(|attr| (attr, value))
    }

    fn representative(&self, value: Value) -> Option<Value> {
        Some(value)
    }

    fn definitions(&self, value: Value, pattern: &OpTerm, index: usize) -> impl Iterator<Item = (Op, Premises<Value>)> {
        let is_it = |op: &Op| {
            is_candidate(self, *op, pattern) && self.num_results(*op) > index && self.result(*op, index) == value
        };
        self.defining_op(value).filter(is_it).map(|op| (op, Premises::new())).into_iter()
    }

    /// Returns candidates in the block of the first root.
    fn further_roots(&self, pattern: &OpTerm, anchor: Anchor<Value>, matched: &[Op]) -> impl Iterator<Item = Op> {
        let (source, used) = match anchor {
            Anchor::Result(_, value) => (self.defining_op(value), None),
            Anchor::Operand(value) => (None, Some(value)),
        };
        let users = used.into_iter().flat_map(|value| self.uses(value)).map(|(user, _)| user).take(MAX_USERS);
        let block = self.parent_block(matched[0]);
        source.into_iter().chain(users).filter(move |op| {
            self.parent_block(*op) == block && !matched.contains(op) && is_candidate(self, *op, pattern)
        })
    }

    fn operands(&self, op: Op) -> &[Value] {
        Module::operands(self, op)
    }

    fn results(&self, op: Op, count: usize) -> Option<SmallVec<[Value; 2]>> {
        let results = Module::results(self, op);
        (results.len() == count).then(|| results.collect())
    }

    fn props(&self, op: Op) -> Attr {
        Module::props(self, op)
    }

    /// Whether an op may have attributes that the pattern does not mention: always, since dropping them is a refinement.
    fn allows_unmentioned(&self, _: &OpTerm, _: Attr) -> bool {
        true
    }
}

/// Whether two ops without regions are equivalent.
fn is_same(m: &Module, a: Op, b: Op) -> bool {
    let types = |op| m.results(op).map(|v| m.value_type(v));
    m.name(a) == m.name(b) && m.operands(a) == m.operands(b) && m.props(a) == m.props(b) && types(a).eq(types(b))
}

/// Returns the first of some ops in one block.
fn first_of(m: &Module, ops: &[Op]) -> Op {
    ops.iter().copied().reduce(|a, b| if is_before(m, a, b) { a } else { b }).expect("a rule has a root")
}

/// Whether `a` precedes `b` in their block. Searches in both directions at once.
fn is_before(m: &Module, a: Op, b: Op) -> bool {
    let (mut down, mut up) = (m.next_op(a), m.prev_op(a));
    loop {
        match (down, up) {
            (Some(op), _) if op == b => return true,
            (_, Some(op)) if op == b => return false,
            (None, None) => return false,
            _ => {}
        }
        down = down.and_then(|op| m.next_op(op));
        up = up.and_then(|op| m.prev_op(op));
    }
}

struct RewriteBuilder<'b, 'm> {
    rewriter: &'b mut Rewriter<'m>,
    /// The insertion point: before this op.
    at: Op,
    made: SmallVec<[Op; 4]>,
}

impl RewriteBuilder<'_, '_> {
    /// Builds the values that replace the results of all roots. `None` if they cannot be built, or are not available
    /// there.
    fn build_replacements(
        &mut self,
        rule: &CompiledRule,
        bindings: Bindings<Value>,
        roots: &[Op],
    ) -> Option<ValueList> {
        let m = self.rewriter.module();
        let results: ValueList = roots.iter().flat_map(|&root| m.results(root)).collect();
        let values = build_right_side(self, rule, bindings, &results)?;
        let allowed = values[..] != results[..] && (roots.len() == 1 || self.are_available(roots, &values));
        allowed.then(|| ValueList::from_slice(&values))
    }

    /// Whether the replacements of several roots are defined before the first replaced root, and not by a replaced
    /// root.
    fn are_available(&self, roots: &[Op], values: &[Value]) -> bool {
        let m = self.rewriter.module();
        let block = m.parent_block(self.at);
        let above = |v: Value| {
            let source = m.defining_op(v).filter(|&op| m.parent_block(op) == block && !self.made.contains(&op));
            source.is_none_or(|op| op == self.at || is_before(m, op, self.at))
        };
        let mut rest = values;
        let mut gone: SmallVec<[Op; 2]> = SmallVec::new();
        for &root in roots {
            let (own, others) = rest.split_at(m.num_results(root));
            rest = others;
            if m.results(root).eq(own.iter().copied()) {
                continue;
            }
            if m.results(root).zip(own).any(|(old, &new)| old == new) || !own.iter().all(|&v| above(v)) {
                return false;
            }
            gone.push(root);
        }
        let goes = |v: &Value| m.defining_op(*v).is_some_and(|op| gone.contains(&op));
        !values.iter().any(goes) && self.made.iter().flat_map(|&op| m.operands(op)).all(|&v| above(v) && !goes(&v))
    }

    /// Folds an op whose operands are all constant.
    fn fold_constant(&mut self, op: Op) -> Option<Value> {
        let m = self.rewriter.module();
        let is_constant = m.num_results(op) == 1 && m.operands(op).iter().all(|&v| m.constant(v).is_some());
        match is_constant.then(|| fold(m, op))?? {
            Folded::Results(results) => match results[..] {
                [FoldResult::Attr(attr)] => {
                    let ty = m.value_type(m.result(op, 0));
                    self.rewriter.constant(self.at, attr, ty)
                }
                // One of the operands, as of the conjunction of two equal constants.
                [FoldResult::Value(value)] => Some(value),
                _ => None,
            },
            _ => None,
        }
    }
}

impl RightSideBuilder for RewriteBuilder<'_, '_> {
    type Value = Value;

    fn context(&self) -> &Context {
        &self.rewriter.module().ctx
    }

    fn value_type(&self, value: Value) -> Type {
        self.rewriter.module().value_type(value)
    }

    fn is_same(&self, a: Value, b: Value) -> bool {
        a == b
    }

    fn constant(&mut self, attr: Attr, ty: Type) -> Option<Value> {
        self.rewriter.constant(self.at, attr, ty)
    }

    fn op(&mut self, mut state: OpState, operands: &[Value]) -> Option<SmallVec<[Value; 2]>> {
        state.loc = self.rewriter.module().loc(self.at);
        state.operands = operands.into();
        let new = self.rewriter.create_before(self.at, state).ok()?;
        let m = self.rewriter.module();
        let op = match self.made.iter().copied().find(|&made| is_same(m, made, new)) {
            Some(made) => {
                self.rewriter.discard(new);
                made
            }
            None => {
                self.made.push(new);
                new
            }
        };
        let m = self.rewriter.module();
        if verify_op(m, op).is_err() {
            return None;
        }
        match self.fold_constant(op) {
            Some(value) => Some(smallvec::smallvec![value]),
            None => Some(self.rewriter.module().results(op).collect()),
        }
    }
}
