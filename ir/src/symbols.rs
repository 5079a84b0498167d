//! Symbols: named ops, and references to them.

use crate::attrs::{AttrData, Piece};
use crate::context::Context;
use crate::entity::SideTable;
use crate::intern::{Attr, Str};
use crate::module::{Block, Module, Op};
use crate::traits::Traits;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// A cache of symbol tables. Invalidated when symbols are created, renamed or erased.
#[derive(Default)]
pub struct SymbolTables {
    tables: FxHashMap<Op, FxHashMap<Str, Op>>,
}

impl SymbolTables {
    /// Returns the symbol `name` in the symbol table op `table`.
    pub fn lookup(&mut self, m: &Module, table: Op, name: Str) -> Option<Op> {
        self.tables.entry(table).or_insert_with(|| symbols_of(m, table)).get(&name).copied()
    }

    /// Resolves the symbol reference `attr` from `from`: the root name is looked up in enclosing tables from the
    /// innermost outward, nested names inward.
    pub fn resolve(&mut self, m: &Module, from: Op, attr: Attr) -> Option<Op> {
        let ctx = &m.ctx;
        let path = self.resolve_path(m, from, attr);
        path.last().copied().filter(|_| path.len() == 1 + ctx.as_symbol(attr).map_or(0, |s| s.1.len()))
    }

    /// Returns the symbols along the path of `attr`, up to the first unresolved name.
    pub fn resolve_path(&mut self, m: &Module, from: Op, attr: Attr) -> SmallVec<[Op; 2]> {
        let mut path = SmallVec::new();
        let Some((root, nested)) = m.ctx.as_symbol(attr) else { return path };
        let mut around = std::iter::successors(Some(from), |&op| m.parent_op(op));
        path.extend(around.find_map(|op| {
            let table = m.has_trait(op, Traits::SYMBOL_TABLE);
            if table { self.lookup(m, op, root) } else { None }
        }));
        for &name in nested {
            let Some(found) = path.last().and_then(|&table| self.lookup(m, table, name)) else { break };
            path.push(found);
        }
        path
    }
}

/// Returns the symbols directly in an op's regions; the first of duplicates wins.
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

/// A cache of the symbol references inside attributes.
pub struct SymbolRefs {
    /// The index in `lists` of an attribute's references; `UNKNOWN` if not computed yet.
    found: SideTable<Attr, u32>,
    /// The lists of references. The first is empty, as for nearly all attributes.
    lists: Vec<Box<[Attr]>>,
}

const UNKNOWN: u32 = u32::MAX;

impl Default for SymbolRefs {
    fn default() -> Self {
        SymbolRefs { found: SideTable::new(UNKNOWN), lists: vec![Box::default()] }
    }
}

impl SymbolRefs {
    /// Returns the symbol references in the attributes of `op`, excluding its regions.
    pub fn of_op(&mut self, m: &Module, op: Op) -> SmallVec<[Attr; 2]> {
        let (props, attrs) = (self.list(&m.ctx, m.props(op)), self.list(&m.ctx, m.attrs(op)));
        let both = [props, attrs].into_iter().filter(|&list| list > 0);
        both.flat_map(|list| self.lists[list as usize].iter().copied()).collect()
    }

    fn list(&mut self, ctx: &Context, attr: Attr) -> u32 {
        if self.found[attr] == UNKNOWN {
            let mut refs = Vec::new();
            collect_refs(ctx, attr, &mut refs);
            self.found[attr] = if refs.is_empty() { 0 } else { self.lists.len() as u32 };
            if !refs.is_empty() {
                self.lists.push(refs.into());
            }
        }
        self.found[attr]
    }
}

fn collect_refs(ctx: &Context, root: Attr, refs: &mut Vec<Attr>) {
    let mut stack = vec![root];
    while let Some(attr) = stack.pop() {
        match ctx.attr_data(attr) {
            AttrData::Symbol { .. } => refs.push(attr),
            AttrData::Array(list) => stack.extend(list.iter().rev()),
            AttrData::Dict(entries) => stack.extend(entries.iter().rev().map(|e| e.1)),
            AttrData::Dialect { body, .. } => stack.extend(body.iter().filter_map(|piece| match piece {
                Piece::Attr(inner) => Some(*inner),
                _ => None,
            })),
            AttrData::Declared { params, .. } => stack.extend(params.iter().rev().flatten()),
            AttrData::Distinct { inner, .. } => stack.push(*inner),
            _ => {}
        }
    }
}

/// Whether the op may be an unregistered symbol table, whose names cannot be resolved.
pub fn is_unknown_table(m: &Module, op: Op) -> bool {
    m.info(op).is_none() && m.regions(op).len() == 1
}

/// Whether the symbol has private visibility: referenced only from its own symbol table.
pub fn is_private(m: &Module, symbol: Op) -> bool {
    let visibility = m.attr(symbol, m.ctx.str("sym_visibility"));
    visibility.and_then(|a| m.ctx.as_str(a)) == Some("private")
}

/// Whether the symbol has public visibility: it may be referenced from outside of the module.
pub fn is_public(m: &Module, symbol: Op) -> bool {
    let visibility = m.attr(symbol, m.ctx.str("sym_visibility"));
    !matches!(visibility.and_then(|a| m.ctx.as_str(a)), Some("private" | "nested"))
}

/// The names that a symbol table does not have.
pub struct FreeSymbols {
    /// The block of the table.
    pub block: Block,
    used: FxHashSet<Str>,
    /// The next number to try after a prefix.
    next: FxHashMap<String, usize>,
}

impl FreeSymbols {
    /// Returns those of the symbol table around an op; `None` if there is no table.
    pub fn around(m: &Module, op: Op) -> Option<FreeSymbols> {
        let mut around = std::iter::successors(m.parent_op(op), |&op| m.parent_op(op));
        let table = around.find(|&op| m.has_trait(op, Traits::SYMBOL_TABLE))?;
        let block = m.entry(*m.regions(table).first()?)?;
        let used = m.block_ops(block).filter_map(|op| symbol_name(m, op)).collect();
        Some(FreeSymbols { block, used, next: FxHashMap::default() })
    }

    /// Takes a name: the prefix with the least number.
    pub fn take(&mut self, ctx: &Context, prefix: &str) -> String {
        let next = self.next.entry(prefix.to_owned()).or_default();
        loop {
            let name = format!("{prefix}{next}");
            *next += 1;
            if self.used.insert(ctx.str(&name)) {
                return name;
            }
        }
    }
}

/// Returns the block of the symbol table around an op, and an unused symbol there: a prefix with the least number.
pub fn free_symbol(m: &Module, op: Op, prefix: &str) -> Option<(Block, String)> {
    let mut free = FreeSymbols::around(m, op)?;
    Some((free.block, free.take(&m.ctx, prefix)))
}

/// Returns the name of a symbol op, from its `sym_name`.
pub fn symbol_name(module: &Module, op: Op) -> Option<Str> {
    let ctx = &module.ctx;
    let attr = module.attr(op, ctx.str("sym_name"))?;
    Some(ctx.str(ctx.as_str(attr)?))
}
