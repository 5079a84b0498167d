//! Canonicalization of `scf.parallel`.

use crate::scf::ParallelOp;
use crate::scf::iteration_space::trip_count;
use gradus_ir::{Module, Op, OpDecl, Pattern, PatternRewriter, Region, Rewriter, Value};
use rustc_hash::FxHashSet;

pub const PATTERNS: &[Pattern] = &[
    Pattern { name: "drop-trivial-dimensions", run: drop_trivial },
    Pattern { name: "merge-nested", run: merge_nested },
];

/// Returns the trip counts of the dimensions.
fn trips(m: &Module, op: ParallelOp) -> Vec<Option<u8>> {
    let (lower, upper, step) = (op.lower_bound(m), op.upper_bound(m), op.step(m));
    let known = |v: Value| m.constant_int(v);
    (0..step.len()).map(|i| trip_count(known(lower[i]), known(upper[i]), known(step[i]))).collect()
}

/// Whether a step is constant and not positive: undefined behavior, which the verifier rejects.
pub(super) fn has_undefined_step(m: &Module, op: ParallelOp) -> bool {
    op.step(m).iter().any(|&step| m.constant_int(step).is_some_and(|step| step <= 0))
}

/// Replaces each `scf.parallel` under `root` that has a constant non-positive step by its inits. Passes that replace values
/// by constants call it at their end: such a loop is undefined behavior, but the verifier rejects it. Returns the number of
/// replaced loops.
pub fn drop_undefined_parallel(m: &mut Module, root: Op) -> u64 {
    let is_parallel = |&op: &Op| ParallelOp::cast(m, op).is_some();
    // The last is the next, so that nested loops come before those around them.
    let mut stack: Vec<Op> = m.ops_under(root).into_iter().skip(1).filter(is_parallel).collect();
    let (mut kept, mut dropped) = (FxHashSet::default(), 0);
    while let Some(op) = stack.pop() {
        let results: Vec<Value> = m.results(op).collect();
        let inits = ParallelOp(op).init_vals(m).to_vec();
        // In a graph region, a loop may begin with its own result.
        if !has_undefined_step(m, ParallelOp(op)) || results.iter().any(|result| inits.contains(result)) {
            kept.insert(op);
            continue;
        }
        for (&result, &init) in results.iter().zip(&inits) {
            // The step of a loop may be constant now.
            let others = m.uses(result).map(|(user, _)| user).filter(|&user| !m.is_inside(user, op));
            stack.extend(others.filter(|user| kept.remove(user)));
            m.replace_all_uses(result, init);
        }
        m.erase_op(op);
        dropped += 1;
    }
    dropped
}

/// Replaces a loop without iterations by its inits, and dimensions of one iteration by their lower bounds. A constant
/// non-positive step is undefined behavior and rejected by the verifier.
fn drop_trivial(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let m = rw.module();
    let this = ParallelOp(op);
    let trips = trips(m, this);
    if has_undefined_step(m, this) || trips.contains(&Some(0)) {
        let inits = this.init_vals(m);
        rw.replace(op, &inits);
        return true;
    }
    let once: Vec<usize> = (0..trips.len()).filter(|&i| trips[i] == Some(1)).collect();
    if once.is_empty() {
        return false;
    }
    let (body, lower) = (this.body(m), this.lower_bound(m));
    if once.len() == trips.len() {
        inline(rw, this, &lower);
        return true;
    }
    let ivs = m.block_args(body).to_vec();
    for &i in &once {
        rw.replace_value(ivs[i], &[lower[i]]);
    }
    rw.shrink_block_args(body, |i| !once.contains(&i));
    let rank = trips.len();
    rw.shrink(op, |i| i >= 3 * rank || !once.contains(&(i % rank)), |_| true);
    true
}

/// Inlines a loop of one iteration and its reductions.
fn inline(rw: &mut Rewriter<'_>, op: ParallelOp, ivs: &[Value]) {
    let m = rw.module();
    let (reduce, inits, body) = (op.reduce(m), op.init_vals(m), op.body(m));
    let regions: Vec<Region> = m.regions(reduce.0).to_vec();
    rw.inline_block_before(body, op.0, ivs);
    let values = reduce.operands(rw.module());
    let mut results = Vec::new();
    for (i, region) in regions.into_iter().enumerate() {
        let block = rw.module().only_block(region);
        let end = rw.module().last_op(block).expect("the reduction has a terminator");
        rw.inline_block_before(block, op.0, &[inits[i], values[i]]);
        results.push(rw.module().operands(end)[0]);
        rw.erase(end);
    }
    rw.replace(op.0, &results);
    rw.erase(reduce.0);
}

/// Merges perfectly nested loops with invariant bounds. The steps of the inner loop are known to be valid: those of a loop that never
/// runs may not be.
fn merge_nested(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let m = rw.module();
    let outer = ParallelOp(op);
    let body = outer.body(m);
    let Some(inner) = m.first_op(body).and_then(|first| ParallelOp::cast(m, first)) else { return false };
    let alone = m.next_op(inner.0) == m.last_op(body);
    let reduces = !outer.init_vals(m).is_empty() || !inner.init_vals(m).is_empty();
    if !alone || reduces || m.operands(inner.0).iter().any(|&v| m.def_block(v) == Some(body)) {
        return false;
    }
    let outer_steps = outer.step(m);
    if inner.step(m).iter().any(|&step| m.constant_int(step).is_none() && !outer_steps.contains(&step)) {
        return false;
    }
    let groups = |op: ParallelOp| [op.lower_bound(m), op.upper_bound(m), op.step(m)];
    let operands: Vec<Value> = groups(outer)
        .into_iter()
        .zip(groups(inner))
        .flat_map(|(outer, inner)| outer.into_iter().chain(inner))
        .collect();
    let rank = (operands.len() / 3) as i32;
    let sizes = m.ctx.i32_array_attr(&[rank, rank, rank, 0]);
    let (region, ivs) = (inner.region(m), m.block_args(inner.body(m)).to_vec());
    let args: Vec<Value> = ivs.into_iter().map(|iv| rw.add_block_arg(body, iv)).collect();
    rw.replace_with_region(inner.0, region, &args);
    rw.modify(op, |m| {
        m.set_operands(op, &operands);
        m.set_attr(op, "operandSegmentSizes", Some(sizes));
    });
    true
}
