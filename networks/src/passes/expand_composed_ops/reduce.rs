//! Reductions.

use super::ComposedOp;
use crate::graph::{ReduceMaxOp, ReduceSumOp};
use gradus_ir::{OpDecl, Refusal, Value};
use gradus_reference_kernels::shape::reduction_axes;

/// Emits `max + log(sum(exp(x - max)))`, where a maximum that is infinite counts as 0: then the sum is infinite or 0.
pub(super) fn log_sum_exp(c: &mut ComposedOp<'_, '_>) -> Result<Vec<Value>, Refusal> {
    let x = c.operand("x")?;
    let rank = c.shape(x)?.len();
    let list = match c.optional("axes") {
        Some(axes) => c.known(axes)?.to_i64().unwrap_or_default(),
        None => Vec::new(),
    };
    let axes = reduction_axes(&list, rank, c.flag("noop_with_empty_axes"));
    let axes = axes.map_err(|_| "axes that the operand does not have")?;
    let [x] = c.widened([x])?;
    if axes.is_empty() {
        return Ok(vec![x]);
    }
    let max = c.e.reduce(ReduceMaxOp::INFO, x, &axes);
    let [zero, infinity] = [0.0, f64::INFINITY].map(|number| c.e.number(number));
    let size = c.e.abs(max);
    let is_infinite = c.e.equal(size, infinity);
    let shift = c.e.select(is_infinite, zero, max);
    let difference = c.e.sub(x, shift);
    let terms = c.e.exp(difference);
    let sum = c.e.reduce(ReduceSumOp::INFO, terms, &axes);
    let log = c.e.log(sum);
    let y = c.e.add(log, shift);
    if c.flag("keepdims") {
        return Ok(vec![y]);
    }
    let axes: Vec<i64> = axes.iter().map(|&axis| axis as i64).collect();
    Ok(vec![c.e.squeeze(y, &axes)])
}
