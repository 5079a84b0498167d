//! The rewriter of the greedy driver: the module and the worklist.

use crate::entity::SideTable;
use crate::intern::{Attr, Type};
use crate::module::{Block, Def, Module, Op, Region, Value};
use crate::pass::{ActionUnit, Actions};
use crate::rewriting::rules::RuleSet;
use crate::symbols::SymbolTables;
use crate::traits::Traits;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// A rewrite pattern rooted at one op.
#[derive(Clone, Copy, Debug)]
pub struct Pattern {
    /// The name, for statistics, debugging and reports.
    pub name: &'static str,
    /// Tries the pattern. Returns `true` if it changed the module, through the rewriter only; on `false` the module
    /// must be unchanged.
    pub run: fn(&mut Rewriter<'_>, Op) -> bool,
}

/// The interface through which patterns change the module, so that the driver can track changes.
pub struct Rewriter<'m> {
    pub(super) module: &'m mut Module,
    /// The worklist, a stack, and the ops on it.
    pub(super) worklist: Vec<Op>,
    pub(super) queued: SideTable<Op, bool>,
    pub(super) erased: SideTable<Op, bool>,
    /// A second worklist of parent ops of changes, processed when the first is empty, and the ops on it.
    pub(super) around: Vec<Op>,
    pub(super) awaited: SideTable<Op, bool>,
    pub(super) constants: FxHashMap<(Region, Attr, Type), Op>,
    pub(super) symbols: SymbolTables,
    pub(super) changes: u64,
    /// Whether a block was reduced to a branch, which predecessors may now bypass.
    pub(crate) emptied: bool,
    /// Number of applied patterns.
    pub(super) rewrites: u64,
    /// The action handler, which may observe and filter patterns.
    pub(super) actions: Option<&'m mut Actions>,
    pub(super) filter: Option<&'m dyn Fn(&str) -> bool>,
    /// The patterns for all ops; `None` for those declared by ops, and rules.
    pub(crate) patterns: Option<&'static [Pattern]>,
    /// The rules; `None` for those declared by dialects.
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

    /// Announces a rewrite of `op`. Returns whether it is allowed.
    pub(super) fn allows(&mut self, tag: &'static str, op: Op) -> bool {
        let Some(actions) = &mut self.actions else { return true };
        let allowed = actions.begin(tag, "", ActionUnit::Op(op), self.module);
        if allowed {
            actions.end(tag, true);
        }
        allowed
    }

    /// Returns the module, read-only.
    pub fn module(&self) -> &Module {
        self.module
    }

    /// Returns the module and its symbol tables. Patterns do not add, rename or erase symbols.
    pub fn module_and_symbols(&mut self) -> (&Module, &mut SymbolTables) {
        (self.module, &mut self.symbols)
    }

    pub(super) fn constant_region_of(&self, op: Op) -> Option<Region> {
        constant_region(self.module, self.module.parent_block(op)?)
    }

    /// Erases an unneeded new op without regions. No op is revisited.
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
        // Before the op is gone: some of the values are defined inside it.
        for value in operands {
            self.push_source(value);
        }
        self.forget_constant(op);
        let block = self.module.parent_block(op);
        self.module.erase_op(op);
        self.look_for_branch(block);
    }

    /// Records whether a block that lost an op now begins with a branch.
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
        self.requeue_modified(op, &old);
    }

    /// Counts a change in place and queues the ops that it concerns. Not generic, because patterns have dozens of
    /// calls of [`Rewriter::modify`].
    fn requeue_modified(&mut self, op: Op, old: &[Value]) {
        self.changes += 1;
        for (i, &value) in old.iter().enumerate() {
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

    /// Queues the parent op of a change, which may have become dead or foldable.
    pub(super) fn push_around(&mut self, op: Op) {
        if let Some(parent) = self.module.parent_op(op) {
            self.look_later(parent);
        }
    }

    /// Queues the parent ops of a value's users, when its definition moved outward.
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

    /// Queues the op that defines `value`, which lost a use and may be dead or foldable.
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

    /// Pops the next op to process.
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

    /// Returns the recorded constant with which equal ones in a region are merged. Patterns may have moved or erased
    /// it.
    pub(super) fn known_constant(&self, key: (Region, Attr, Type)) -> Option<Op> {
        let op = *self.constants.get(&key)?;
        let here = !self.erased[op] && self.module.parent_block(op) == self.module.entry(key.0);
        (here && self.constant_key(op) == Some(key)).then_some(op)
    }
}

/// Returns the innermost region around `block` that holds its own constants, at the start of its entry block.
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
