//! Rewriting: patterns, and the driver that applies them and the folders until nothing changes.

mod blocks;
pub mod forwarding;

use crate::attrs::AttrData;
use crate::builder::make_constant;
use crate::context::{Attr, Type};
use crate::effects::{Effects, is_dead};
use crate::entity::SideTable;
use crate::eval::{Datum, eval_op};
use crate::greedy::{GreedyOptions, RegionSimplification};
use crate::module::{Block, Def, Module, Op, Region, Value};
use crate::op_info::{FoldResult, Folded, OpArgs, OpInfo, Traits};
use crate::pass::{Actions, PATTERN, Unit};
use crate::pattern_rewriter::{Change, PatternRewriter};
use crate::rules;
use crate::symbols::SymbolTables;
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
    module: &'m mut Module,
    /// Ops to look at, last first, and which ops are on the list.
    worklist: Vec<Op>,
    queued: SideTable<Op, bool>,
    erased: SideTable<Op, bool>,
    /// Ops around what changed, to look at when nothing else is left, and which ops are on that list.
    around: Vec<Op>,
    awaited: SideTable<Op, bool>,
    constants: FxHashMap<(Region, Attr, Type), Op>,
    symbols: SymbolTables,
    changes: u64,
    /// Whether a block was left with nothing but a branch, past which others may branch now.
    pub(crate) emptied: bool,
    /// Patterns that did something.
    rewrites: u64,
    /// Who watches, if anybody does, and which patterns are tried, if not all are.
    actions: Option<&'m mut Actions>,
    filter: Option<&'m dyn Fn(&str) -> bool>,
    /// The patterns for all ops, if not those that ops declare and rules are tried.
    pub(crate) patterns: Option<&'static [Pattern]>,
    /// The rules that are tried, if not those that dialects declare.
    pub(crate) rules: Option<Arc<rules::RuleSet>>,
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
    fn allows(&mut self, tag: &'static str, op: Op) -> bool {
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

    /// A constant usable at `op`: an equal one that exists, or a new one at the start of the enclosing isolated region.
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

    fn constant_region_of(&self, op: Op) -> Option<Region> {
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
    fn look_for_branch(&mut self, block: Option<Block>) {
        let first = block.and_then(|block| self.module.first_op(block));
        self.emptied |= first.is_some_and(|first| !self.module.successors(first).is_empty());
    }

    fn forget_constant(&mut self, op: Op) {
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

    fn push(&mut self, op: Op) {
        if !self.queued[op] {
            self.queued[op] = true;
            self.worklist.push(op);
        }
        self.erased[op] = false;
    }

    /// The op around a change may have become dead, or simpler.
    fn push_around(&mut self, op: Op) {
        if let Some(parent) = self.module.parent_op(op) {
            self.look_later(parent);
        }
    }

    /// The ops around the users of a value that comes from further outside now may be simpler.
    fn push_around_users(&mut self, op: Op) {
        let users: SmallVec<[Op; 8]> =
            self.module.results(op).flat_map(|v| self.module.uses(v)).map(|(user, _)| user).collect();
        users.into_iter().for_each(|user| self.push_around(user));
    }

    fn look_later(&mut self, op: Op) {
        if !self.awaited[op] {
            self.awaited[op] = true;
            self.around.push(op);
        }
    }

    /// What defines `value` may have become dead or simpler, now that it is used less.
    fn push_source(&mut self, value: Value) {
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
    fn next(&mut self) -> Option<Op> {
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

    fn push_users(&mut self, value: Value) {
        let users: SmallVec<[Op; 8]> = self.module.uses(value).map(|(op, _)| op).collect();
        for user in users {
            self.push(user);
        }
    }

    fn constant_key(&self, op: Op) -> Option<(Region, Attr, Type)> {
        let result = self.module.results(op).next()?;
        let region = self.module.parent_region(self.module.parent_block(op)?)?;
        Some((region, self.module.constant(result)?, self.module.value_type(result)))
    }

    /// The constant that its equals in a region merge with. Patterns may have moved or erased the one that was noted.
    fn known_constant(&self, key: (Region, Attr, Type)) -> Option<Op> {
        let op = *self.constants.get(&key)?;
        let here = !self.erased[op] && self.module.parent_block(op) == self.module.entry(key.0);
        (here && self.constant_key(op) == Some(key)).then_some(op)
    }

    /// Merges a constant with an equal one of its region, or makes it the one, at the region's start.
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

    /// Whether the op comes directly after a constant that has its place at the start of the region already.
    fn follows_known_constant(&self, op: Op) -> bool {
        let known = |p: Op| self.constant_key(p).is_some_and(|key| self.constants.get(&key) == Some(&p));
        self.module.prev_op(op).is_some_and(|p| self.module.has_trait(p, Traits::CONSTANT_LIKE) && known(p))
    }

    /// Looks at one op: drops it when dead, folds it, or applies its first pattern that fits.
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
        // Where nothing gets to, an op may be computed from itself, and be rewritten for ever.
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
        let run = |rule| move |rewriter: &mut Self, op| rules::apply(rewriter, rule, op, set.price);
        set.of(name).any(|rule| self.apply(ctx.text(rule.name), op, run(rule)))
    }

    fn apply(&mut self, name: &str, op: Op, run: impl FnOnce(&mut Self, Op) -> bool) -> bool {
        if self.filter.is_some_and(|tried| !tried(name)) {
            return false;
        }
        if let Some(actions) = &mut self.actions
            && !actions.begin(PATTERN, name, Unit::Op(op), self.module)
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

    /// Works on everything under `root`, from the first op on or from the last, until nothing is left to do or one of the
    /// limits is reached; returns the changes, and whether it came to the end.
    pub(crate) fn round(&mut self, root: Op, top_down: bool, max_rewrites: Option<u64>) -> (u64, bool) {
        // The list is worked from its end.
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

    /// A constant is the second operand where the order does not matter, so that patterns need not look at both.
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

    fn unlogged(&mut self) -> &mut Module {
        self.module
    }

    fn note(&mut self, change: Change) {
        match change {
            Change::Created(op) => return self.push(op),
            Change::Cloned { copy, .. } => return self.module.ops_under(copy).into_iter().for_each(|op| self.push(op)),
            Change::BlockCreated(_) => return,
            Change::BlockMoved { .. } => {}
            Change::Operand { op, old, .. } => {
                self.push(op);
                self.push_source(old);
            }
            Change::Moved { first, last, .. } => {
                let next = |&op: &Op| self.module.next_op(op).filter(|_| op != last);
                let moved: Vec<Op> = std::iter::successors(Some(first), next).collect();
                // The first is looked at first.
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

    /// One change, and the op need not be looked at again.
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

/// Folds and applies canonicalization patterns to everything under `root` until nothing changes. Returns the number of
/// changes. `root` itself stays as it is.
pub fn rewrite_greedily(m: &mut Module, root: Op) -> u64 {
    let options = GreedyOptions { regions: RegionSimplification::Disabled, ..GreedyOptions::default() };
    options.run(m, root, None).changes
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

/// Constants larger than this are not folded, unless operands are as large: the result would outweigh them.
const MAX_FOLDED_ELEMENTS: i64 = 1 << 22;

/// What an op is equal to, by its own folder, or by evaluating it when all operands are constant.
pub fn fold(m: &Module, op: Op) -> Option<Folded> {
    let info = m.info(op)?;
    if let Some(value) = fold_traits(m, op, info.traits) {
        return Some(value.into());
    }
    if info.fold.is_none() && info.eval.is_none() {
        return None;
    }
    let constants: SmallVec<[Option<Attr>; 4]> = m.operands(op).iter().map(|&v| m.constant(v)).collect();
    fold_given(m, op, &constants)
}

/// [`fold`], where `constants` says which operands are known to be constant.
pub fn fold_given(m: &Module, op: Op, constants: &[Option<Attr>]) -> Option<Folded> {
    let info = m.info(op)?;
    if is_poisoned(m, info, constants) {
        return Some(Folded::Results(vec![FoldResult::Attr(m.ctx.poison_attr()); m.num_results(op)]));
    }
    m.with_args(op, |args| {
        if let Some(folded) = info.fold.and_then(|fold| fold(args, constants)) {
            return Some(folded);
        }
        fold_constants(args, constants)
    })?
}

/// f(f(x)) = x and f(f(x)) = f(x), for ops of one operand that are declared so.
fn fold_traits(m: &Module, op: Op, traits: Traits) -> Option<Value> {
    if !traits.has(Traits::INVOLUTION) && !traits.has(Traits::IDEMPOTENT) {
        return None;
    }
    let &[operand] = m.operands(op) else { return None };
    let inner = m.defining_op(operand).filter(|&d| m.name(d) == m.name(op) && m.props(d) == m.props(op))?;
    Some(if traits.has(Traits::INVOLUTION) { m.operands(inner)[0] } else { operand })
}

/// Whether a known operand makes the results poison: always, unless the op looks at poison itself.
fn is_poisoned(m: &Module, info: &OpInfo, constants: &[Option<Attr>]) -> bool {
    info.eval.is_some()
        && info.exec.is_none()
        && !info.results.is_empty()
        && matches!(info.effects, Effects::Pure | Effects::MayUb)
        && !info.traits.has(Traits::TERMINATOR)
        && constants.contains(&Some(m.ctx.poison_attr()))
}

fn fold_constants(args: &OpArgs<'_>, constants: &[Option<Attr>]) -> Option<Folded> {
    let info = args.info;
    if info.eval.is_none()
        || constants.is_empty()
        || args.result_types.is_empty()
        || !matches!(info.effects, Effects::Pure | Effects::MayUb)
    {
        return None;
    }
    if info.traits.has(Traits::NO_CONSTANT_FOLDING) {
        return None;
    }
    let ctx = args.ctx();
    let elements = |ty: &Type| ctx.static_shape(*ty).map_or(1, |s| s.iter().fold(1i64, |n, &d| n.saturating_mul(d)));
    let stored = |constant: &Option<Attr>| match constant.map(|c| ctx.attr_data(c)) {
        Some(AttrData::Dense(dense)) if !dense.splat => elements(&dense.ty),
        _ => 1,
    };
    let most = constants.iter().map(stored).fold(MAX_FOLDED_ELEMENTS, i64::max);
    if args.result_types.iter().any(|ty| elements(ty) > most) {
        return None;
    }
    let operands: Option<Vec<Datum>> = constants.iter().map(|c| ctx.attr_datum((*c)?)).collect();
    let operands = operands?;
    let mut results = eval_op(args, &operands).ok()?;
    if results.contains(&Datum::Poison) && info.traits.has(Traits::PROMISES) {
        results = eval_op(&OpArgs { props: Attr::EMPTY_DICT, ..*args }, &operands).ok()?;
    }
    if results.contains(&Datum::Poison) {
        return None;
    }
    let attrs: Option<Vec<FoldResult>> = results
        .iter()
        .zip(args.result_types)
        .map(|(datum, &ty)| ctx.datum_attr(ty, datum).map(FoldResult::Attr))
        .collect();
    attrs.map(Folded::Results)
}
