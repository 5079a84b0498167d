//! Reductions of symbols with their references, and of function bodies.

use crate::blocks::clear_region;
use crate::ops::functions;
use crate::reduction::{Reduction, Site};
use crate::substitute::{Prefer, Substitutes, erase};
use gradus_ir::symbols::SymbolRefs;
use gradus_ir::{Module, Op, Str, Traits, symbol_name};
use rustc_hash::FxHashSet;

pub(crate) const REDUCTIONS: &[Reduction] =
    &[Reduction::new("drop symbols", symbols, drop_symbols), Reduction::new("drop bodies", bodies, drop_bodies)];

fn symbols(m: &Module) -> Vec<Site> {
    let is_symbol = |op: &Op| *op != m.root() && symbol_name(m, *op).is_some();
    m.ops_under(m.root()).into_iter().rev().filter(is_symbol).map(Site::Op).collect()
}

fn drop_symbols(m: &mut Module, sites: &[Site]) {
    let symbols: Vec<Op> = sites.iter().filter_map(|s| if let Site::Op(op) = *s { Some(op) } else { None }).collect();
    let names: FxHashSet<Str> = symbols.iter().filter_map(|&op| symbol_name(m, op)).collect();
    let mut refs = SymbolRefs::default();
    let mut refers = |m: &Module, op: Op| {
        refs.of_op(m, op).into_iter().any(|attr| match m.ctx.as_symbol(attr) {
            Some((root, nested)) => names.contains(&root) || nested.iter().any(|name| names.contains(name)),
            None => false,
        })
    };
    let gone: FxHashSet<Op> = symbols.iter().copied().collect();
    let ops = m.ops_under(m.root()).into_iter().rev();
    let gone: Vec<Op> = ops.filter(|op| *op != m.root() && (gone.contains(op) || refers(m, *op))).collect();
    let mut substitutes = Substitutes::new(m, Prefer::Existing);
    erase(m, &gone, &mut substitutes);
    substitutes.finish(m);
}

fn bodies(m: &Module) -> Vec<Site> {
    functions(m).into_iter().rev().map(Site::Op).collect()
}

/// Turns functions into declarations.
fn drop_bodies(m: &mut Module, sites: &[Site]) {
    let private = m.ctx.string_attr("private");
    for site in sites {
        let &Site::Op(op) = site else { continue };
        let Some(&body) = m.regions(op).first() else { continue };
        if !m.has_trait(op, Traits::FUNCTION) {
            continue;
        }
        clear_region(m, body);
        m.set_attr(op, "sym_visibility", Some(private));
    }
}
