//! Canonicalization of `scf.for`.

use crate::arith::AddIOp;
use crate::scf::ForOp;
use gradus_ir::rewrite::forwarding;
use gradus_ir::{Module, Op, OpDecl, Pattern, PatternRewriter, Rewriter, Value};

pub const PATTERNS: &[Pattern] = &[
    forwarding::FORWARD,
    forwarding::MERGE,
    forwarding::DROP,
    Pattern { name: "inline-or-drop-trivial-loop", run: trivial },
];

/// Replaces a loop without iterations by its inits, a loop of one iteration by its body, and a loop that only yields
/// invariant values by these.
fn trivial(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let m = rw.module();
    let this = ForOp(op);
    let Some(trips) = trip_count(m, this) else { return false };
    let body = m.only_block(this.region(m));
    match trips {
        0 => {
            let inits = this.init_args(m);
            rw.replace(op, &inits);
        }
        1 => {
            let args: Vec<Value> = [this.lower_bound(m)].into_iter().chain(this.init_args(m)).collect();
            rw.replace_with_region(op, this.region(m), &args);
        }
        _ => {
            let Some(end) = m.last_op(body).filter(|&end| m.first_op(body) == Some(end)) else { return false };
            let yielded = m.operands(end).to_vec();
            if yielded.iter().any(|&v| m.def_block(v) == Some(body)) {
                return false;
            }
            rw.replace(op, &yielded);
        }
    }
    true
}

/// Returns the trip count if known: 0, 1, or 2 for at least two.
fn trip_count(m: &Module, op: ForOp) -> Option<u8> {
    let (lower, upper) = (op.lower_bound(m), op.upper_bound(m));
    if lower == upper {
        return Some(0);
    }
    let (count, step) = (op.count(m), m.constant_int(op.step(m)));
    // A zero step would be undefined behavior.
    if step == Some(0) {
        return Some(0);
    }
    let distance = match (m.constant_int(lower), m.constant_int(upper)) {
        (Some(lower), Some(upper)) => count.number(upper) - count.number(lower),
        _ => distance_by_sum(m, op, lower, upper)?,
    };
    if distance <= 0 {
        return Some(0);
    }
    let step = step.map(|step| count.number(step)).filter(|&step| step > 0)?;
    Some(if step >= distance { 1 } else { 2 })
}

/// Returns c if `upper` is `lower + c` without overflow.
fn distance_by_sum(m: &Module, op: ForOp, lower: Value, upper: Value) -> Option<i128> {
    let sum = AddIOp::defining(m, upper)?;
    let flags = sum.overflow_flags(m).map(|a| m.ctx.display_attr(a)).unwrap_or_default();
    let other = match (sum.lhs(m), sum.rhs(m)) {
        (a, b) if a == lower => b,
        (a, b) if b == lower => a,
        _ => return None,
    };
    let promise = if op.unsigned_cmp(m).is_some() { "nuw" } else { "nsw" };
    let constant = m.constant_int(other).filter(|_| flags.contains(promise))?;
    Some(op.count(m).number(constant))
}
