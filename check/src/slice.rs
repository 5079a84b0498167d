//! Slices: the op of a rewrite in a function of its own.

use gradus_ir::symbols::SymbolRefs;
use gradus_ir::{Module, Op, OpState, Str, Traits, Type, Value, ValueMap, symbol_name};
use rustc_hash::{FxHashMap, FxHashSet};

/// Extracts an op with the definitions of its operands up to a depth: a function that takes the remaining operands and
/// returns the op's results, with the symbols that it needs. `None` if the op is a terminator or outside a function.
pub(crate) fn slice(m: &Module, op: Op, depth: usize) -> Option<Module> {
    let function =
        std::iter::successors(m.parent_op(op), |&p| m.parent_op(p)).find(|&p| m.has_trait(p, Traits::FUNCTION))?;
    let stays = m.has_trait(op, Traits::TERMINATOR) || symbol_name(m, op).is_some();
    if stays || m.parent_block(function) != Some(m.body()) {
        return None;
    }
    let end = m
        .region_blocks(m.regions(function)[0])
        .filter_map(|b| m.last_op(b))
        .find(|&end| m.has_trait(end, Traits::TERMINATOR.and(Traits::RETURN_LIKE)) && m.successors(end).is_empty())?;
    let ops = definitions(m, op, depth);
    let mut new = m.clone();
    let made = build(&mut new, function, end, &ops);
    keep_reachable(&mut new, made)?;
    Some(gradus_reduce::compact(&new))
}

/// Returns the op and the definitions of its operands, definitions first.
fn definitions(m: &Module, op: Op, depth: usize) -> Vec<Op> {
    let (mut found, mut done) = (Vec::new(), FxHashSet::default());
    // An op with its remaining depth; `None` marks the visit after its operands.
    let mut stack = vec![(op, Some(depth))];
    while let Some((op, depth)) = stack.pop() {
        let Some(depth) = depth else {
            found.push(op);
            continue;
        };
        if !done.insert(op) {
            continue;
        }
        stack.push((op, None));
        if depth > 0 {
            let defining = from_outside(m, op).into_iter().filter_map(|v| m.defining_op(v));
            stack.extend(defining.map(|def| (def, Some(depth - 1))));
        }
    }
    found
}

/// Returns the values that an op and its regions use from outside.
fn from_outside(m: &Module, op: Op) -> Vec<Value> {
    let outside = |value: &Value| {
        let mut around = m.def_block(*value).and_then(|b| m.block_op(b));
        while let Some(at) = around {
            if at == op {
                return false;
            }
            around = m.parent_op(at);
        }
        true
    };
    m.ops_under(op).into_iter().flat_map(|inner| m.operands(inner).to_vec()).filter(outside).collect()
}

/// Builds a function like `function` from ops, with a terminator like `end`.
fn build(m: &mut Module, function: Op, end: Op, ops: &[Op]) -> Op {
    let mut state = OpState::like(m, function);
    state.attrs.clear();
    state.regions = 1;
    let new = m.create_op(state);
    m.insert_op(m.body(), new, Some(function));
    let body = m.add_block(m.regions(new)[0]);
    let mut map = ValueMap::default();
    for &op in ops {
        for value in from_outside(m, op) {
            let (ty, loc) = (m.value_type(value), m.value_loc(value));
            map.entry(value).or_insert_with(|| m.add_block_arg(body, ty, loc));
        }
        let copy = m.clone_op(op, &mut map);
        m.append_op(body, copy);
    }
    let results: Vec<Value> = ops.last().map_or(Vec::new(), |&op| m.results(op).map(|v| map[&v]).collect());
    let mut state = OpState::like(m, end);
    state.operands = results.iter().copied().collect();
    let end = m.create_op(state);
    m.append_op(body, end);
    let types = |m: &Module, values: &[Value]| values.iter().map(|&v| m.value_type(v)).collect::<Vec<Type>>();
    let ty = m.ctx.function_type(&types(m, m.block_args(body)), &types(m, &results));
    let ty = m.ctx.type_attr(ty);
    m.set_attr(new, "function_type", Some(ty));
    for gone in ["arg_attrs", "res_attrs", "sym_visibility"] {
        m.set_attr(new, gone, None);
    }
    new
}

/// Erases everything that a function does not need. `None` if it needs another symbol of its own name.
fn keep_reachable(m: &mut Module, function: Op) -> Option<()> {
    let top: Vec<Op> = m.block_ops(m.body()).filter(|&op| op != function).collect();
    let names: FxHashMap<Str, Op> = top.iter().filter_map(|&op| Some((symbol_name(m, op)?, op))).collect();
    let own = symbol_name(m, function);
    let mut refs = SymbolRefs::default();
    let (mut kept, mut stack) = (FxHashSet::default(), vec![function]);
    while let Some(op) = stack.pop() {
        for inner in m.ops_under(op) {
            for attr in refs.of_op(m, inner) {
                let Some((name, _)) = m.ctx.as_symbol(attr) else { continue };
                if Some(name) == own {
                    return None;
                }
                stack.extend(names.get(&name).copied().filter(|&op| kept.insert(op)));
            }
        }
    }
    let gone: Vec<Op> = top.into_iter().rev().filter(|op| !kept.contains(op)).collect();
    for op in gone {
        if m.results(op).any(|v| !m.is_unused(v)) {
            return None;
        }
        m.erase_op(op);
    }
    Some(())
}
