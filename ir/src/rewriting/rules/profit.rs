//! Profitability of a rule: the ops that it creates cost less than the ops that become dead.

use crate::effects::is_speculatable;
use crate::module::{Module, Op, Value};
use rustc_hash::FxHashSet;
use std::fmt;
use std::sync::Arc;

/// A function that computes the cost of an op.
#[derive(Clone)]
pub struct CostFn(Arc<OpPrice>);

type OpPrice = dyn Fn(&Module, Op) -> u64 + Send + Sync;

impl CostFn {
    /// Wraps a function.
    pub fn new(cost: impl Fn(&Module, Op) -> u64 + Send + Sync + 'static) -> CostFn {
        CostFn(Arc::new(cost))
    }

    /// Returns the cost of an op.
    #[inline]
    pub fn of(&self, m: &Module, op: Op) -> u64 {
        (self.0)(m, op)
    }
}

impl fmt::Debug for CostFn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CostFn")
    }
}

/// Whether `values`, computed by the new ops `made`, cost less than the ops that die when they replace the roots.
pub(super) fn is_profitable(m: &Module, cost_fn: &CostFn, made: &[Op], replaced: &[Op], values: &[Value]) -> bool {
    let one = |op| if is_constant_foldable(m, op) { 0 } else { cost_fn.of(m, op) };
    let cost = |ops: FxHashSet<Op>| ops.into_iter().map(one).fold(0, u64::saturating_add);
    cost(live_new_ops(m, made, values)) < cost(dead_ops(m, replaced, values))
}

/// Whether all operands are constant, so that the op is evaluated at compile time.
fn is_constant_foldable(m: &Module, op: Op) -> bool {
    m.operands(op).iter().all(|&v| m.constant(v).is_some())
}

/// Returns the new ops on which the values depend; the others were folded.
fn live_new_ops(m: &Module, made: &[Op], values: &[Value]) -> FxHashSet<Op> {
    let mut found = FxHashSet::default();
    let mut rest: Vec<Value> = values.to_vec();
    while let Some(value) = rest.pop() {
        if let Some(op) = m.defining_op(value).filter(|op| made.contains(op))
            && found.insert(op)
        {
            rest.extend(m.operands(op));
        }
    }
    found
}

/// Returns the replaced ops and the ops that become dead with them.
fn dead_ops(m: &Module, replaced: &[Op], values: &[Value]) -> FxHashSet<Op> {
    let kept: FxHashSet<Op> = values.iter().filter_map(|&v| m.defining_op(v)).collect();
    let mut gone: FxHashSet<Op> = replaced.iter().copied().collect();
    let mut rest: Vec<Op> = replaced.to_vec();
    while let Some(op) = rest.pop() {
        for source in m.operands(op).iter().filter_map(|&v| m.defining_op(v)) {
            let unused = || m.results(source).all(|v| m.uses(v).all(|(user, _)| gone.contains(&user)));
            if !kept.contains(&source) && is_speculatable(m, source) && unused() && gone.insert(source) {
                rest.push(source);
            }
        }
    }
    gone
}
