//! The library of fragments: ops of existing programs.

use crate::declared::is_usable;
use crate::domain::{self, Domains};
use crate::focus::Focus;
use crate::neighbours::{OpInstance, neighbours};
use crate::samples::evaluate;
use gradus_check::Inputs;
use gradus_ir::eval::Datum;
use gradus_ir::random::Random;
use gradus_ir::symbols::{SymbolRefs, SymbolTables};
use gradus_ir::verify::verify_op;
use gradus_ir::{Attr, Builder, Context, Effects, Loc, Module, Op, OpInfo, OpName, Traits, Type, Value, symbol_name};
use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Number of operand lists on which an op is executed to find out whether it may be undefined.
const PROBES: usize = 6;
/// Maximum number of nested ops of a fragment.
const MAX_INNER: usize = 40;

/// An op of a library program with its regions.
pub(crate) struct Fragment {
    /// Index of the source program.
    pub(crate) source: usize,
    /// The op in the source program.
    pub(crate) op: Op,
    /// The values that it uses from outside.
    pub(crate) inputs: Box<[FragmentInput]>,
    /// The symbols that it refers to, transitively.
    pub(crate) symbols: Box<[Op]>,
    /// Whether it may be undefined or unsupported for some operands.
    pub(crate) may_fail: bool,
    /// Whether another op of its program refers to it.
    pub(crate) is_named: bool,
}

/// A value that a fragment uses from outside.
pub(crate) struct FragmentInput {
    /// The value in the source program.
    pub(crate) value: Value,
    /// Its type.
    pub(crate) ty: Type,
    /// Its constant value there, if any.
    pub(crate) constant: Option<Attr>,
    /// The constant required in all programs, where the verifier reads the operand's value.
    pub(crate) fixed: Option<Attr>,
    /// The fragment that defines it in the source program, and the result number.
    pub(crate) made_by: Option<(usize, usize)>,
}

/// Fragment indices by dialect and op.
pub(crate) type ByDialect = IndexMap<&'static str, IndexMap<OpName, Vec<usize>>>;

/// The key under which fragments are duplicates: op, attributes, types, and defining fragments of the operands.
type FragmentKey = (OpName, Attr, Vec<Type>, Vec<Type>, Vec<Option<(usize, usize)>>);

/// Programs and the fragments in them.
pub struct Library {
    pub(crate) ctx: Arc<Context>,
    pub(crate) sources: Vec<Module>,
    pub(crate) parts: Vec<Fragment>,
    /// The usable fragments.
    pub(crate) by_dialect: ByDialect,
    /// The fragments whose operands other fragments define.
    pub(crate) chains: ByDialect,
    pub(crate) by_result: FxHashMap<Type, Vec<usize>>,
    pub(crate) by_input: FxHashMap<Type, Vec<usize>>,
    /// Complete functions of the programs, with the symbols that they refer to.
    pub(crate) functions: Vec<Fragment>,
    /// The initial types of parameters.
    pub(crate) types: Vec<Type>,
    /// The rules of the selected dialects.
    pub(crate) rules: Vec<&'static str>,
    pub(crate) domains: Domains,
    seen: FxHashMap<FragmentKey, usize>,
    /// The ops that the passes under test rewrite.
    pub(crate) focus: Focus,
    /// The selected dialects; empty for all.
    allowed: Vec<String>,
}

impl Library {
    /// Builds the library from the declarations of the selected dialects, or of all if `allowed` is empty.
    pub fn new(ctx: &Arc<Context>, allowed: &[String]) -> Library {
        let mut library = Library {
            ctx: ctx.clone(),
            sources: Vec::new(),
            parts: Vec::new(),
            by_dialect: IndexMap::new(),
            chains: IndexMap::new(),
            by_result: FxHashMap::default(),
            by_input: FxHashMap::default(),
            functions: Vec::new(),
            types: domain::types(ctx),
            rules: Vec::new(),
            domains: Domains::default(),
            seen: FxHashMap::default(),
            focus: Focus::none(),
            allowed: allowed.to_vec(),
        };
        let dialects = ctx.dialects().iter().filter(|d| library.allows(d.name));
        let rules = dialects.flat_map(|d| d.rules.iter().chain(d.rule_groups.iter().flat_map(|group| group.rules)));
        library.rules = rules.map(|rule| rule.name).collect();
        for example in crate::examples::all(ctx) {
            library.add(example);
        }
        library.add(crate::declared::instances(ctx));
        library.add(neighbours(ctx, &library.domains, library.instances()));
        library
    }

    /// Draws a program to start from, of the selected dialects.
    pub(crate) fn start(&self, random: &mut Random) -> Option<Module> {
        let m = self.focus.start(&self.ctx, random)?;
        let mut ops = m.ops_under(m.root()).into_iter().skip(1);
        ops.all(|op| self.allows(self.ctx.op_dialect(m.name(op)))).then_some(m)
    }

    /// Returns the fragments of each op that refer to no symbols.
    fn instances(&self) -> impl Iterator<Item = (OpName, Vec<OpInstance>)> {
        self.by_dialect.values().flatten().map(|(&name, parts)| {
            let parts = parts.iter().map(|&part| &self.parts[part]).filter(|part| part.symbols.is_empty());
            (name, parts.map(|part| OpInstance::of(&self.sources[part.source], part.op)).collect())
        })
    }

    /// Names of executable declared ops without a fragment.
    pub fn missing(&self) -> impl Iterator<Item = &'static str> + '_ {
        let known = |dialect: &str, info: &OpInfo| {
            self.by_dialect.get(dialect).is_some_and(|ops| ops.contains_key(&self.ctx.op_name(info.name)))
        };
        let dialects = self.ctx.dialects().iter().filter(|d| self.allows(d.name));
        let infos = dialects.flat_map(|d| d.ops.iter().map(move |info| (d.name, *info)));
        let unknown = infos.filter(move |(dialect, info)| is_usable(info) && !known(dialect, info));
        unknown.map(|(_, info)| info.name)
    }

    /// Adds the fragments of a valid program of the same context.
    pub fn add(&mut self, mut m: Module) {
        let source = self.sources.len();
        let mut tables: (SymbolTables, SymbolRefs) = Default::default();
        let named = named(&m, &mut tables);
        let mut numbers: FxHashMap<Op, usize> = FxHashMap::default();
        for op in m.ops_under(m.root()).into_iter().skip(1) {
            let made = part(&mut m, op, source, &mut tables);
            let Some(mut part) = made.filter(|part| self.is_allowed(&m, part)) else { continue };
            part.is_named = named.contains(&op);
            let info = m.info(op).expect("parts are declared");
            if info.traits.has(Traits::FUNCTION) {
                self.functions.push(part);
                continue;
            }
            part.inputs.iter_mut().for_each(|input| input.made_by = made_by(&m, input, &numbers));
            let at = self.number(&m, &part);
            numbers.insert(op, at);
            if at < self.parts.len() {
                continue;
            }
            m.results(op).for_each(|v| note(&mut self.by_result, m.value_type(v), at));
            part.inputs.iter().for_each(|input| note(&mut self.by_input, input.ty, at));
            let dialect = info.name.split_once('.').map_or("", |(dialect, _)| dialect);
            self.by_dialect.entry(dialect).or_default().entry(m.name(op)).or_default().push(at);
            if part.inputs.iter().any(|input| input.made_by.is_some()) {
                self.chains.entry(dialect).or_default().entry(m.name(op)).or_default().push(at);
            }
            self.parts.push(part);
        }
        self.sources.push(m);
    }

    /// Whether all ops and symbols of a fragment belong to selected dialects.
    fn is_allowed(&self, m: &Module, part: &Fragment) -> bool {
        let roots = std::iter::once(part.op).chain(part.symbols.iter().copied());
        let mut inner = roots.flat_map(|op| m.ops_under(op));
        self.allowed.is_empty() || inner.all(|op| self.allows(m.ctx.op_dialect(m.name(op))))
    }

    pub(crate) fn allows(&self, dialect: &str) -> bool {
        self.allowed.is_empty() || self.allowed.iter().any(|name| name == dialect)
    }

    /// Returns the index of an equal fragment, or the next free one. Ops with regions are never equal.
    fn number(&mut self, m: &Module, part: &Fragment) -> usize {
        let (op, next) = (part.op, self.parts.len());
        if !m.regions(op).is_empty() {
            return next;
        }
        let operands = m.operands(op).iter().map(|&v| m.value_type(v)).collect();
        let results = m.results(op).map(|v| m.value_type(v)).collect();
        let made = part.inputs.iter().map(|input| input.made_by).collect();
        *self.seen.entry((m.name(op), m.props(op), operands, results, made)).or_insert(next)
    }
}

/// Returns the fragment that defines an input, and the result number.
fn made_by(m: &Module, input: &FragmentInput, numbers: &FxHashMap<Op, usize>) -> Option<(usize, usize)> {
    let op = m.defining_op(input.value).filter(|_| input.constant.is_none())?;
    Some((*numbers.get(&op)?, m.results(op).position(|v| v == input.value)?))
}

fn note(lists: &mut FxHashMap<Type, Vec<usize>>, ty: Type, part: usize) {
    let list = lists.entry(ty).or_default();
    if list.last() != Some(&part) {
        list.push(part);
    }
}

/// Returns an op as a fragment, or `None` if it cannot be inserted elsewhere or executed.
fn part(m: &mut Module, op: Op, source: usize, tables: &mut (SymbolTables, SymbolRefs)) -> Option<Fragment> {
    let info = m.info(op)?;
    let is_function = info.traits.has(Traits::FUNCTION);
    if !is_function && !is_usable(info) {
        return None;
    }
    let inner = m.ops_under(op);
    if inner.len() > MAX_INNER || inner.iter().any(|&op| m.info(op).is_none()) {
        return None;
    }
    let symbols = symbols(m, &inner, tables)?;
    let pure = inner.iter().all(|&op| m.info(op).is_some_and(|i| i.effects == Effects::Pure && i.eval.is_some()));
    let may_fail = if is_function || !pure { true } else { fails(m, op)? };
    let mut inputs = inputs(m, op, &inner);
    if !is_function {
        fix(m, op, &inner, &mut inputs);
    }
    Some(Fragment { source, op, inputs: inputs.into(), symbols, may_fail, is_named: false })
}

/// Whether an op without effects fails on some sample operands; `None` if it fails on all.
fn fails(m: &Module, op: Op) -> Option<bool> {
    let mut random = Random::of("operands");
    let mut runs = || {
        let operands: Option<Vec<Datum>> =
            m.operands(op).iter().map(|&v| Inputs::draw_view(&m.ctx, m.value_type(v), &mut random)).collect();
        operands.is_some_and(|data| evaluate(m, op, &data).is_some())
    };
    let done = (0..PROBES).filter(|_| runs()).count();
    (done > 0).then_some(done < PROBES)
}

/// Returns the values that the ops use and none of them defines.
fn inputs(m: &Module, root: Op, inner: &[Op]) -> Vec<FragmentInput> {
    let mut inputs: Vec<FragmentInput> = Vec::new();
    let holds = |v: Value| {
        let around = m.def_block(v).and_then(|b| m.block_op(b));
        around.is_some_and(|around| around == root || m.is_inside(around, root))
    };
    for &op in inner {
        for &v in m.operands(op) {
            if !holds(v) && inputs.iter().all(|known| known.value != v) {
                inputs.push(FragmentInput {
                    value: v,
                    ty: m.value_type(v),
                    constant: m.constant(v),
                    fixed: None,
                    made_by: None,
                });
            }
        }
    }
    inputs
}

/// Finds inputs whose constant value the verifier reads: if the op is invalid with -1, the input is fixed to its
/// original value, or 1.
fn fix(m: &mut Module, root: Op, inner: &[Op], inputs: &mut [FragmentInput]) {
    let ctx = m.ctx.clone();
    let indices = inputs.iter_mut().filter(|input| input.ty == Type::INDEX);
    let indices: Vec<&mut FragmentInput> = indices.collect();
    if indices.is_empty() {
        return;
    }
    let wrong = Builder::before(m, root).constant(ctx.int_attr(Type::INDEX, -1), Type::INDEX, "", Loc::UNKNOWN);
    let Some(wrong) = wrong else { return };
    for input in indices {
        let uses: Vec<(Op, usize)> = m.uses(input.value).filter(|(user, _)| inner.contains(user)).collect();
        uses.iter().for_each(|&(user, i)| m.set_operand(user, i, wrong));
        if uses.iter().any(|&(user, _)| verify_op(m, user).is_err()) {
            input.fixed = Some(input.constant.unwrap_or_else(|| ctx.int_attr(Type::INDEX, 1)));
        }
        uses.iter().for_each(|&(user, i)| m.set_operand(user, i, input.value));
    }
    if let Some(op) = m.defining_op(wrong) {
        m.erase_op(op);
    }
}

/// Returns the symbols that ops of a program refer to.
pub(crate) fn named(m: &Module, tables: &mut (SymbolTables, SymbolRefs)) -> FxHashSet<Op> {
    let mut named = FxHashSet::default();
    for op in m.ops_under(m.root()) {
        for name in tables.1.of_op(m, op) {
            named.extend(tables.0.resolve(m, op, name));
        }
    }
    named
}

/// Returns the symbols that ops refer to, transitively and without duplicates. `None` if one is missing or nested.
fn symbols(m: &Module, ops: &[Op], tables: &mut (SymbolTables, SymbolRefs)) -> Option<Box<[Op]>> {
    let mut found: Vec<Op> = Vec::new();
    let mut open = ops.to_vec();
    while let Some(op) = open.pop() {
        for name in tables.1.of_op(m, op) {
            let symbol = tables.0.resolve(m, op, name)?;
            let at_top = m.parent_block(symbol) == Some(m.body()) && symbol_name(m, symbol).is_some();
            if !at_top || ops.contains(&symbol) {
                return None;
            }
            if !found.contains(&symbol) {
                found.push(symbol);
                open.extend(m.ops_under(symbol));
            }
        }
    }
    Some(found.into())
}
