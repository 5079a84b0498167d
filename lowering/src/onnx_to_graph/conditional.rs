//! `If`: the branch that runs, if that is known, or `scf.if`.

use super::graphs::{body, general_type};
use super::{Importer, Stop};
use crate::onnx::inline::VersionedNode;
use gradus_dialects::scf;
use gradus_ir::{Builder, Loc, Type, Value};
use gradus_networks::graph;

/// Imports an `If`. If its condition is known, its branch takes its place.
pub(super) fn choose<'a>(i: &mut Importer<'a>, node: &'a VersionedNode, loc: Loc) -> Result<(), Stop> {
    let condition = i.value(node.proto.input.first().map_or("", String::as_str))?;
    let branches = [body(node, "then_branch")?, body(node, "else_branch")?];
    if let Some(known) = graph::known_value(&i.module, condition).and_then(|t| t.to_i64()) {
        let taken = branches[usize::from(known.iter().all(|&bit| bit == 0))];
        let results = i.within(taken, i.scopes.last().block, &[])?;
        return i.bind_results(node, &results, loc);
    }
    let count = branches[0].graph.output.len();
    if branches[1].graph.output.len() != count {
        return Err("its branches have different numbers of outputs".into());
    }
    let flag = i.element_in(i.scopes.last().block, condition, loc);
    let made = scf::IfOp::build(&mut i.builder(), loc, flag, &vec![Type::NONE; count]);
    let regions = [made.then_region(&i.module), made.else_region(&i.module)];
    let blocks = regions.map(|region| i.module.add_block(region));
    let first = i.within(branches[0], blocks[0], &[])?;
    let second = i.within(branches[1], blocks[1], &[])?;
    let mut types = Vec::with_capacity(count);
    for (k, (&a, &b)) in first.iter().zip(&second).enumerate() {
        let [a, b] = [a, b].map(|v| i.module.value_type(v));
        let differ = || format!("its branches give values of different kinds for output {k}");
        types.push(general_type(&i.ctx, a, b).ok_or_else(differ)?);
    }
    for (block, values) in blocks.into_iter().zip([first, second]) {
        let values: Vec<Value> = values.iter().zip(&types).map(|(&v, &ty)| i.cast_in(block, v, ty, loc)).collect();
        scf::YieldOp::build(&mut Builder::at_end(&mut i.module, block), loc, &values, &[]);
    }
    let results: Vec<Value> = i.module.results(made.0).collect();
    results.iter().zip(&types).for_each(|(&result, &ty)| i.module.set_value_type(result, ty));
    i.bind_results(node, &results, loc)
}
