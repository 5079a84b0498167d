//! The rewriter of the greedy driver: the program, and which ops are to be looked at because of what changed.

use crate::entity::SideTable;
use crate::intern::{Attr, Type};
use crate::module::{Block, Def, Module, Op, Region, Value};
use crate::pass::{Actions, Unit};
use crate::rules::RuleSet;
use crate::symbols::SymbolTables;
use crate::traits::Traits;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// A rewrite rooted at one op.
#[derive(Clone, Copy, Debug)]
pub struct Pattern {
    /// For statistics, debugging and reports.
    pub name: &'static str,
    /// Tries the pattern. `true` when it changed the program; then it went through the rewriter alone. `false` must
    /// leave the program as it was.
    pub run: fn(&mut Rewriter<'_>, Op) -> bool,
}

/// What patterns change the program through, so that the driver hears of every change.
pub struct Rewriter<'m> {
    pub(super) module: &'m mut Module,
    /// Ops to look at, last first, and which ops are on the list.
    pub(super) worklist: Vec<Op>,
    pub(super) queued: SideTable<Op, bool>,
    pub(super) erased: SideTable<Op, bool>,
    /// Ops around what changed, to look at when nothing else is left, and which ops are on that list.
    pub(super) around: Vec<Op>,
    pub(super) awaited: SideTable<Op, bool>,
    pub(super) constants: FxHashMap<(Region, Attr, Type), Op>,
    pub(super) symbols: SymbolTables,
    pub(super) changes: u64,
    /// Whether a block was left with nothing but a branch, past which others may branch now.
    pub(crate) emptied: bool,
    /// Patterns that did something.
    pub(super) rewrites: u64,
    /// Who watches, if anybody does, and which patterns are tried, if not all are.
    pub(super) actions: Option<&'m mut Actions>,
    pub(super) filter: Option<&'m dyn Fn(&str) -> bool>,
    /// The patterns for all ops, if not those that ops declare and rules are tried.
    pub(crate) patterns: Option<&'static [Pattern]>,
    /// The rules that are tried, if not those that dialects declare.
    pub(crate) rules: Option<Arc<RuleSet>>,
}

impl<'m> Rewriter<'m> {
    pub(crate) fn new(
        module: &'m mut Module,
        actions: Option<&'m mut Actions>,
        filter: Option<&'m dyn Fn(&str) -> bool>,
    ) -> Self {
        Rewriter {
            module,
            worklist: Vec::new(),
            queued: SideTable::new(false),
            erased: SideTable::new(false),
            around: Vec::new(),
            awaited: SideTable::new(false),
            constants: FxHashMap::default(),
            symbols: SymbolTables::default(),
            changes: 0,
            emptied: false,
            rewrites: 0,
            actions,
            filter,
            patterns: None,
            rules: None,
        }
    }

    /// Announces a rewrite of `op` that is about to happen. `false` when it must not.
    pub(super) fn allows(&mut self, tag: &'static str, op: Op) -> bool {
        let Some(actions) = &mut self.actions else { return true };
        let allowed = actions.begin(tag, "", Unit::Op(op), self.module);
        if allowed {
            actions.end(tag, true);
        }
        allowed
    }

    /// The program, to look at.
    pub fn module(&self) -> &Module {
        self.module
    }

    /// The program, and tables of its symbols. Patterns neither add nor rename nor erase symbols.
    pub fn module_and_symbols(&mut self) -> (&Module, &mut SymbolTables) {
        (self.module, &mut self.symbols)
    }

    pub(super) fn constant_region_of(&self, op: Op) -> Option<Region> {
        constant_region(self.module, self.module.parent_block(op)?)
    }

    /// Erases an op without regions that was made in vain. Nothing is looked at again because of it: all is as it was.
    pub(crate) fn discard(&mut self, op: Op) {
        self.erased[op] = true;
        self.module.erase_op(op);
    }

    /// Erases an op whose results are unused.
    pub fn erase(&mut self, op: Op) {
        self.changes += 1;
        self.push_around(op);
        let mut operands: SmallVec<[Value; 4]> = SmallVec::new();
        for inner in self.module.ops_under(op) {
            operands.extend_from_slice(self.module.operands(inner));
            self.erased[inner] = true;
        }
        self.forget_constant(op);
        let block = self.module.parent_block(op);
        self.module.erase_op(op);
        self.look_for_branch(block);
        for value in operands {
            self.push_source(value);
        }
    }

    /// Notes when a block that an op left begins with a branch.
    pub(super) fn look_for_branch(&mut self, block: Option<Block>) {
        let first = block.and_then(|block| self.module.first_op(block));
        self.emptied |= first.is_some_and(|first| !self.module.successors(first).is_empty());
    }

    pub(super) fn forget_constant(&mut self, op: Op) {
        if self.module.has_trait(op, Traits::CONSTANT_LIKE)
            && let Some(key) = self.constant_key(op)
            && self.constants.get(&key) == Some(&op)
        {
            self.constants.remove(&key);
        }
    }

    /// Changes an op in place: operands, attributes, successors.
    pub fn modify(&mut self, op: Op, change: impl FnOnce(&mut Module)) {
        let old: SmallVec<[Value; 4]> = self.module.operands(op).into();
        change(self.module);
        self.changes += 1;
        for (i, value) in old.into_iter().enumerate() {
            if self.module.operands(op).get(i) != Some(&value) {
                self.push_source(value);
            }
        }
        self.push(op);
        self.push_around(op);
        let results: SmallVec<[Value; 4]> = self.module.results(op).collect();
        for result in results {
            self.push_users(result);
        }
    }

    pub(super) fn push(&mut self, op: Op) {
        if !self.queued[op] {
            self.queued[op] = true;
            self.worklist.push(op);
        }
        self.erased[op] = false;
    }

    /// The op around a change may have become dead, or simpler.
    pub(super) fn push_around(&mut self, op: Op) {
        if let Some(parent) = self.module.parent_op(op) {
            self.look_later(parent);
        }
    }

    /// The ops around the users of a value that comes from further outside now may be simpler.
    pub(super) fn push_around_users(&mut self, op: Op) {
        let users: SmallVec<[Op; 8]> =
            self.module.results(op).flat_map(|v| self.module.uses(v)).map(|(user, _)| user).collect();
        users.into_iter().for_each(|user| self.push_around(user));
    }

    pub(super) fn look_later(&mut self, op: Op) {
        if !self.awaited[op] {
            self.awaited[op] = true;
            self.around.push(op);
        }
    }

    /// What defines `value` may have become dead or simpler, now that it is used less.
    pub(super) fn push_source(&mut self, value: Value) {
        match self.module.def(value) {
            Def::Result(op, _) if !self.erased[op] => self.push(op),
            Def::Result(..) => {}
            Def::Arg(block, _) => {
                if let Some(op) = self.module.block_op(block).filter(|&op| !self.erased[op]) {
                    self.look_later(op);
                }
            }
        }
    }

    /// The next op to look at.
    pub(super) fn next(&mut self) -> Option<Op> {
        if self.worklist.is_empty() {
            for op in std::mem::take(&mut self.around).into_iter().rev() {
                self.awaited[op] = false;
                if !self.erased[op] {
                    self.push(op);
                }
            }
        }
        let op = self.worklist.pop()?;
        self.queued[op] = false;
        Some(op)
    }

    pub(super) fn push_users(&mut self, value: Value) {
        let users: SmallVec<[Op; 8]> = self.module.uses(value).map(|(op, _)| op).collect();
        for user in users {
            self.push(user);
        }
    }

    pub(super) fn constant_key(&self, op: Op) -> Option<(Region, Attr, Type)> {
        let result = self.module.results(op).next()?;
        let region = self.module.parent_region(self.module.parent_block(op)?)?;
        Some((region, self.module.constant(result)?, self.module.value_type(result)))
    }

    /// The constant that its equals in a region merge with. Patterns may have moved or erased the one that was noted.
    pub(super) fn known_constant(&self, key: (Region, Attr, Type)) -> Option<Op> {
        let op = *self.constants.get(&key)?;
        let here = !self.erased[op] && self.module.parent_block(op) == self.module.entry(key.0);
        (here && self.constant_key(op) == Some(key)).then_some(op)
    }
}

/// The innermost region around `block` that holds its own constants, at the start of its first block.
pub fn constant_region(m: &Module, block: Block) -> Option<Region> {
    let mut region = m.parent_region(block)?;
    loop {
        let parent = m.region_op(region)?;
        let Some(block) = m.parent_block(parent) else { return Some(region) };
        if m.info(parent).is_none_or(|i| i.traits.has(Traits::ISOLATED)) {
            return Some(region);
        }
        region = m.parent_region(block)?;
    }
}
