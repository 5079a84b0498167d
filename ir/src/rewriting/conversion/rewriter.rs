//! The rewriter of conversion patterns.

use super::casts::{Casts, Direction};
use super::journal::{ArgsChange, Journal, JournalEntry, Snapshot};
use super::matching::{Match, Operands};
use super::types::{Remapped, SignatureConversion, TypeConverter, TypeList, arg_types};
use crate::builder::InsertPoint;
use crate::edit::BlockArgs;
use crate::entity::SideTable;
use crate::intern::Type;
use crate::module::{Block, Def, Module, Op, Region, Value, ValueList};
use crate::rewriting::pattern_rewriter::{Change, PatternRewriter};
use crate::symbols::SymbolTables;
use crate::text::loc::Loc;
use crate::traits::Traits;
use smallvec::SmallVec;

/// The rewriter of conversion patterns. Changes take effect immediately. If a value is replaced by values of other
/// types, a cast provides the original type to its users until they are converted.
pub struct ConversionRewriter<'a> {
    pub(super) module: &'a mut Module,
    /// The type converter of the current pattern.
    pub(super) types: Option<&'a TypeConverter>,
    pub(super) journal: Journal,
    pub(super) casts: Casts<'a>,
    /// Ops that the driver has yet to visit.
    pub(super) pending: SideTable<Op, bool>,
    /// Ops erased since the last commit.
    erased: SideTable<Op, bool>,
    symbols: SymbolTables,
}

impl<'a> ConversionRewriter<'a> {
    pub(super) fn new(module: &'a mut Module) -> Self {
        let casts = Casts::new(module);
        let (pending, erased) = (SideTable::new(false), SideTable::new(false));
        let (journal, symbols) = (Journal::default(), SymbolTables::default());
        ConversionRewriter { module, types: None, journal, casts, pending, erased, symbols }
    }

    /// Returns the type converter of the current pattern; a match failure if it has none.
    pub fn types(&self) -> Match<&'a TypeConverter> {
        self.types.ok_or_else(|| "the pattern has no type converter".into())
    }

    /// Returns the program and its current symbol tables.
    pub fn module_and_symbols(&mut self) -> (&Module, &mut SymbolTables) {
        (self.module, &mut self.symbols)
    }

    /// Invalidates the cached symbol tables if `op`, which is created, modified or erased, is a symbol or a symbol
    /// table.
    pub(super) fn touch_symbols(&mut self, op: Op) {
        let matters = |t| self.module.has_trait(op, t);
        if matters(Traits::SYMBOL) || matters(Traits::SYMBOL_TABLE) {
            self.symbols = SymbolTables::default();
        }
    }

    /// Replaces each result of `op` by any number of values and erases the op. A result replaced by no values must be
    /// unused when the conversion ends.
    pub fn replace_with_many(&mut self, op: Op, values: &[ValueList]) {
        let results: ValueList = self.module.results(op).collect();
        assert_eq!(results.len(), values.len(), "each result is replaced");
        // In reverse, so that casts at the same insertion point are in the order of the results.
        for (result, values) in results.into_iter().zip(values).rev() {
            self.replace_value(result, values);
        }
        self.erase(op);
    }

    /// Converts the argument types of all blocks of a region with the current pattern's type converter.
    pub fn convert_region(&mut self, region: Region) -> Match {
        let types = self.types()?;
        let blocks: Vec<Block> = self.module.region_blocks(region).collect();
        for block in blocks {
            let signature = types.convert_signature(arg_types(self.module, block))?;
            self.convert_block(block, &signature);
        }
        Ok(())
    }

    /// Converts the arguments of a block. The terminators that branch to it are converted by their own patterns.
    pub fn convert_block(&mut self, block: Block, signature: &SignatureConversion) {
        let old = self.module.block_args(block);
        assert_eq!(old.len(), signature.map.len(), "the signature says what becomes of each argument");
        let old: ValueList = old.into();
        let (mut args, made) = self.new_args(block, &old, signature);
        let new: ValueList = args.values.iter().copied().collect();
        self.module.swap_block_args(block, &mut args);
        let at = self.module.first_op(block).map_or(InsertPoint::End(block), InsertPoint::Before);
        let mut gone = ValueList::new();
        for (&arg, to) in old.iter().zip(&signature.map) {
            let values = match to {
                &Remapped::Args(start, n) => &new[start..start + n],
                Remapped::Values(values) => values,
            };
            if values != [arg] {
                gone.push(arg);
                self.replace_value_at(arg, values, at);
            }
        }
        // Rollback removes the casts before the arguments that they use.
        let change = ArgsChange { block, before: args, gone, made };
        self.journal.entries.push(JournalEntry::Args(Box::new(change)));
    }

    /// Returns all arguments of the converted block, and those that were created. An argument whose type stays is kept.
    fn new_args(&mut self, block: Block, old: &[Value], signature: &SignatureConversion) -> (BlockArgs, ValueList) {
        let m = &mut *self.module;
        let (mut args, mut made) = (BlockArgs::default(), ValueList::new());
        for (origin, &ty) in signature.origins().into_iter().zip(&signature.types) {
            let same = |&i: &usize| matches!(signature.map[i], Remapped::Args(_, 1)) && m.value_type(old[i]) == ty;
            let kept = origin.filter(same).map(|i| old[i]);
            args.locs.push(origin.map_or(Loc::UNKNOWN, |i| m.arg_loc(block, i)));
            args.values.push(kept.unwrap_or_else(|| m.detached_arg(block, ty)));
            made.extend(args.values.last().copied().filter(|_| kept.is_none()));
        }
        (args, made)
    }

    /// Returns the converted operands of `op` for a pattern with this type converter.
    pub(super) fn operands(&mut self, op: Op, types: Option<&'a TypeConverter>) -> Match<Operands> {
        let mut out = Operands::default();
        for i in 0..self.module.operands(op).len() {
            let value = self.module.operands(op)[i];
            let Some(types) = types else {
                out.push(&self.newest(value));
                continue;
            };
            let ty = self.module.value_type(value);
            let to = types.convert(ty).ok_or_else(|| {
                format!("unable to convert type for operand #{i}, type was '{}'", types.ctx.display_type(ty))
            })?;
            out.push(&self.converted(op, value, &to, types));
        }
        Ok(out)
    }

    /// Returns the latest replacement of a value.
    fn newest(&self, value: Value) -> ValueList {
        let m = &*self.module;
        let mut at: ValueList = [value].into_iter().collect();
        while let &[one] = &at[..]
            && let Some(cast) = self.casts.source_of(m, one)
        {
            at = m.operands(cast).into();
        }
        at
    }

    /// Returns the latest replacement of a value that has these types, or else a cast of its latest replacement.
    fn converted(&mut self, user: Op, value: Value, types: &TypeList, converter: &'a TypeConverter) -> ValueList {
        let m = &*self.module;
        let are = |values: &[Value]| values.iter().map(|&v| m.value_type(v)).eq(types.iter().copied());
        let mut at: ValueList = [value].into_iter().collect();
        let mut found = are(&at).then(|| at.clone());
        while let &[one] = &at[..]
            && let Some(cast) = self.casts.source_of(m, one)
        {
            at = m.operands(cast).into();
            if are(&at) {
                found = Some(at.clone());
            }
        }
        found.unwrap_or_else(|| self.cast_to_target(user, value, &at, types, converter))
    }

    fn cast_to_target(
        &mut self,
        user: Op,
        value: Value,
        inputs: &[Value],
        types: &TypeList,
        converter: &'a TypeConverter,
    ) -> ValueList {
        let m = &mut *self.module;
        let mut at = InsertPoint::Before(user);
        if let &[input] = inputs {
            at = InsertPoint::after_value(m, input);
            if let &[ty] = &types[..]
                && let Some(found) = self.casts.existing(m, input, ty)
            {
                return [found].into_iter().collect();
            }
        }
        let (loc, direction) = (m.loc(user), Direction::Target(m.value_type(value)));
        let cast = self.casts.make(m, at, (inputs, types), direction, loc, Some(converter));
        self.note(Change::Created(cast));
        self.module.results(cast).collect()
    }

    /// Replaces all uses of `old` by `new`, through a cast at `at` if the types differ.
    fn replace_value_at(&mut self, old: Value, new: &[Value], at: InsertPoint) {
        let m = &mut *self.module;
        if m.is_unused(old) {
            return;
        }
        let ty = m.value_type(old);
        let value = match new {
            &[value] if m.value_type(value) == ty => value,
            _ => self.cast_to_source(old, new, ty, at),
        };
        let entries = &mut self.journal.entries;
        entries.extend(self.module.uses(old).map(|(op, index)| {
            let index = index as u32;
            JournalEntry::Change(Change::Operand { op, index, old })
        }));
        self.module.replace_all_uses(old, value);
    }

    fn cast_to_source(&mut self, old: Value, new: &[Value], ty: Type, at: InsertPoint) -> Value {
        let m = &mut *self.module;
        let loc = match m.def(old) {
            Def::Result(op, _) => m.loc(op),
            Def::Arg(block, i) => m.arg_loc(block, i as usize),
        };
        let cast = self.casts.make(m, at, (new, &[ty]), Direction::Source, loc, self.types);
        self.note(Change::Created(cast));
        self.module.result(cast, 0)
    }

    /// Whether the op was erased since the last commit.
    pub(super) fn is_erased(&self, op: Op) -> bool {
        self.erased[op]
    }

    /// Whether the op is a cast created by the driver.
    pub(super) fn is_cast(&self, op: Op) -> bool {
        self.casts.get(op).is_some()
    }

    pub(super) fn set_erased(&mut self, op: Op, erased: bool) {
        self.touch_symbols(op);
        if self.module.regions(op).is_empty() {
            self.erased[op] = erased;
            return;
        }
        for inner in self.module.ops_under(op) {
            self.erased[inner] = erased;
            self.touch_symbols(inner);
        }
    }
}

/// Returns the insertion point of a cast from `new` to the type of `old` that dominates all uses of `old`.
fn source_point(m: &Module, old: Value, new: &[Value]) -> InsertPoint {
    let at_old = match m.def(old) {
        Def::Result(op, _) => InsertPoint::Before(op),
        Def::Arg(block, _) => InsertPoint::Start(block),
    };
    let Some(&last) = new.last() else { return at_old };
    let point = InsertPoint::after_value(m, last);
    let together = new.iter().all(|&v| InsertPoint::after_value(m, v) == point);
    // Arguments of a block after `old` do not dominate the definition of `old`.
    let later = matches!(point, InsertPoint::Start(block) if m.def_block(old) != Some(block));
    if together || later { point } else { at_old }
}

impl PatternRewriter for ConversionRewriter<'_> {
    fn module(&self) -> &Module {
        self.module
    }

    fn module_mut_unlogged(&mut self) -> &mut Module {
        self.module
    }

    fn note(&mut self, change: Change) {
        match change {
            Change::Created(op) => {
                self.erased[op] = false;
                self.touch_symbols(op);
            }
            Change::Cloned { from, copy } => {
                self.set_erased(copy, false);
                let pairs = self.module.ops_under(from).into_iter().zip(self.module.ops_under(copy));
                pairs.for_each(|(from, copy)| self.casts.copy(from, copy));
            }
            _ => {}
        }
        self.journal.entries.push(JournalEntry::Change(change));
    }

    fn erase_empty_block(&mut self, block: Block) {
        let m = &mut *self.module;
        let unused = m.first_op(block).is_none() && m.block_args(block).iter().all(|&arg| m.is_unused(arg));
        assert!(unused, "an erased block is still used");
        let region = m.parent_region(block).expect("the block is in a region");
        self.journal.entries.push(JournalEntry::BlockErased(block, region, m.next_block(block)));
        m.unlink_block(block);
    }

    fn replace_value(&mut self, old: Value, new: &[Value]) {
        let at = source_point(self.module, old, new);
        self.replace_value_at(old, new, at);
    }

    fn replace(&mut self, op: Op, values: &[Value]) {
        let results: ValueList = self.module.results(op).collect();
        assert_eq!(results.len(), values.len(), "each result is replaced by one value");
        for (result, &value) in results.into_iter().zip(values).rev() {
            self.replace_value(result, &[value]);
        }
        self.erase(op);
    }

    fn modify(&mut self, op: Op, change: impl FnOnce(&mut Module)) {
        self.touch_symbols(op);
        let snapshot = Snapshot::new(self.module, op);
        self.journal.entries.push(JournalEntry::Modified(Box::new(snapshot)));
        change(self.module);
    }

    fn drop_operands(&mut self, op: Op) {
        let operands = self.module.operands(op);
        if operands.is_empty() {
            return;
        }
        let start = self.journal.values.len() as u32;
        self.journal.values.extend_from_slice(operands);
        self.journal.entries.push(JournalEntry::Operands(op, start));
        self.module.set_operands(op, &[]);
    }

    /// Erases an op and all ops in its regions. Remaining uses of its results get a cast without operands, which must
    /// be unused when the conversion ends.
    fn erase(&mut self, op: Op) {
        if self.erased[op] {
            return;
        }
        match self.module.regions(op) {
            [] => self.drop_operands(op),
            _ => self.module.ops_under(op).into_iter().for_each(|inner| self.drop_operands(inner)),
        }
        let used: SmallVec<[Value; 2]> = self.module.results(op).filter(|&v| !self.module.is_unused(v)).collect();
        for value in used {
            self.replace_value(value, &[]);
        }
        let m = &mut *self.module;
        let block = m.parent_block(op).expect("the op is in a block");
        self.journal.entries.push(JournalEntry::Erased(op, block, m.next_op(op)));
        m.unlink_op(op);
        self.set_erased(op, true);
    }
}
