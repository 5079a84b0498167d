//! Reductions of block arguments, function parameters and results, and loop-carried values.

use crate::blocks::graph_blocks;
use crate::ops::returns;
use crate::reduction::{Reduction, Site};
use crate::substitute::{Prefer, Substitutes};
use gradus_ir::control::Point;
use gradus_ir::{Attr, Block, Module, Op, OpState, Str, Traits, Type, Value, symbol_name};
use rustc_hash::FxHashMap;

pub(crate) const REDUCTIONS: &[Reduction] = &[
    Reduction::new("drop carried values", carried_values, drop_carried),
    Reduction::new("drop block arguments", block_args, drop_block_args),
    Reduction::new("drop results of functions", function_results, drop_results),
    Reduction::new("drop parameters", parameters, drop_parameters),
];

/// The inputs or the results of a function type.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SignatureSide {
    Inputs,
    Results,
}

fn signature(m: &Module, function: Op) -> Option<(Vec<Type>, Vec<Type>)> {
    let ty = m.inherent_attr(function, "function_type").and_then(|a| m.ctx.as_type(a))?;
    let (inputs, results) = m.ctx.function_parts(ty)?;
    Some((inputs.to_vec(), results.to_vec()))
}

/// Removes one type and its attributes from a function's type. Returns `false` if there is none.
fn shrink_signature(m: &mut Module, function: Op, side: SignatureSide, i: usize) -> bool {
    let Some((mut inputs, mut results)) = signature(m, function) else { return false };
    let (list, key) =
        if side == SignatureSide::Inputs { (&mut inputs, "arg_attrs") } else { (&mut results, "res_attrs") };
    if i >= list.len() {
        return false;
    }
    list.remove(i);
    let new = m.ctx.type_attr(m.ctx.function_type(&inputs, &results));
    m.set_attr(function, "function_type", Some(new));
    if let Some(list) = m.inherent_attr(function, key).and_then(|a| m.ctx.as_array(a)) {
        let kept: Vec<Attr> = list.iter().enumerate().filter(|(k, _)| *k != i).map(|(_, &a)| a).collect();
        let new = m.ctx.array_attr(&kept);
        m.set_attr(function, key, Some(new));
    }
    true
}

/// Returns the calls of each symbol.
fn calls(m: &Module) -> FxHashMap<Str, Vec<Op>> {
    let mut found: FxHashMap<Str, Vec<Op>> = FxHashMap::default();
    for op in m.ops_under(m.root()) {
        let callee = if m.has_trait(op, Traits::CALL) { m.inherent_attr(op, "callee") } else { None };
        if let Some((root, _)) = callee.and_then(|attr| m.ctx.as_symbol(attr)) {
            found.entry(root).or_default().push(op);
        }
    }
    found
}

/// Returns a site per input or result of each op with a function type, last first.
fn signature_sites(m: &Module, side: SignatureSide) -> Vec<Site> {
    let mut found = Vec::new();
    for op in m.ops_under(m.root()).into_iter().rev().filter(|&op| m.has_trait(op, Traits::FUNCTION)) {
        let n = signature(m, op)
            .map_or(0, |(inputs, results)| if side == SignatureSide::Inputs { inputs } else { results }.len());
        found.extend((0..n).rev().map(|i| Site::Part(op, i)));
    }
    found
}

fn parameters(m: &Module) -> Vec<Site> {
    signature_sites(m, SignatureSide::Inputs)
}

fn drop_parameters(m: &mut Module, sites: &[Site]) {
    let calls = calls(m);
    let mut substitutes = Substitutes::new(m, Prefer::Existing);
    for site in sites {
        let &Site::Part(function, i) = site else { continue };
        let entry = m.regions(function).first().and_then(|&r| m.entry(r));
        if let Some(entry) = entry {
            let Some(&arg) = m.block_args(entry).get(i) else { continue };
            if !replace_arg(m, entry, arg, &mut substitutes) {
                continue;
            }
            m.erase_block_arg(entry, i);
        }
        if shrink_signature(m, function, SignatureSide::Inputs, i) {
            let callers = symbol_name(m, function).and_then(|name| calls.get(&name));
            callers.into_iter().flatten().for_each(|&call| m.retain_operands(call, |k| k != i));
        }
    }
    substitutes.finish(m);
}

/// Replaces a block argument by substitutes.
fn replace_arg(m: &mut Module, block: Block, arg: Value, substitutes: &mut Substitutes) -> bool {
    if m.is_unused(arg) {
        return true;
    }
    let Some(first) = m.first_op(block) else { return false };
    let Some(other) = substitutes.other(m, arg, first) else { return false };
    m.replace_all_uses(arg, other);
    true
}

fn function_results(m: &Module) -> Vec<Site> {
    signature_sites(m, SignatureSide::Results)
}

fn drop_results(m: &mut Module, sites: &[Site]) {
    let mut calls = calls(m);
    let mut substitutes = Substitutes::new(m, Prefer::Existing);
    for site in sites {
        let &Site::Part(function, i) = site else { continue };
        if !shrink_signature(m, function, SignatureSide::Results, i) {
            continue;
        }
        if let Some(&body) = m.regions(function).first() {
            let ends: Vec<Op> = m.region_blocks(body).filter_map(|b| returns(m, b)).collect();
            ends.into_iter().for_each(|end| m.retain_operands(end, |k| k != i));
        }
        let Some(callers) = symbol_name(m, function).and_then(|name| calls.get_mut(&name)) else { continue };
        for call in callers {
            if let Some(new) = without_result(m, *call, i, &mut substitutes) {
                *call = new;
            }
        }
    }
    substitutes.finish(m);
}

/// Returns a copy of the op with one result removed, or `None` if no value can replace that result.
fn without_result(m: &mut Module, op: Op, i: usize, substitutes: &mut Substitutes) -> Option<Op> {
    let block = m.parent_block(op)?;
    if i >= m.num_results(op) {
        return None;
    }
    let gone = m.result(op, i);
    if !m.is_unused(gone) {
        let value = substitutes.find(m, gone, op)?;
        m.replace_all_uses(gone, value);
    }
    let kept: Vec<Value> = m.results(op).filter(|&v| v != gone).collect();
    let mut state = OpState::like(m, op);
    state.operands = m.operands(op).into();
    state.result_types = kept.iter().map(|&v| m.value_type(v)).collect();
    state.successors = m.successors(op).into();
    let new = m.create_op(state);
    m.insert_op(block, new, Some(op));
    m.move_regions(op, new);
    for (k, value) in kept.into_iter().enumerate() {
        let result = m.result(new, k);
        m.replace_all_uses(value, result);
    }
    if m.is_unused(gone) {
        m.erase_op(op);
    }
    Some(new)
}

fn block_args(m: &Module) -> Vec<Site> {
    let blocks = graph_blocks(m).into_iter().rev();
    blocks.flat_map(|b| (0..m.block_args(b).len()).rev().map(move |i| Site::Arg(b, i)).collect::<Vec<_>>()).collect()
}

fn drop_block_args(m: &mut Module, sites: &[Site]) {
    let mut ways: FxHashMap<Block, Vec<(Op, usize)>> = FxHashMap::default();
    for op in graph_blocks(m).into_iter().filter_map(|b| m.last_op(b)) {
        for (i, &to) in m.successors(op).iter().enumerate() {
            ways.entry(to).or_default().push((op, i));
        }
    }
    let mut substitutes = Substitutes::new(m, Prefer::Existing);
    for site in sites {
        let &Site::Arg(block, i) = site else { continue };
        let is_entry = m.parent_region(block).is_none_or(|r| m.entry(r) == Some(block));
        let Some(&arg) = m.block_args(block).get(i) else { continue };
        if is_entry || !replace_arg(m, block, arg, &mut substitutes) {
            continue;
        }
        for &(branch, successor) in ways.get(&block).into_iter().flatten() {
            if let Some(of) = m.info(branch).and_then(|info| info.successor_operands) {
                let at = of(m, branch, successor).start + i;
                m.retain_operands(branch, |k| k != at);
            }
        }
        if m.is_unused(arg) {
            m.erase_block_arg(block, i);
        }
    }
    substitutes.finish(m);
}

/// Returns the results of ops that declare control flow between them and their regions.
fn carried_values(m: &Module) -> Vec<Site> {
    let has_edges = |op: &Op| m.info(*op).is_some_and(|info| info.edges.is_some());
    let ops = m.ops_under(m.root()).into_iter().rev().filter(has_edges);
    ops.flat_map(|op| (0..m.num_results(op)).rev().map(move |i| Site::Part(op, i))).collect()
}

fn drop_carried(m: &mut Module, sites: &[Site]) {
    let mut substitutes = Substitutes::new(m, Prefer::Existing);
    // Removing a result creates a new op, so later sites need the op's replacement.
    let mut now: FxHashMap<Op, Op> = FxHashMap::default();
    for site in sites {
        let &Site::Part(first, i) = site else { continue };
        let op = now.get(&first).copied().unwrap_or(first);
        if let Some(new) = drop_one_carried(m, op, i, &mut substitutes) {
            now.insert(first, new);
        }
    }
    substitutes.finish(m);
}

/// Removes the operands that become result `i` from all control-flow edges.
fn drop_one_carried(m: &mut Module, op: Op, i: usize, substitutes: &mut Substitutes) -> Option<Op> {
    let edges = m.info(op)?.edges?(m, op);
    if i >= m.num_results(op) {
        return None;
    }
    let mut dropped: Vec<(Op, usize)> = Vec::new();
    for edge in &edges {
        for source in edge.sources(m, op) {
            if edge.carried(m, source).len() > i && !dropped.contains(&(source, edge.first + i)) {
                dropped.push((source, edge.first + i));
            }
        }
        let Point::Region(region) = edge.to else { continue };
        let (Some(entry), at) = (m.regions(op).get(region).and_then(|&r| m.entry(r)), edge.target + i) else {
            continue;
        };
        // Several edges may enter a loop body, but its block argument is removed once.
        let repeated = edges.iter().take_while(|&e| e != edge).any(|e| e.to == edge.to);
        let Some(&arg) = m.block_args(entry).get(at).filter(|_| !repeated) else { continue };
        if !m.is_unused(arg) {
            let start = edge.carried(m, op).get(i).copied().filter(|_| edge.from == Point::Op);
            let value = match start {
                Some(value) => value,
                None => substitutes.find(m, arg, op)?,
            };
            m.replace_all_uses(arg, value);
        }
        m.erase_block_arg(entry, at);
    }
    let result = m.result(op, i);
    if !m.is_unused(result) {
        let value = substitutes.find(m, result, op)?;
        m.replace_all_uses(result, value);
    }
    for (source, at) in dropped {
        m.retain_operands(source, |k| k != at);
    }
    without_result(m, op, i, substitutes)
}
