//! `symbol-dce`: elimination of unreferenced private symbols.

use gradus_ir::entity::SideTable;
use gradus_ir::pass::Rewrites;
use gradus_ir::symbols::{SymbolRefs, SymbolTables, is_private, is_unknown_table};
use gradus_ir::{Diagnostic, Module, Op, Pass, PassContext, PassInfo, Traits};

/// The declaration of the pass.
pub const INFO: PassInfo = PassInfo {
    name: "symbol-dce",
    class: "SymbolDCE",
    doc: "Erase unreferenced private symbols

# Before / After

```mlir
func.func private @helper() { return }      // erased if @helper has no references
```

# Does

Follows symbol references from public symbols and from ops other than symbols, and erases the private symbols that are not reached,
in this symbol table and nested ones. In a symbol table that is not visible from outside, public symbols count as private.

# Refuses

An op that is not a symbol table, and unregistered ops with one region, which may be symbol tables.

# Cost

Linear in the number of ops.",
    statistics: &[("num-dce'd", "Number of symbols DCE'd")],
    rewrites: Rewrites::Tags(&["erase-dead-symbol"]),
    make: |_| Ok(Box::new(SymbolDce)),
    ..PassInfo::DEFAULT
};

struct SymbolDce;

impl Pass for SymbolDce {
    fn run(&mut self, m: &mut Module, op: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        if !m.has_trait(op, Traits::SYMBOL_TABLE) {
            return Err(Diagnostic::error(
                m.loc(op),
                "'symbol-dce' was scheduled to run under an operation that does not define a symbol table",
            ));
        }
        let hidden = m.parent_op(op).is_some() && (!m.has_trait(op, Traits::SYMBOL) || is_private(m, op));
        let mut liveness = Liveness {
            m,
            refs: SymbolRefs::default(),
            tables: SymbolTables::default(),
            live: SideTable::new(false),
            visited: Vec::new(),
        };
        liveness.table(op, hidden)?;
        let Liveness { live, visited, .. } = liveness;
        for table in visited {
            let dead: Vec<Op> = members(m, table).filter(|&s| m.has_trait(s, Traits::SYMBOL) && !live[s]).collect();
            for symbol in dead {
                if cx.allows("erase-dead-symbol", m, symbol) {
                    m.erase_op(symbol);
                    cx.count("num-dce'd", 1);
                }
            }
        }
        Ok(())
    }
}

/// Returns the direct children of a symbol table.
fn members(m: &Module, table: Op) -> impl Iterator<Item = Op> + '_ {
    m.regions(table).iter().flat_map(|&r| m.region_blocks(r)).flat_map(|b| m.block_ops(b))
}

struct Liveness<'m> {
    m: &'m Module,
    refs: SymbolRefs,
    tables: SymbolTables,
    live: SideTable<Op, bool>,
    /// Live symbol tables.
    visited: Vec<Op>,
}

impl Liveness<'_> {
    /// Marks the live symbols of the symbol table `root`. `hidden`: it cannot be referenced from outside.
    fn table(&mut self, root: Op, hidden: bool) -> Result<(), Diagnostic> {
        let m = self.m;
        let mut pending = vec![(root, hidden)];
        while let Some((table, hidden)) = pending.pop() {
            self.visited.push(table);
            let mut work = Vec::new();
            for op in members(m, table) {
                let discardable = m.has_trait(op, Traits::SYMBOL) && (hidden || is_private(m, op));
                if !discardable && !self.live[op] {
                    self.live[op] = true;
                    work.push(op);
                }
            }
            while let Some(op) = work.pop() {
                if m.has_trait(op, Traits::SYMBOL_TABLE) {
                    pending.push((op, hidden || !m.has_trait(op, Traits::SYMBOL) || is_private(m, op)));
                }
                self.references(op, &mut work)?;
            }
        }
        Ok(())
    }

    /// Marks the symbols referenced by an op and by its nested ops in the same symbol table.
    fn references(&mut self, root: Op, work: &mut Vec<Op>) -> Result<(), Diagnostic> {
        let m = self.m;
        let mut stack = vec![root];
        while let Some(op) = stack.pop() {
            if is_unknown_table(m, op) {
                let message = "operation contains potentially unknown symbol table, meaning that we can't reliable compute symbol uses";
                return Err(Diagnostic::error(m.loc(op), message));
            }
            for symbol in self.refs.of_op(m, op) {
                for target in self.tables.resolve_path(m, op, symbol) {
                    if !std::mem::replace(&mut self.live[target], true) {
                        work.push(target);
                    }
                }
            }
            if !m.has_trait(op, Traits::SYMBOL_TABLE) {
                stack.extend(members(m, op));
            }
        }
        Ok(())
    }
}
