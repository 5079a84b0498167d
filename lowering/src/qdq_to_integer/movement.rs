//! Ops that commute with dequantization: they move elements, or select the largest or the nearest.

use super::quantization::{Quantization, Quantized};
use crate::emit::Emitter;
use crate::operands::{constant, constant_padding, nearest_sources};
use gradus_ir::{Builder, DType, Module, Op, OpDecl, OpInfo, OpState, Tensor, Value};
use gradus_networks::graph::{
    self, DequantizeLinearOp, ExpandOp, FlattenOp, GlobalMaxPoolOp, IdentityOp, MaxPoolOp, PadOp, ReshapeOp, ResizeOp,
    SliceOp, SplitOp, SqueezeOp, TransposeOp, UnsqueezeOp,
};

/// The ops with one result, each of which reads elements of its first operand only.
const MOVES: [&OpInfo; 11] = [
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
    ResizeOp::INFO,
];

/// Whether an op of one result moves elements of its first operand, or selects the largest, so that it commutes with quantization.
pub(crate) fn commutes(m: &Module, op: Op) -> bool {
    let is_computed = || ResizeOp::cast(m, op).is_some_and(|resize| nearest_sources(m, resize).is_err());
    m.num_results(op) == 1 && m.is_one_of(op, &MOVES) && !is_computed() && !has_empty_windows(m, op)
}

/// An op that is computed on integers and dequantized after it.
pub(crate) struct Moved {
    x: Value,
    q: Quantization,
    /// The elements that are added before and after each axis, and their byte.
    padding: Option<(Vec<[usize; 2]>, Tensor)>,
}

impl Moved {
    /// Returns the integers that an op reads, if it may be computed on them.
    pub(crate) fn of(m: &Module, op: Op) -> Option<Moved> {
        let pad = PadOp::cast(m, op);
        if !commutes(m, op) && SplitOp::cast(m, op).is_none() && pad.is_none() {
            return None;
        }
        let Quantized { x, q } = Quantized::per_tensor(m, *m.operands(op).first()?).ok()?;
        let padding = match pad {
            Some(pad) => Some((constant_padding(m, pad).ok()?, padding_byte(m, pad, &q)?)),
            None => None,
        };
        m.constant(x).is_none().then_some(Moved { x, q, padding })
    }

    /// Creates the op and the dequantization of its results before `op`, and replaces its results.
    pub(crate) fn emit(self, m: &mut Module, op: Op) -> Option<()> {
        let results = Vec::from_iter(m.results(op).map(|value| (value, m.value_type(value))));
        if let Some((pads, byte)) = &self.padding {
            let mut b = Builder::before(m, op);
            let mut e = Emitter::on_graph(&mut b, op);
            let list: Vec<i64> = [0, 1].iter().flat_map(|&side| pads.iter().map(move |pad| pad[side] as i64)).collect();
            let byte = e.constant(byte, self.q.elem)?;
            let padded = e.pad(self.x, &list, Some(byte))?;
            let [scale, zero] = self.q.constants(&mut e)?;
            let value = e.typed(DequantizeLinearOp::INFO.name, &[padded, scale, zero], &[], results[0].1)?;
            m.replace_all_uses(results[0].0, value);
            return Some(());
        }
        let mut state = OpState::like(m, op);
        state.operands.push(self.x);
        state.operands.extend_from_slice(&m.operands(op)[1..]);
        state.result_types.extend(results.iter().map(|&(_, ty)| m.ctx.with_element(ty, self.q.elem)));
        let mut b = Builder::before(m, op);
        let moved = b.try_create(state).ok()?;
        let mut e = Emitter::on_graph(&mut b, op);
        let [scale, zero] = self.q.constants(&mut e)?;
        let mut values = Vec::with_capacity(results.len());
        for (i, &(_, ty)) in results.iter().enumerate() {
            let integers = e.m().result(moved, i);
            values.push(e.typed(DequantizeLinearOp::INFO.name, &[integers, scale, zero], &[], ty)?);
        }
        results.iter().zip(values).for_each(|(&(old, _), new)| m.replace_all_uses(old, new));
        Some(())
    }
}

/// Returns the byte that is dequantized to the value of a padding.
fn padding_byte(m: &Module, op: PadOp, q: &Quantization) -> Option<Tensor> {
    let value = match op.constant_value(m) {
        Some(value) => *constant(m, value).ok()?.to_f64().first()?,
        None => 0.0,
    };
    let (scale, zero) = (f64::from(q.scale_of(0)), *q.zero.to_i64()?.first()?);
    let steps = value / scale;
    let byte = (steps.fract() == 0.0).then_some(steps as i64 + zero)?;
    match q.zero.dtype() {
        DType::I8 => i8::try_from(byte).ok().map(Tensor::scalar),
        _ => u8::try_from(byte).ok().map(Tensor::scalar),
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
