//! Ops that commute with dequantization: they move elements, or select the largest.

use super::quantization::{Quantization, Quantized};
use crate::emit::Emitter;
use gradus_dialects::graph::{
    self, DequantizeLinearOp, ExpandOp, FlattenOp, GlobalMaxPoolOp, IdentityOp, MaxPoolOp, ReshapeOp, SliceOp,
    SqueezeOp, TransposeOp, UnsqueezeOp,
};
use gradus_ir::{Attr, Builder, Module, Op, OpDecl, OpInfo, Value};

/// The ops, each of which reads elements of its first operand only.
const MOVES: [&OpInfo; 10] = [
    ReshapeOp::INFO,
    FlattenOp::INFO,
    SqueezeOp::INFO,
    UnsqueezeOp::INFO,
    TransposeOp::INFO,
    SliceOp::INFO,
    ExpandOp::INFO,
    IdentityOp::INFO,
    MaxPoolOp::INFO,
    GlobalMaxPoolOp::INFO,
];

/// An op that is computed on integers and dequantized after it.
pub(super) struct Moved {
    x: Value,
    q: Quantization,
}

impl Moved {
    /// Returns the integers that an op reads, if it may be computed on them.
    pub(super) fn of(m: &Module, op: Op) -> Option<Moved> {
        if m.num_results(op) != 1 || !m.is_one_of(op, &MOVES) || has_empty_windows(m, op) {
            return None;
        }
        let Quantized { x, q } = Quantized::per_tensor(m, *m.operands(op).first()?)?;
        m.constant(x).is_none().then_some(Moved { x, q })
    }

    /// Creates the op and the dequantization before `op`, and replaces its result.
    pub(super) fn emit(self, m: &mut Module, op: Op) -> Option<Value> {
        let (result, entries) = (m.result(op, 0), m.ctx.dict_entries(m.props(op)).to_vec());
        let attrs: Vec<(String, Attr)> =
            entries.iter().map(|&(key, attr)| (m.ctx.text(key).to_owned(), attr)).collect();
        let attrs: Vec<(&str, Attr)> = attrs.iter().map(|(name, attr)| (name.as_str(), *attr)).collect();
        let (ty, name) = (m.value_type(result), m.name_text(op).to_owned());
        let operands: Vec<Value> = [self.x].into_iter().chain(m.operands(op)[1..].iter().copied()).collect();
        let mut b = Builder::before(m, op);
        let mut e = Emitter::on_graph(&mut b, op);
        let integers = e.m().ctx.with_element(ty, self.q.elem);
        let moved = e.typed(&name, &operands, &attrs, integers)?;
        let [scale, zero] = self.q.constants(&mut e)?;
        let value = e.typed(DequantizeLinearOp::INFO.name, &[moved, scale, zero], &[], ty)?;
        m.replace_all_uses(result, value);
        Some(value)
    }
}

/// Whether a pool may have windows in the padding, whose maximum is not that of integers.
fn has_empty_windows(m: &Module, op: Op) -> bool {
    if MaxPoolOp::cast(m, op).is_none() {
        return false;
    }
    let is_inside = |window: gradus_reference_kernels::shape::Window| {
        let pads = window.pads_begin.iter().zip(&window.pads_end);
        pads.zip(&window.kernel).all(|((&begin, &end), &kernel)| begin < kernel && end < kernel)
            && window.dilations.iter().all(|&d| d == 1)
    };
    !graph::pool_window(m, op).is_ok_and(is_inside)
}
