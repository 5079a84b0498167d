//! Losses.

use super::ComposedOp;
use crate::graph::{LogSoftmaxOp, NegativeLogLikelihoodLossOp};
use gradus_ir::{OpDecl, Refusal, Type, Value};

/// Emits the negative log-likelihood loss of the logarithms of the softmax, and these.
pub(super) fn softmax_cross_entropy(c: &mut ComposedOp<'_, '_>) -> Result<Vec<Value>, Refusal> {
    let (x, target, weight) = (c.operand("x")?, c.operand("target")?, c.optional("weight"));
    let axis = c.e.module().ctx.int_attr(Type::I64, 1);
    let logs = c.e.op(LogSoftmaxOp::INFO, x, &[], &[("axis", Some(axis))]);
    let attrs = ["ignore_index", "reduction"].map(|name| (name, c.attr(name)));
    let loss = c.e.op(NegativeLogLikelihoodLossOp::INFO, logs, &[Some(target), weight], &attrs);
    Ok(vec![loss, logs])
}
