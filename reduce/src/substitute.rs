//! Replacements for erased values: another value of the type, a new function argument, or a constant.

use gradus_ir::control::Point;
use gradus_ir::entity::{Entity, SideTable};
use gradus_ir::symbols::SymbolRefs;
use gradus_ir::{Block, Builder, Def, Module, Op, Str, Traits, Type, Value, symbol_name};
use rustc_hash::{FxHashMap, FxHashSet};

/// The kind of replacement that is tried first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Prefer {
    /// An existing value.
    Existing,
    /// A new argument of the function.
    Argument,
    /// A constant with this value.
    Number(u8),
}

/// The replacements for erased values of one candidate, and the values created for them.
pub(crate) struct Substitutes {
    prefer: Prefer,
    /// Referenced symbols: the parameters of a called function cannot change.
    used: FxHashSet<Str>,
    made: FxHashMap<(Block, Type, Prefer), Value>,
    /// Functions with new parameters.
    changed: Vec<Op>,
}

/// Number of ops before a use that are searched for a value.
const NEAR: usize = 32;

impl Substitutes {
    pub(crate) fn new(m: &Module, prefer: Prefer) -> Substitutes {
        Substitutes { prefer, used: used_symbols(m), made: FxHashMap::default(), changed: Vec::new() }
    }

    /// Returns a value of the type of `value` (a result of `op` or an argument in its regions) that is available at
    /// `op`.
    pub(crate) fn find(&mut self, m: &mut Module, value: Value, op: Op) -> Option<Value> {
        let ty = m.value_type(value);
        let other = |v: &Value| *v != value;
        match self.prefer {
            Prefer::Existing => initial(m, value, op)
                .or_else(|| operand(m, op, ty))
                .or_else(|| argument(m, op, ty))
                .or_else(|| earlier(m, op, ty))
                .filter(other)
                .or_else(|| self.parameter(m, op, ty))
                .or_else(|| self.number(m, op, ty, 0)),
            Prefer::Argument => self.parameter(m, op, ty).or_else(|| argument(m, op, ty).filter(other)),
            Prefer::Number(n) => self.number(m, op, ty, n),
        }
    }

    /// Returns a value of the same type other than `value` that is available at `op`.
    pub(crate) fn other(&mut self, m: &mut Module, value: Value, op: Op) -> Option<Value> {
        let ty = m.value_type(value);
        let known = || argument_but(m, op, ty, Some(value)).or_else(|| earlier(m, op, ty)).filter(|v| *v != value);
        match self.prefer {
            Prefer::Number(n) => self.number(m, op, ty, n),
            Prefer::Existing | Prefer::Argument => known().or_else(|| self.number(m, op, ty, 0)),
        }
    }

    /// Returns a new argument of the function around `op`, shared by all replacements of one type.
    fn parameter(&mut self, m: &mut Module, op: Op, ty: Type) -> Option<Value> {
        let (holder, entry) = self.holder(m, op)?;
        if let Some(&made) = self.made.get(&(entry, ty, Prefer::Argument)) {
            return Some(made);
        }
        let new = m.add_block_arg(entry, ty, m.loc(holder));
        self.made.insert((entry, ty, Prefer::Argument), new);
        if !self.changed.contains(&holder) {
            self.changed.push(holder);
        }
        Some(new)
    }

    /// Returns the innermost op around `op` that can get arguments: a function without callers, or an unregistered op.
    fn holder(&self, m: &Module, op: Op) -> Option<(Op, Block)> {
        let mut block = m.parent_block(op)?;
        loop {
            let region = m.parent_region(block)?;
            let around = m.region_op(region)?;
            let outer = m.parent_block(around)?;
            let unused = |op: Op| symbol_name(m, op).is_none_or(|name| !self.used.contains(&name));
            let may = match m.info(around) {
                Some(info) if info.traits.has(Traits::FUNCTION) => unused(around),
                Some(info) if info.traits.has(Traits::ISOLATED) => return None,
                Some(_) => false,
                None => true,
            };
            if may {
                return Some((around, m.entry(region)?));
            }
            if m.has_trait(around, Traits::FUNCTION) {
                return None;
            }
            block = outer;
        }
    }

    /// Returns a constant at the start of the region that holds constants, shared by all replacements of one type.
    fn number(&mut self, m: &mut Module, op: Op, ty: Type, number: u8) -> Option<Value> {
        let region = gradus_ir::rewrite::constant_region(m, m.parent_block(op)?)?;
        let entry = m.entry(region)?;
        let key = (entry, ty, Prefer::Number(number));
        if let Some(&made) = self.made.get(&key) {
            return Some(made);
        }
        let attr = m.ctx.uniform_attr(ty, f64::from(number))?;
        let ctx = m.ctx.clone();
        let known = m.block_ops(entry).take_while(|&c| m.has_trait(c, Traits::CONSTANT_LIKE)).find(|&c| {
            c != op && m.results(c).next().is_some_and(|v| m.value_type(v) == ty && m.constant(v) == Some(attr))
        });
        let value = match known {
            Some(known) => m.result(known, 0),
            None => {
                let (dialect, loc) = (ctx.op_dialect(m.name(op)), m.loc(op));
                Builder::at_start(m, entry).constant(attr, ty, dialect, loc)?
            }
        };
        self.made.insert(key, value);
        Some(value)
    }

    /// Updates function types for new parameters and erases unused ones.
    pub(crate) fn finish(self, m: &mut Module) {
        for function in self.changed {
            let Some(entry) = m.regions(function).first().and_then(|&r| m.entry(r)) else { continue };
            let made: FxHashSet<Value> = self.made.values().copied().collect();
            let vain: Vec<bool> = m.block_args(entry).iter().map(|v| made.contains(v) && m.is_unused(*v)).collect();
            m.retain_block_args(entry, |i| !vain[i]);
            let types: Vec<Type> = m.block_args(entry).iter().map(|&v| m.value_type(v)).collect();
            set_function_inputs(m, function, &types);
        }
        // Sorted, so that the order depends only on the program.
        let mut constants: Vec<Value> = self.made.into_values().collect();
        constants.sort_unstable_by_key(|v| v.index());
        for value in constants {
            if let Def::Result(op, _) = m.def(value)
                && m.is_unused(value)
                && m.parent_block(op).is_some()
                && m.has_trait(op, Traits::CONSTANT_LIKE)
            {
                m.erase_op(op);
            }
        }
    }
}

/// Sets the inputs of a function's type. Additional inputs get empty attributes.
pub(crate) fn set_function_inputs(m: &mut Module, function: Op, inputs: &[Type]) {
    let Some(ty) = m.inherent_attr(function, "function_type").and_then(|a| m.ctx.as_type(a)) else { return };
    let Some((_, results)) = m.ctx.function_parts(ty) else { return };
    let new = m.ctx.type_attr(m.ctx.function_type(inputs, results));
    m.set_attr(function, "function_type", Some(new));
    let key = "arg_attrs";
    if let Some(list) = m.inherent_attr(function, key).and_then(|a| m.ctx.as_array(a)) {
        let mut list = list.to_vec();
        list.resize(inputs.len(), gradus_ir::Attr::EMPTY_DICT);
        let new = m.ctx.array_attr(&list);
        m.set_attr(function, key, Some(new));
    }
}

/// Returns the names of all referenced symbols.
pub(crate) fn used_symbols(m: &Module) -> FxHashSet<Str> {
    let mut refs = SymbolRefs::default();
    let mut used = FxHashSet::default();
    for op in m.ops_under(m.root()) {
        for attr in refs.of_op(m, op) {
            if let Some((root, nested)) = m.ctx.as_symbol(attr) {
                used.insert(root);
                used.extend(nested.iter().copied());
            }
        }
    }
    used
}

/// Returns the result of an op with regions if none of its regions runs.
fn initial(m: &Module, value: Value, op: Op) -> Option<Value> {
    let edges = m.info(op)?.edges?;
    let edge = edges(m, op).into_iter().find(|e| e.from == Point::Op && e.to == Point::Op)?;
    let at = edge.receivers(m, op).iter().position(|&v| v == value)?;
    edge.carried(m, op).get(at).copied().filter(|&v| m.value_type(v) == m.value_type(value))
}

fn operand(m: &Module, op: Op, ty: Type) -> Option<Value> {
    let own = |v: Value| m.defining_op(v) == Some(op);
    m.operands(op).iter().copied().find(|&v| m.value_type(v) == ty && !own(v))
}

/// Returns an argument of a block around `op`, or of the entry block of its region.
fn argument(m: &Module, op: Op, ty: Type) -> Option<Value> {
    argument_but(m, op, ty, None)
}

fn argument_but(m: &Module, op: Op, ty: Type, but: Option<Value>) -> Option<Value> {
    let mut block = m.parent_block(op)?;
    loop {
        let region = m.parent_region(block)?;
        let args = |b: Block| m.block_args(b).iter().copied().find(|&v| m.value_type(v) == ty && Some(v) != but);
        if let Some(found) = m.entry(region).and_then(args).or_else(|| args(block)) {
            return Some(found);
        }
        let around = m.region_op(region)?;
        if m.info(around).is_some_and(|info| info.traits.has(Traits::ISOLATED)) {
            return None;
        }
        block = m.parent_block(around)?;
    }
}

/// Returns a result of an op before `op`, in its block or in an enclosing block.
fn earlier(m: &Module, op: Op, ty: Type) -> Option<Value> {
    let mut at = op;
    loop {
        let before = std::iter::successors(m.prev_op(at), |&p| m.prev_op(p)).take(NEAR);
        if let Some(found) = before.flat_map(|p| m.results(p)).find(|&v| m.value_type(v) == ty) {
            return Some(found);
        }
        let around = m.parent_op(at)?;
        if m.info(around).is_some_and(|info| info.traits.has(Traits::ISOLATED)) {
            return None;
        }
        at = around;
    }
}

/// Erases ops, users before definitions, and replaces results that are still used. Ops whose results cannot be replaced
/// stay.
pub(crate) fn erase(m: &mut Module, ops: &[Op], substitutes: &mut Substitutes) {
    let mut listed: SideTable<Op, bool> = SideTable::new(false);
    ops.iter().for_each(|&op| listed[op] = true);
    let inside = |m: &Module, op: Op| std::iter::successors(m.parent_op(op), |&p| m.parent_op(p)).any(|p| listed[p]);
    let outermost: Vec<Op> = ops.iter().copied().filter(|&op| !inside(m, op)).collect();
    for op in outermost {
        erase_one(m, op, substitutes);
    }
}

/// Erases one op; see [`erase`].
pub(crate) fn erase_one(m: &mut Module, op: Op, substitutes: &mut Substitutes) -> bool {
    let mut found = Vec::new();
    for result in m.results(op) {
        if m.is_unused(result) {
            continue;
        }
        match substitutes.find(m, result, op) {
            Some(value) if m.defining_op(value) != Some(op) => found.push((result, value)),
            _ => return false,
        }
    }
    for (result, value) in found {
        m.replace_all_uses(result, value);
    }
    // An op in a graph region may use its own result.
    if m.results(op).any(|v| !m.is_unused(v)) {
        return false;
    }
    m.erase_op(op);
    true
}
