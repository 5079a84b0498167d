//! The verifier. For every op, in this order:
//!
//! - [`declared`]: numbers, types and kinds of operands, results and inherent attributes, and the relations between them
//! - [`declared_structure`]: regions, successors and parents
//! - [`traits`]: trait constraints on the parent and the regions
//! - [`blocks`]: terminators end all blocks; branches stay in their region and do not target its entry
//! - [`symbols`]: unique names in symbol tables
//! - [`uses`]: operands are defined, dominate their use, and do not cross an isolated region
//! - the op's own `verify` and `verify_symbols`, and `infer` for result types
//! - after the ops in its regions: implicit terminators, the values forwarded along [`regions::edges`], and the op's own
//!   `verify_regions`
//!
//! Not verified: unregistered ops, except for their position; symbol references, except by an op's own
//! `verify_symbols`.

mod declared;
mod regions;

use crate::Violation;
use crate::constraint::AttrText;
use crate::context::Context;
use crate::dominance::Dominance;
use crate::intern::{Attr, Str};
use crate::module::{Block, Def, Module, Op, Region, Value};
use crate::op_info::{Arity, OpInfo};
use crate::symbols::SymbolTables;
use crate::symbols::symbol_name;
use crate::text::diag::Diagnostic;
use crate::text::loc::Loc;
use crate::threads::partition::MIN_OPS;
use crate::traits::Traits;
use declared::Declared;
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Maximum number of reported errors.
const MAX_ERRORS: usize = 20;

/// Verifies the whole module. Returns all errors in textual order, up to a limit.
pub fn verify(m: &Module) -> Result<(), Vec<Diagnostic>> {
    verify_op(m, m.root())
}

/// Verifies `op` and everything under it, except symbol references of ops inside another op, see [`verify_references`],
/// and the dominance of values defined outside.
pub fn verify_op(m: &Module, op: Op) -> Result<(), Vec<Diagnostic>> {
    let mut v = Verifier::new(m, Dominance::new(m, op), m.parent_block(op).is_none());
    v.root = m.parent_block(op).map(|_| op);
    v.tree(op);
    done(v.errors)
}

/// [`verify_op`] on several threads, which share the ops directly in `op`. Reports the same errors.
pub fn verify_on(m: &Module, op: Op, threads: usize) -> Result<(), Vec<Diagnostic>> {
    // The ops of a graph region do not depend on each other's order.
    let &[region] = m.regions(op) else { return verify_op(m, op) };
    if threads < 2 || m.num_ops() < 2 * MIN_OPS || !m.has_one_block(region) || !m.has_trait(op, Traits::GRAPH_REGION) {
        return verify_op(m, op);
    }
    let ops: Vec<Op> = m.block_ops(m.only_block(region)).collect();
    let parts: Vec<&[Op]> = ops.chunks(ops.len().div_ceil(8 * threads).max(1)).collect();
    let (next, symbols) = (AtomicUsize::new(0), m.parent_block(op).is_none());
    let work = || {
        let mut found = Vec::new();
        let mut v = Verifier::new(m, Dominance::of_all(m, Vec::new()), symbols);
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some(part) = parts.get(i) else { return found };
            v.dominance = Dominance::of_all(m, part.to_vec());
            part.iter().for_each(|&op| v.tree(op));
            found.push((i, std::mem::take(&mut v.errors)));
        }
    };
    let mut v = Verifier::new(m, Dominance::of_all(m, Vec::new()), symbols);
    v.op(op);
    let mut found = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads.min(parts.len())).map(|_| scope.spawn(work)).collect();
        let mut found = work();
        for thread in others {
            found.extend(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        found
    });
    found.sort_by_key(|(i, _)| *i);
    v.errors.extend(found.into_iter().flat_map(|(_, errors)| errors));
    done(v.errors)
}

fn done(mut errors: Vec<Diagnostic>) -> Result<(), Vec<Diagnostic>> {
    errors.truncate(MAX_ERRORS);
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// Verifies the symbol references of all ops under `root`.
pub(crate) fn verify_references(m: &Module, root: Op) -> Result<(), Vec<Diagnostic>> {
    let mut tables = SymbolTables::default();
    let mut errors = Vec::new();
    for op in m.ops_under(root) {
        if let Some(verify) = m.info(op).and_then(|info| info.verify_symbols)
            && let Err(violation) = verify(m, op, &mut tables)
        {
            errors.push(op_error(m, op, violation.message()));
        }
    }
    done(errors)
}

fn op_error(m: &Module, op: Op, message: &str) -> Diagnostic {
    Diagnostic::error(m.loc(op), format!("'{}' op {message}", m.name_text(op))).about(op)
}

struct Verifier<'a> {
    m: &'a Module,
    dominance: Dominance,
    errors: Vec<Diagnostic>,
    /// The symbol tables; `None` if they lie outside the verified op.
    symbols: Option<SymbolTables>,
    declared: Declared,
    /// The verified op, if it has a parent.
    root: Option<Op>,
}

type Check = Result<(), Violation>;

impl<'a> Verifier<'a> {
    fn new(m: &'a Module, dominance: Dominance, symbols: bool) -> Self {
        Verifier {
            m,
            dominance,
            errors: Vec::new(),
            symbols: symbols.then(SymbolTables::default),
            declared: Declared::default(),
            root: None,
        }
    }

    fn tree(&mut self, root: Op) {
        let m = self.m;
        // An op; for the second visit, after its regions, with the number of errors before the first.
        let mut stack: Vec<(Op, Option<usize>)> = vec![(root, None)];
        while let Some((op, visited)) = stack.pop() {
            if self.errors.len() >= MAX_ERRORS {
                return;
            }
            if let Some(errors) = visited {
                if self.errors.len() == errors {
                    self.errors.extend(regions::check(m, op).err().map(|d| *d));
                }
                continue;
            }
            let errors = self.errors.len();
            self.op(op);
            if m.regions(op).is_empty() {
                continue;
            }
            stack.push((op, Some(errors)));
            let at = stack.len();
            for &region in m.regions(op) {
                for block in m.region_blocks(region) {
                    stack.extend(m.block_ops(block).map(|op| (op, None)));
                }
            }
            stack[at..].reverse();
        }
    }

    fn op(&mut self, op: Op) {
        let m = self.m;
        if let Some(info) = m.info(op) {
            let check = self.registered(op, info);
            self.note(op, check);
        }
        if !m.regions(op).is_empty() {
            let check = blocks(m, op).and_then(|()| symbols(m, op));
            if let Err(d) = check {
                self.errors.push(*d);
            }
        }
        if !m.successors(op).is_empty()
            && let Some(block) = m.parent_block(op)
            && m.last_op(block) != Some(op)
        {
            self.note(op, Err("with block successors must terminate its parent block".into()));
        }
        self.errors.extend(self.uses(op).err().map(|d| *d));
    }

    fn note(&mut self, op: Op, check: Check) {
        if let Err(violation) = check {
            self.errors.push(op_error(self.m, op, violation.message()));
        }
    }

    fn registered(&mut self, op: Op, info: &'static OpInfo) -> Check {
        let m = self.m;
        self.declared.check(m, op, info)?;
        declared_structure(m, op, info)?;
        traits(m, op, info)?;
        if let Some(verify) = info.verify {
            verify(m, op)?;
        }
        if let (Some(verify), Some(symbols)) = (info.verify_symbols, &mut self.symbols) {
            verify(m, op, symbols)?;
        }
        inferred(m, op, info)
    }

    /// Verifies that operands dominate their uses.
    fn uses(&self, op: Op) -> Result<(), Box<Diagnostic>> {
        let m = self.m;
        for (i, &value) in m.operands(op).iter().enumerate() {
            // In straight-line code the definition is earlier in the same block.
            let same_block = match m.def(value) {
                Def::Result(def, _) => m.parent_block(def) == m.parent_block(op) && self.dominance.is_before(def, op),
                Def::Arg(block, _) => Some(block) == m.parent_block(op),
            };
            if !same_block {
                self.distant_use(op, i, value)?;
            }
        }
        Ok(())
    }

    /// Whether a value is defined inside the verified op. Outer definitions are assumed to dominate.
    fn is_within(&self, value: Value) -> bool {
        let around = self.m.def_block(value).and_then(|b| self.m.block_op(b));
        self.root.is_none_or(|root| around.is_none_or(|op| op == root || self.m.is_inside(op, root)))
    }

    fn distant_use(&self, op: Op, i: usize, value: Value) -> Result<(), Box<Diagnostic>> {
        let m = self.m;
        if m.parent_block(op).is_some_and(|b| !self.dominance.is_reachable(m, b)) {
            return Ok(());
        }
        if !self.dominance.dominates(m, value, op) && self.is_within(value) {
            // Ops inside an unreachable op are unreachable.
            let unreachable = |op| m.parent_block(op).is_some_and(|b| !self.dominance.is_reachable(m, b));
            if std::iter::successors(m.parent_op(op), |&op| m.parent_op(op)).any(unreachable) {
                return Ok(());
            }
            let error = op_error(m, op, &format!("operand #{i} does not dominate this use"));
            let (place, what) = defined(m, op, value);
            return Err(Box::new(error.note(place, what)));
        }
        let home = m.def_block(value).and_then(|b| m.parent_region(b));
        let mut at = op;
        while let Some(block) = m.parent_block(at) {
            if m.parent_region(block) == home {
                return Ok(());
            }
            let Some(parent) = m.block_op(block) else { return Ok(()) };
            if m.has_trait(parent, Traits::ISOLATED) {
                let name = m.name_text(parent);
                let message = format!(
                    "using value defined outside the region: operand #{i} crosses '{name}', which is isolated from above"
                );
                return Err(Box::new(op_error(m, op, &message)));
            }
            at = parent;
        }
        Ok(())
    }
}

/// Returns the location of a definition, and its description relative to an op that it does not dominate.
fn defined(m: &Module, op: Op, value: Value) -> (Loc, String) {
    let (here, there) = (m.parent_block(op), m.def_block(value));
    let region = |block: Option<Block>| block.and_then(|b| m.parent_region(b));
    let is_inside = |inner: Option<Region>, outer: Option<Region>| {
        let around = |r: &Region| region(m.region_op(*r).and_then(|op| m.parent_block(op)));
        std::iter::successors(inner, around).skip(1).any(|r| Some(r) == outer)
    };
    let place = match () {
        () if here == there => "in the same block",
        () if region(here) == region(there) => "in the same region",
        () if is_inside(region(here), region(there)) => "in a parent region",
        () if is_inside(region(there), region(here)) => "in a child region",
        () => "is neither in a parent nor in a child region",
    };
    match m.def(value) {
        Def::Result(def, _) => (m.loc(def), format!("operand defined here (op {place})")),
        Def::Arg(block, _) => {
            let loc = m.block_op(block).map_or(Loc::UNKNOWN, |op| m.loc(op));
            (loc, format!("operand defined as a block argument (block {place})"))
        }
    }
}

fn plural(n: usize) -> &'static str {
    if n == 1 { "" } else { "s" }
}

/// Whether a dialect's attribute, such as `#arith.fastmath<nnan>`, has the mnemonic and only known words.
pub fn has_words(ctx: &Context, attr: Attr, text: &AttrText) -> bool {
    let AttrText::Words { dialect, mnemonic, words, flags } = text else { return false };
    let Some(list) = ctx.as_body(attr, dialect, mnemonic) else { return false };
    let mut given = list.split(',').map(str::trim);
    (flags.is_some() || !list.contains(',')) && given.all(|w| words.contains(&w))
}

fn declared_structure(m: &Module, op: Op, info: &OpInfo) -> Check {
    // The minimum count when other groups exist, and whether more are allowed.
    let wanted = |specs: &[crate::op_info::GroupSpec], n: usize| {
        let loose = specs.iter().any(|s| s.arity != Arity::One);
        let fixed = specs.iter().filter(|s| s.arity == Arity::One).count();
        (n < fixed || (!loose && n > fixed)).then_some((fixed, loose))
    };
    match wanted(info.regions, m.regions(op).len()) {
        Some((0, _)) => return Err("requires zero regions".into()),
        Some((1, false)) => return Err("requires one region".into()),
        Some((n, loose)) => {
            return Err(format!("expected {n} {}region{}", if loose { "or more " } else { "" }, plural(n)).into());
        }
        None => {}
    }
    let found = m.successors(op).len();
    if let Some((n, loose)) = wanted(info.successors, found) {
        let least = if loose { "at least " } else { "" };
        return Err(format!("requires {least}{n} successor{} but found {found}", plural(n)).into());
    }
    if !info.parents.is_empty() {
        let parent = m.parent_op(op).map_or("nothing", |p| m.name_text(p));
        if !info.parents.contains(&parent) {
            return Err(format!("expects parent op {}", one_of(info.parents)).into());
        }
    }
    Ok(())
}

fn one_of(names: &[&str]) -> String {
    format!("{}'{}'", if names.len() == 1 { "" } else { "to be one of " }, names.join(", "))
}

fn traits(m: &Module, op: Op, info: &OpInfo) -> Check {
    if info.traits == Traits::NONE {
        return Ok(());
    }
    if info.traits.has(Traits::TERMINATOR)
        && let Some(block) = m.parent_block(op)
        && m.last_op(block) != Some(op)
    {
        return Err("must be the last operation in the parent block".into());
    }
    if info.traits.has(Traits::SINGLE_BLOCK) {
        for (i, &region) in m.regions(op).iter().enumerate() {
            if m.entry(region).is_some() && !m.has_one_block(region) {
                return Err(format!("expects region #{i} to have 0 or 1 blocks").into());
            }
        }
    }
    if info.traits.has(Traits::ISOLATED) && m.regions(op).is_empty() {
        return Err("is isolated from above but has no region".into());
    }
    if info.traits.has(Traits::SYMBOL) {
        symbol(m, op)?;
    }
    Ok(())
}

fn symbol(m: &Module, op: Op) -> Check {
    let ctx = &m.ctx;
    match m.attr(op, ctx.str("sym_name")) {
        Some(name) if ctx.as_str(name).is_none_or(str::is_empty) => {
            return Err("requires attribute 'sym_name' to be a non-empty string".into());
        }
        _ => {}
    }
    if let Some(visibility) = m.attr(op, ctx.str("sym_visibility")) {
        let word = ctx.as_str(visibility).unwrap_or("");
        if !["public", "private", "nested"].contains(&word) {
            return Err(format!(
                "visibility expected to be one of [\"public\", \"private\", \"nested\"], but got \"{word}\""
            )
            .into());
        }
    }
    Ok(())
}

/// Verifies terminators and branch targets.
fn blocks(m: &Module, op: Op) -> Result<(), Box<Diagnostic>> {
    let info = m.info(op);
    for &region in m.regions(op) {
        let one = m.has_one_block(region);
        let optional = one && info.is_none_or(|i| i.traits.has(Traits::NO_TERMINATOR));
        let entry = m.entry(region);
        for block in m.region_blocks(region) {
            let Some(last) = m.last_op(block) else {
                if optional {
                    continue;
                }
                return Err(Box::new(Diagnostic::error(m.loc(op), "empty block: expect at least a terminator")));
            };
            let ends = m.info(last).is_none_or(|i| i.traits.has(Traits::TERMINATOR));
            if !ends && !optional {
                return Err(Box::new(
                    Diagnostic::error(m.loc(last), "block with no terminator, has this operation at its end")
                        .note(m.loc(op), "in a region of this operation"),
                ));
            }
            let mut ranges = crate::branch::carried_ranges(m, last).into_iter();
            for (i, &to) in m.successors(last).iter().enumerate() {
                check_branch(m, last, block, to, entry)?;
                if let Some(range) = ranges.next() {
                    check_carried(m, last, i, range)?;
                }
            }
        }
    }
    Ok(())
}

fn check_branch(m: &Module, op: Op, from: Block, to: Block, entry: Option<Block>) -> Result<(), Box<Diagnostic>> {
    if m.parent_region(to) != m.parent_region(from) {
        return Err(Box::new(Diagnostic::error(m.loc(op), "branching to block of a different region")));
    }
    if Some(to) == entry {
        return Err(Box::new(Diagnostic::error(m.loc(op), "entry block of region may not have predecessors")));
    }
    Ok(())
}

/// Verifies that the operands forwarded to successor `i` match its block arguments.
fn check_carried(m: &Module, op: Op, i: usize, range: std::ops::Range<usize>) -> Result<(), Box<Diagnostic>> {
    let args = m.block_args(m.successors(op)[i]);
    let carried = m.operands(op).get(range).unwrap_or(&[]);
    let error = |message: String| Err(Box::new(Diagnostic::error(m.loc(op), message)));
    if carried.len() != args.len() {
        let (n, want) = (carried.len(), args.len());
        return error(format!("branch has {n} operands for successor #{i}, but target block has {want}"));
    }
    match carried.iter().zip(args).position(|(&v, &arg)| m.value_type(v) != m.value_type(arg)) {
        Some(at) => error(format!("type mismatch for bb argument #{at} of successor #{i}")),
        None => Ok(()),
    }
}

/// Verifies that the names of a symbol table are unique.
fn symbols(m: &Module, op: Op) -> Result<(), Box<Diagnostic>> {
    if !m.has_trait(op, Traits::SYMBOL_TABLE) {
        return Ok(());
    }
    let mut seen: FxHashMap<Str, Op> = FxHashMap::default();
    for &region in m.regions(op) {
        for inner in m.region_blocks(region).flat_map(|b| m.block_ops(b)) {
            let Some(name) = symbol_name(m, inner) else { continue };
            if let Some(first) = seen.insert(name, inner) {
                let message = format!("redefinition of symbol named '{}'", m.ctx.text(name));
                return Err(Box::new(
                    Diagnostic::error(m.loc(inner), message).note(m.loc(first), "see existing symbol definition here"),
                ));
            }
        }
    }
    Ok(())
}

/// Verifies result types against the inferred ones. A dynamic extent on either side matches any.
fn inferred(m: &Module, op: Op, info: &OpInfo) -> Check {
    let Some(infer) = info.infer else { return Ok(()) };
    let ctx = &m.ctx;
    let types = m.with_args(op, infer).expect("the op is registered")?;
    if types.len() != m.num_results(op) {
        return Err(format!("has {} results, but {} are inferred", m.num_results(op), types.len()).into());
    }
    for (value, &want) in m.results(op).zip(&types) {
        let have = m.value_type(value);
        let fits = have == want
            || ctx.element_type(have) == ctx.element_type(want)
                && ctx.is_shaped(have)
                && match (ctx.shape(have), ctx.shape(want)) {
                    (Some(a), Some(b)) => {
                        a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x == y || *x < 0 || *y < 0)
                    }
                    _ => true,
                };
        if !fits {
            let (have, want) = (ctx.display_type(have), ctx.display_type(want));
            return Err(format!("inferred type '{want}' is incompatible with the result's type '{have}'").into());
        }
    }
    Ok(())
}
