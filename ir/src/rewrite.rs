//! Rewriting: patterns, and the driver that applies them and the folders until nothing changes.

mod blocks;
pub mod forwarding;

use crate::builder::{Builder, make_constant};
use crate::context::{Attr, Type};
use crate::edit::OpState;
use crate::effects::{Effects, is_dead};
use crate::entity::SideTable;
use crate::eval::{Datum, eval_op};
use crate::module::{Module, Op, Region, Value};
use crate::op_info::{FoldResult, Folded, OpArgs, OpInfo, Traits};
use crate::symbols::SymbolTables;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// A rewrite rooted at one op.
#[derive(Clone, Copy)]
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
}

impl<'m> Rewriter<'m> {
    fn new(module: &'m mut Module) -> Self {
        let n = module.ops.capacity();
        Rewriter {
            module,
            worklist: Vec::new(),
            queued: SideTable::with_capacity(false, n),
            erased: SideTable::with_capacity(false, n),
            around: Vec::new(),
            awaited: SideTable::new(false),
            constants: FxHashMap::default(),
            symbols: SymbolTables::default(),
            changes: 0,
        }
    }

    /// The program, to look at.
    pub fn module(&self) -> &Module {
        self.module
    }

    /// The program, and tables of its symbols. Patterns neither add nor rename nor erase symbols.
    pub fn module_and_symbols(&mut self) -> (&Module, &mut SymbolTables) {
        (self.module, &mut self.symbols)
    }

    /// Makes an op before `op`.
    pub fn create_before(&mut self, op: Op, state: OpState) -> Result<Op, String> {
        let new = Builder::before(self.module, op).try_create(state)?;
        self.push(new);
        Ok(new)
    }

    /// A constant usable at `op`: an equal one that exists, or a new one at the start of the enclosing isolated region.
    pub fn constant(&mut self, op: Op, attr: Attr, ty: Type) -> Option<Value> {
        let region = self.constant_region(op)?;
        if let Some(&found) = self.constants.get(&(region, attr, ty)) {
            return Some(self.module.result(found, 0));
        }
        let dialect = self.module.ctx.op_dialect(self.module.name(op)).to_owned();
        let new = make_constant(self.module, attr, ty, &dialect, self.module.loc(op))?;
        let entry = self.module.only_block(region);
        let first = self.module.first_op(entry);
        self.module.insert_op(entry, new, first);
        self.erased[new] = false;
        self.constants.insert((region, attr, ty), new);
        Some(self.module.result(new, 0))
    }

    /// The innermost region around `op` that holds its own constants.
    fn constant_region(&self, op: Op) -> Option<Region> {
        let m = &self.module;
        let mut region = m.parent_region(m.parent_block(op)?)?;
        loop {
            let parent = m.region_op(region)?;
            let Some(block) = m.parent_block(parent) else { return Some(region) };
            if m.info(parent).is_none_or(|i| i.traits.has(Traits::ISOLATED)) {
                return Some(region);
            }
            region = m.parent_region(block)?;
        }
    }

    /// Replaces the results of `op` by `values` and erases it.
    pub fn replace(&mut self, op: Op, values: &[Value]) {
        let results: SmallVec<[Value; 4]> = self.module.results(op).collect();
        for (result, &value) in results.into_iter().zip(values) {
            self.push_users(result);
            self.module.replace_all_uses(result, value);
        }
        self.erase(op);
    }

    /// Replaces `op` by a new op made from `state`, which has as many results.
    pub fn replace_with(&mut self, op: Op, state: OpState) -> Result<Op, String> {
        let new = self.create_before(op, state)?;
        let values: SmallVec<[Value; 4]> = self.module.results(new).collect();
        self.replace(op, &values);
        Ok(new)
    }

    /// Erases an op whose results are unused.
    pub fn erase(&mut self, op: Op) {
        self.changes += 1;
        self.push_around(op);
        let nested = self.module.ops_under(op);
        let operands = nested.iter().flat_map(|&inner| self.module.operands(inner));
        let defs: SmallVec<[Op; 4]> = operands.filter_map(|&value| self.module.defining_op(value)).collect();
        for inner in nested {
            self.erased[inner] = true;
        }
        self.forget_constant(op);
        self.module.erase_op(op);
        for def in defs {
            if !self.erased[def] {
                self.push(def);
            }
        }
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
        if let Some(parent) = self.module.parent_op(op)
            && !self.awaited[parent]
        {
            self.awaited[parent] = true;
            self.around.push(parent);
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

    /// Merges a constant with an equal one of its region, or makes it the one, at the region's start.
    fn unique_constant(&mut self, op: Op) -> bool {
        let Some(region) = self.constant_region(op) else { return false };
        let Some((_, attr, ty)) = self.constant_key(op) else { return false };
        match self.constants.get(&(region, attr, ty)) {
            Some(&first) if first == op => false,
            Some(&first) => {
                let value = self.module.result(first, 0);
                self.replace(op, &[value]);
                true
            }
            None => {
                self.constants.insert((region, attr, ty), op);
                let entry = self.module.only_block(region);
                let first = self.module.first_op(entry);
                let leads = first.is_some_and(|f| {
                    f == op || self.module.parent_block(op) == Some(entry) && self.only_constants_before(op)
                });
                if !leads {
                    self.module.unlink_op(op);
                    self.module.insert_op(entry, op, first);
                }
                false
            }
        }
    }

    fn only_constants_before(&self, op: Op) -> bool {
        self.module.prev_op(op).is_some_and(|p| self.module.has_trait(p, Traits::CONSTANT_LIKE))
    }

    /// Looks at one op: drops it when dead, folds it, or applies its first pattern that fits.
    fn visit(&mut self, op: Op) -> bool {
        if is_dead(self.module, op) {
            self.erase(op);
            return true;
        }
        let Some(info) = self.module.info(op) else { return false };
        if info.traits.has(Traits::CONSTANT_LIKE) {
            return self.unique_constant(op);
        }
        match fold(self.module, op) {
            Some(Folded::InPlace) => {
                self.modify(op, |_| ());
                return true;
            }
            Some(Folded::Results(results)) if self.replace_folded(op, &results) => return true,
            _ => {}
        }
        info.patterns.iter().any(|pattern| (pattern.run)(self, op))
    }

    fn replace_folded(&mut self, op: Op, results: &[FoldResult]) -> bool {
        let mut values: SmallVec<[Value; 4]> = SmallVec::new();
        for (i, result) in results.iter().enumerate() {
            let ty = self.module.value_type(self.module.result(op, i));
            let value = match *result {
                FoldResult::Value(v) if self.module.value_type(v) == ty => Some(v),
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

/// Folds and applies canonicalization patterns to everything under `root` until nothing changes. Returns the number of
/// changes. `root` itself stays as it is.
pub fn rewrite_greedily(m: &mut Module, root: Op) -> u64 {
    let mut rewriter = Rewriter::new(m);
    // The list is worked from its end: the first op of the text comes first.
    let ops = rewriter.module.ops_under(root);
    for &op in ops[1..].iter().rev() {
        rewriter.push(op);
    }
    let budget = 64 * (ops.len() as u64 + 1024);
    while let Some(op) = rewriter.next() {
        if op == root || rewriter.erased[op] {
            continue;
        }
        rewriter.visit(op);
        if rewriter.changes > budget {
            break;
        }
    }
    rewriter.changes
}

/// Constants larger than this are not folded: the result would outweigh the op.
const MAX_FOLDED_ELEMENTS: usize = 1 << 22;

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
    if is_poisoned(m, info, &constants) {
        return Some(Folded::Results(vec![FoldResult::Attr(m.ctx.poison_attr()); m.num_results(op)]));
    }
    m.with_args(op, |args| {
        if let Some(folded) = info.fold.and_then(|fold| fold(args, &constants)) {
            return Some(folded);
        }
        fold_constants(args, &constants)
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
        && matches!(info.effects, Effects::Pure | Effects::MayUb)
        && !info.traits.has(Traits::TERMINATOR)
        && constants.contains(&Some(m.ctx.poison_attr()))
}

fn fold_constants(args: &OpArgs<'_>, constants: &[Option<Attr>]) -> Option<Folded> {
    if args.info.eval.is_none() || constants.is_empty() || !matches!(args.info.effects, Effects::Pure | Effects::MayUb)
    {
        return None;
    }
    let ctx = args.ctx();
    for &ty in args.result_types {
        let elements = ctx.static_shape(ty).map_or(1, |s| s.iter().fold(1i64, |n, &d| n.saturating_mul(d)));
        if elements > MAX_FOLDED_ELEMENTS as i64 {
            return None;
        }
    }
    let operands: Option<Vec<Datum>> = constants.iter().map(|c| ctx.attr_datum((*c)?)).collect();
    let results = eval_op(args, &operands?).ok()?;
    let attrs: Option<Vec<FoldResult>> = results
        .iter()
        .zip(args.result_types)
        .map(|(datum, &ty)| ctx.datum_attr(ty, datum).map(FoldResult::Attr))
        .collect();
    attrs.map(Folded::Results)
}
