//! Sums, products and concatenations of quantized tensors.

use super::quantization::{Quantization, Quantized};
use super::table::Lookup;
use crate::emit::Emitter;
use gradus_ir::{Attr, Module, Op, OpDecl, OpInfo, Refusal, Type, Value};
use gradus_networks::graph::{AddOp, ConcatOp, MulOp, QLinearAddOp, QLinearMulOp, SumOp};

/// The binary ops, with those on quantized tensors.
const BINARY: [(&OpInfo, &OpInfo); 3] =
    [(AddOp::INFO, QLinearAddOp::INFO), (SumOp::INFO, QLinearAddOp::INFO), (MulOp::INFO, QLinearMulOp::INFO)];

/// Returns the op on quantized tensors for a binary op; `None` of other ops.
pub(super) fn integer_form(m: &Module, op: Op) -> Option<&'static OpInfo> {
    BINARY.into_iter().find(|(float, _)| m.is_one_of(op, &[float])).map(|(_, info)| info)
}

/// A binary op on quantized tensors.
pub(super) struct Binary {
    info: &'static OpInfo,
    a: Quantized,
    b: Quantized,
    to: Quantization,
}

impl Binary {
    /// Returns the sum or product of integers, of a declaration, that an op is.
    pub(super) fn of(m: &Module, op: Op, info: &'static OpInfo, to: &Quantization) -> Result<Binary, Refusal> {
        let &[a, b] = m.operands(op) else {
            return Err(Refusal::from("a sum of {} tensors").with([m.operands(op).len()]));
        };
        let (a, b) = (Quantized::per_tensor(m, a)?, Quantized::per_tensor(m, b)?);
        Ok(Binary { info, a, b, to: to.clone() })
    }

    /// Creates the op, with a result of type `ty`.
    pub(super) fn emit(self, e: &mut Emitter<'_, '_>, ty: Type) -> Option<Value> {
        let ([a_scale, a_zero], [b_scale, b_zero]) = (self.a.q.constants(e)?, self.b.q.constants(e)?);
        let [scale, zero] = self.to.constants(e)?;
        e.typed(self.info.name, &[self.a.x, a_scale, a_zero, self.b.x, b_scale, b_zero, scale, zero], &[], ty)
    }
}

/// A concatenation of quantized tensors, requantized to the same parameters.
pub(super) struct Concat {
    parts: Vec<Lookup>,
    axis: Attr,
}

impl Concat {
    pub(super) fn of(m: &Module, concat: ConcatOp, to: &Quantization) -> Result<Concat, Refusal> {
        let axis = m.args(concat.0).and_then(|args| args.attr("axis")).ok_or("no axis")?;
        let part = |&value: &Value| {
            let Quantized { x, q } = Quantized::per_tensor(m, value)?;
            Lookup::of_requantization(m, x, &q, to).ok_or(Refusal::of(value, "bytes without a requantization"))
        };
        Ok(Concat { parts: m.operands(concat.0).iter().map(part).collect::<Result<_, _>>()?, axis })
    }

    /// Creates the op, with a result of type `ty`.
    pub(super) fn emit(self, e: &mut Emitter<'_, '_>, ty: Type) -> Option<Value> {
        let elem = e.m().ctx.element_type(ty);
        let mut parts = Vec::with_capacity(self.parts.len());
        for part in self.parts {
            let ty = e.m().ctx.with_element(part.argument_type(e.m()), elem);
            parts.push(part.emit(e, ty)?);
        }
        e.typed(ConcatOp::INFO.name, &parts, &[("axis", self.axis)], ty)
    }
}
