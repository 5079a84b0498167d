//! Canonicalization of `scf.forall`.

use crate::scf::ForallOp;
use crate::scf::forall::CONTROLS;
use crate::scf::iteration_space::trip_count;
use gradus_ir::{Attr, DYNAMIC, Module, Op, OpState, Pattern, PatternRewriter, Rewriter, Type, Value};

pub const PATTERNS: &[Pattern] = &[
    Pattern { name: "known-bounds", run: known_bounds },
    Pattern { name: "drop-shared-tensors", run: drop_outputs },
    Pattern { name: "drop-trivial-dimensions", run: drop_trivial },
    Pattern { name: "known-induction-variables", run: known_ivs },
];

/// A static or dynamic bound or step.
#[derive(Clone, Copy)]
enum Bound {
    Known(i64),
    Value(Value),
}

impl Bound {
    fn known(self) -> Option<i64> {
        match self {
            Bound::Known(n) => Some(n),
            Bound::Value(_) => None,
        }
    }
}

/// Returns lower bounds, upper bounds and steps; constant operands are static.
fn bounds(m: &Module, op: ForallOp) -> [Vec<Bound>; 3] {
    [0, 1, 2].map(|i| {
        let group = m.operand_group(op.0, i);
        let mut values = group.iter();
        let bound = |n: i64| match if n == DYNAMIC { values.next() } else { None } {
            Some(&value) => m.constant_int(value).map_or(Bound::Value(value), Bound::Known),
            None => Bound::Known(n),
        };
        op.statics(m, i).into_iter().map(bound).collect()
    })
}

/// Returns the trip counts of the dimensions; 0 for equal bounds.
fn trips(bounds: &[Vec<Bound>; 3]) -> Vec<Option<u8>> {
    let dim = |i: usize| match (bounds[0][i], bounds[1][i]) {
        (Bound::Value(a), Bound::Value(b)) if a == b => Some(0),
        (lower, upper) => trip_count(lower.known(), upper.known(), bounds[2][i].known()),
    };
    (0..bounds[0].len()).map(dim).collect()
}

/// Sets bounds and steps.
fn set_bounds(rw: &mut Rewriter<'_>, op: ForallOp, bounds: &[Vec<Bound>; 3]) {
    let m = rw.module();
    let ctx = m.ctx.clone();
    let mut operands: Vec<Value> = Vec::new();
    let mut sizes = Vec::new();
    for group in bounds {
        let start = operands.len();
        operands.extend(group.iter().filter_map(|b| if let Bound::Value(v) = b { Some(*v) } else { None }));
        sizes.push((operands.len() - start) as i32);
    }
    let outputs = op.outputs(m);
    sizes.push(outputs.len() as i32);
    operands.extend(outputs);
    rw.modify(op.0, |m| {
        m.set_operands(op.0, &operands);
        m.set_attr(op.0, "operandSegmentSizes", Some(ctx.i32_array_attr(&sizes)));
        for ((_, name, _), group) in CONTROLS.iter().zip(bounds) {
            let statics: Vec<i64> = group.iter().map(|b| b.known().unwrap_or(DYNAMIC)).collect();
            m.set_attr(op.0, name, Some(ctx.i64_array_attr(&statics)));
        }
    });
}

fn known_bounds(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let m = rw.module();
    let bounds = bounds(m, ForallOp(op));
    let dynamic = m.operands(op).len() - ForallOp(op).outputs(m).len();
    let unknown = bounds.iter().flatten().filter(|b| b.known().is_none()).count();
    if dynamic == unknown {
        return false;
    }
    set_bounds(rw, ForallOp(op), &bounds);
    true
}

/// Removes shared tensors without insertions, and unused ones with their insertions.
fn drop_outputs(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let m = rw.module();
    let this = ForallOp(op);
    let (body, rank, outputs) = (this.body(m), this.rank(m), this.outputs(m));
    let Some(combining) = this.combining(m) else { return false };
    let args = m.block_args(body)[rank..].to_vec();
    let mut parts: Vec<Vec<Op>> = vec![Vec::new(); outputs.len()];
    combining.into_iter().for_each(|(part, output)| parts[output].push(part));
    let results: Vec<Value> = m.results(op).collect();
    let only_filled = |i: usize| m.uses(args[i]).count() == parts[i].len();
    let dropped: Vec<usize> =
        (0..outputs.len()).filter(|&i| parts[i].is_empty() || m.is_unused(results[i]) && only_filled(i)).collect();
    if dropped.is_empty() {
        return false;
    }
    for &i in &dropped {
        parts[i].iter().for_each(|&part| rw.erase(part));
        rw.replace_value(args[i], &[outputs[i]]);
        rw.replace_value(results[i], &[outputs[i]]);
    }
    rw.shrink_block_args(body, |i| i < rank || !dropped.contains(&(i - rank)));
    let first = rw.module().operands(op).len() - outputs.len();
    rw.shrink(op, |i| i < first || !dropped.contains(&(i - first)), |i| !dropped.contains(&i));
    true
}

/// Returns a bound as a value before the op.
fn value_of(rw: &mut Rewriter<'_>, op: Op, bound: Bound) -> Option<Value> {
    match bound {
        Bound::Value(value) => Some(value),
        Bound::Known(n) => {
            let attr = rw.module().ctx.int_attr(Type::INDEX, n);
            rw.constant(op, attr, Type::INDEX)
        }
    }
}

/// Replaces a loop without iterations by its inits, and unmapped dimensions of one iteration by their lower bounds.
fn drop_trivial(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let m = rw.module();
    let this = ForallOp(op);
    let mut bounds = bounds(m, this);
    let trips = trips(&bounds);
    if trips.contains(&Some(0)) {
        let outputs = this.outputs(m);
        rw.replace(op, &outputs);
        return true;
    }
    let once: Vec<usize> = (0..trips.len()).filter(|&i| trips[i] == Some(1)).collect();
    let mapped = this.mapping(m).is_some_and(|a| a != Attr::EMPTY_ARRAY);
    if once.is_empty() || mapped {
        return false;
    }
    let ivs = m.block_args(this.body(m))[..trips.len()].to_vec();
    let values: Option<Vec<Value>> = once.iter().map(|&i| value_of(rw, op, bounds[0][i])).collect();
    let Some(values) = values else { return false };
    if once.len() == trips.len() {
        return inline(rw, this, &values);
    }
    for (&i, &value) in once.iter().zip(&values) {
        rw.replace_value(ivs[i], &[value]);
    }
    let body = this.body(rw.module());
    rw.shrink_block_args(body, |i| !once.contains(&i));
    for group in &mut bounds {
        let mut dim = 0..;
        group.retain(|_| !once.contains(&dim.next().expect("there are numbers enough")));
    }
    set_bounds(rw, this, &bounds);
    true
}

/// Insertion ops of shared tensors, and their sequential counterparts.
const IN_ORDER: &[(&str, &str)] = &[("tensor.parallel_insert_slice", "tensor.insert_slice")];

/// Inlines a loop of one iteration, with sequential insertions.
fn inline(rw: &mut Rewriter<'_>, op: ForallOp, ivs: &[Value]) -> bool {
    let m = rw.module();
    let Some(parts) = op.combining(m) else { return false };
    let in_order = |part: Op| IN_ORDER.iter().find(|(name, _)| *name == m.name_text(part)).map(|(_, op)| *op);
    let Some(names) = parts.iter().map(|&(part, _)| in_order(part)).collect::<Option<Vec<_>>>() else { return false };
    let end = m.last_op(op.body(m)).expect("the body has a terminator");
    let mut shared = op.outputs(m);
    let args: Vec<Value> = ivs.iter().chain(&shared).copied().collect();
    rw.inline_block_before(op.body(rw.module()), op.0, &args);
    for ((part, output), name) in parts.into_iter().zip(names) {
        let m = rw.module();
        let dest = m.args(part).map_or(0..0, |args| args.operand_range("dest")).start;
        let mut state = OpState::like(m, part);
        state.name = m.ctx.op_name(name);
        state.operands = m.operands(part).into();
        state.operands[dest] = shared[output];
        state.result_types.push(m.value_type(shared[output]));
        let new = rw.create_before(op.0, state).expect("the result type is given");
        shared[output] = rw.module().result(new, 0);
    }
    rw.replace(op.0, &shared);
    rw.erase(end);
    true
}

/// Replaces the induction variable of a mapped dimension of one iteration by its lower bound.
fn known_ivs(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let m = rw.module();
    let this = ForallOp(op);
    let bounds = bounds(m, this);
    let ivs = m.block_args(this.body(m)).to_vec();
    let known = trips(&bounds).into_iter().enumerate().filter(|&(i, trips)| trips == Some(1) && !m.is_unused(ivs[i]));
    let mut changed = false;
    for i in known.map(|(i, _)| i).collect::<Vec<_>>() {
        let Some(value) = value_of(rw, op, bounds[0][i]) else { continue };
        rw.replace_value(ivs[i], &[value]);
        changed = true;
    }
    changed
}
