//! Symbols: ops that are named, and references to them by name.

use crate::context::{Attr, Str};
use crate::module::{Module, Op};
use crate::op_info::{Traits, symbol_name};
use rustc_hash::FxHashMap;

/// The symbols of one or more symbol tables, looked up once and remembered. Valid until symbols are made, renamed or
/// erased.
#[derive(Default)]
pub struct SymbolTables {
    tables: FxHashMap<Op, FxHashMap<Str, Op>>,
}

impl SymbolTables {
    /// The symbol `name` of the table op `table`.
    pub fn lookup(&mut self, m: &Module, table: Op, name: Str) -> Option<Op> {
        self.tables.entry(table).or_insert_with(|| symbols_of(m, table)).get(&name).copied()
    }

    /// What the symbol reference `attr` means at `from`: the first name is looked up outwards, table by table, the
    /// nested ones inwards.
    pub fn resolve(&mut self, m: &Module, from: Op, attr: Attr) -> Option<Op> {
        let ctx = m.ctx.clone();
        let (root, nested) = ctx.as_symbol(attr)?;
        let mut at = Some(from);
        let mut found = None;
        while let Some(op) = at {
            if m.has_trait(op, Traits::SYMBOL_TABLE) {
                found = self.lookup(m, op, root);
                if found.is_some() {
                    break;
                }
            }
            at = m.parent_op(op);
        }
        let mut found = found?;
        for &name in nested {
            found = self.lookup(m, found, name)?;
        }
        Some(found)
    }
}

/// The symbols directly in an op's regions; of two of one name the first counts.
fn symbols_of(m: &Module, table: Op) -> FxHashMap<Str, Op> {
    let mut symbols = FxHashMap::default();
    for &region in m.regions(table) {
        for block in m.region_blocks(region) {
            for op in m.block_ops(block) {
                if let Some(name) = symbol_name(m, op) {
                    symbols.entry(name).or_insert(op);
                }
            }
        }
    }
    symbols
}
