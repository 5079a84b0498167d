//! Rewriting: patterns, and the greedy driver that applies them and folds until a fixed point.

mod blocks;
mod fold;
pub mod forwarding;
mod rewriter;

pub use fold::{fold, fold_given};
pub use rewriter::{Pattern, Rewriter, constant_region};

use crate::builder::make_constant;
use crate::effects::is_dead;
use crate::intern::{Attr, Type};
use crate::module::{Block, Module, Op, Value};
use crate::op_info::{FoldResult, Folded};
use crate::pass::{ActionUnit, PATTERN};
use crate::rewriting::pattern_rewriter::{Change, PatternRewriter};
use crate::rewriting::rules;
use crate::traits::Traits;
use smallvec::SmallVec;

impl Rewriter<'_> {
    /// Returns a constant usable at `op`: an existing equal one, or a new one at the start of the enclosing isolated
    /// region.
    pub fn constant(&mut self, op: Op, attr: Attr, ty: Type) -> Option<Value> {
        let region = self.constant_region_of(op)?;
        if let Some(found) = self.known_constant((region, attr, ty)) {
            return Some(self.module.result(found, 0));
        }
        let dialect = self.module.ctx.op_dialect(self.module.name(op)).to_owned();
        let new = make_constant(self.module, attr, ty, &dialect, self.module.loc(op))?;
        let entry = self.module.only_block(region);
        let first = self.module.first_op(entry);
        self.module.insert_op(entry, new, first);
        self.push(new);
        self.constants.insert((region, attr, ty), new);
        Some(self.module.result(new, 0))
    }

    /// Merges a constant with an equal one of its region, or records it and moves it to the region's start.
    fn unique_constant(&mut self, op: Op) -> bool {
        let Some(region) = self.constant_region_of(op) else { return false };
        let Some((_, attr, ty)) = self.constant_key(op) else { return false };
        match self.known_constant((region, attr, ty)) {
            Some(first) if first == op => false,
            Some(first) => {
                if !self.allows("merge-constant", op) {
                    return false;
                }
                let value = self.module.result(first, 0);
                self.replace(op, &[value]);
                true
            }
            None => {
                self.constants.insert((region, attr, ty), op);
                let entry = self.module.only_block(region);
                let first = self.module.first_op(entry);
                let leads = first.is_some_and(|f| {
                    f == op || self.module.parent_block(op) == Some(entry) && self.follows_known_constant(op)
                });
                if !leads {
                    if self.module.parent_block(op) != Some(entry) {
                        self.push_around_users(op);
                    }
                    let block = self.module.parent_block(op);
                    self.module.unlink_op(op);
                    self.look_for_branch(block);
                    self.module.insert_op(entry, op, first);
                }
                false
            }
        }
    }

    /// Whether the op directly follows a constant that is already in place at the start of the region.
    fn follows_known_constant(&self, op: Op) -> bool {
        let known = |p: Op| self.constant_key(p).is_some_and(|key| self.constants.get(&key) == Some(&p));
        self.module.prev_op(op).is_some_and(|p| self.module.has_trait(p, Traits::CONSTANT_LIKE) && known(p))
    }

    /// Processes one op: erases it if dead, folds it, or applies the first matching pattern.
    fn visit(&mut self, op: Op) -> bool {
        if is_dead(self.module, op) {
            if !self.allows("erase-dead-op", op) {
                return false;
            }
            self.erase(op);
            return true;
        }
        let Some(info) = self.module.info(op) else { return false };
        if info.traits.has(Traits::CONSTANT_LIKE) {
            return self.unique_constant(op);
        }
        // In unreachable code an op may use its own result, which could be rewritten forever.
        if self.module.operands(op).iter().any(|&v| self.module.defining_op(v) == Some(op)) {
            return false;
        }
        self.fold_op(op)
            || info.traits.has(Traits::COMMUTATIVE) && self.move_constant_right(op)
            || (self.patterns.unwrap_or(info.patterns).iter()).any(|pattern| self.apply(pattern.name, op, pattern.run))
            || (self.patterns.is_none() || self.rules.is_some()) && self.apply_rules(op)
    }

    fn fold_op(&mut self, op: Op) -> bool {
        let Some(folded) = fold(self.module, op) else { return false };
        if !self.allows("apply-fold", op) {
            return false;
        }
        match folded {
            Folded::InPlace => {
                self.modify(op, |_| ());
                true
            }
            Folded::Results(results) => self.replace_folded(op, &results),
        }
    }

    fn apply_rules(&mut self, op: Op) -> bool {
        let (ctx, own, name) = (self.module.ctx.clone(), self.rules.clone(), self.module.name(op));
        let set = own.as_deref().unwrap_or_else(|| ctx.declared_rules());
        let run = |rule| move |rewriter: &mut Self, op| rules::apply(rewriter, rule, op, set.cost_fn.as_ref());
        set.of(name).any(|rule| self.apply(ctx.text(rule.name), op, run(rule)))
    }

    fn apply(&mut self, name: &str, op: Op, run: impl FnOnce(&mut Self, Op) -> bool) -> bool {
        if self.filter.is_some_and(|tried| !tried(name)) {
            return false;
        }
        if let Some(actions) = &mut self.actions
            && !actions.begin(PATTERN, name, ActionUnit::Op(op), self.module)
        {
            return false;
        }
        let changed = run(self, op);
        if let Some(actions) = &mut self.actions {
            actions.end(PATTERN, changed);
        }
        self.rewrites += u64::from(changed);
        changed
    }

    /// Processes everything under `root`, from the first or the last op on, until the worklist is empty or a limit is
    /// reached. Returns the number of changes, and whether the worklist was emptied.
    pub(crate) fn round(&mut self, root: Op, top_down: bool, max_rewrites: Option<u64>) -> (u64, bool) {
        // The worklist is popped from its end.
        let mut ops = self.module.ops_under(root).split_off(1);
        if top_down {
            ops.reverse();
        }
        let budget = 64 * (ops.len() as u64 + 1024);
        for op in ops {
            self.push(op);
        }
        while let Some(op) = self.next() {
            if op == root || self.erased[op] {
                continue;
            }
            self.visit(op);
            if self.changes > budget || max_rewrites.is_some_and(|max| self.rewrites >= max) {
                return (self.changes, self.worklist.is_empty());
            }
        }
        (self.changes, true)
    }

    /// Moves a constant operand of a commutative op to the right, so that patterns match one order only.
    fn move_constant_right(&mut self, op: Op) -> bool {
        let m = &*self.module;
        let &[left, right] = m.operands(op) else { return false };
        if m.constant(left).is_none() || m.constant(right).is_some() || !self.allows("move-constant", op) {
            return false;
        }
        self.modify(op, |m| m.set_operands(op, &[right, left]));
        true
    }

    fn replace_folded(&mut self, op: Op, results: &[FoldResult]) -> bool {
        let mut values: SmallVec<[Value; 4]> = SmallVec::new();
        for (i, result) in results.iter().enumerate() {
            let ty = self.module.value_type(self.module.result(op, i));
            let value = match *result {
                FoldResult::Value(v) if self.module.defining_op(v) != Some(op) && self.module.value_type(v) == ty => {
                    Some(v)
                }
                FoldResult::Value(_) => None,
                FoldResult::Attr(attr) => self.constant(op, attr, ty),
            };
            match value {
                Some(v) => values.push(v),
                None => return false,
            }
        }
        self.replace(op, &values);
        true
    }
}

impl PatternRewriter for Rewriter<'_> {
    fn module(&self) -> &Module {
        self.module
    }

    fn module_mut_unlogged(&mut self) -> &mut Module {
        self.module
    }

    fn note(&mut self, change: Change) {
        match change {
            Change::Created(op) => return self.push(op),
            Change::Cloned { copy, .. } => return self.module.ops_under(copy).into_iter().for_each(|op| self.push(op)),
            Change::BlockCreated(_) => return,
            Change::BlockMoved { .. } | Change::ArgAdded(_) => {}
            Change::Operand { op, old, .. } => {
                self.push(op);
                self.push_source(old);
            }
            Change::Moved { first, last, .. } => {
                let next = |&op: &Op| self.module.next_op(op).filter(|_| op != last);
                let moved: Vec<Op> = std::iter::successors(Some(first), next).collect();
                // The first op is processed first.
                moved.into_iter().rev().for_each(|op| self.push(op));
                self.push_around(first);
            }
        }
        self.changes += 1;
    }

    fn erase_empty_block(&mut self, block: Block) {
        self.changes += 1;
        self.module.erase_block(block);
    }

    fn replace_value(&mut self, old: Value, new: &[Value]) {
        let &[new] = new else { panic!("the greedy driver replaces a value by one value") };
        if old == new || self.module.uses(old).next().is_none() {
            return;
        }
        self.changes += 1;
        self.push_users(old);
        self.module.replace_all_uses(old, new);
        self.push_source(old);
    }

    /// Counts as one change; the op is not revisited.
    fn replace(&mut self, op: Op, values: &[Value]) {
        let results: SmallVec<[Value; 4]> = self.module.results(op).collect();
        for (result, &value) in results.into_iter().zip(values) {
            self.push_users(result);
            self.module.replace_all_uses(result, value);
        }
        self.erase(op);
    }

    fn modify(&mut self, op: Op, change: impl FnOnce(&mut Module)) {
        Rewriter::modify(self, op, change);
    }

    fn drop_operands(&mut self, op: Op) {
        let operands: SmallVec<[Value; 4]> = self.module.operands(op).into();
        self.module.set_operands(op, &[]);
        operands.into_iter().for_each(|value| self.push_source(value));
    }

    fn erase(&mut self, op: Op) {
        Rewriter::erase(self, op);
    }
}
