//! Scales and zero points of quantized tensors.

use crate::emit::Emitter;
use gradus_dialects::graph::{DequantizeLinearOp, QuantizeLinearOp};
use gradus_ir::eval::ints_to_tensor;
use gradus_ir::{DType, Module, Op, OpArgs, OpDecl, Tensor, Type, Value};
use gradus_reference_kernels::shape::normalize_axis;

/// Constant scales and zero points: an integer q represents the real number `(q - zero) * scale`.
#[derive(Clone)]
pub(super) struct Quantization {
    /// Scale in f32: a scalar, or one element for each index along `axis`.
    pub scale: Tensor,
    /// Zero point, of the shape of the scale.
    pub zero: Tensor,
    /// The axis along which the parameters vary; `None` for scalars.
    pub axis: Option<usize>,
    /// Element type of the integers.
    pub elem: Type,
}

impl Quantization {
    /// Returns the parameters of a quantization to bytes, if they are scalars.
    pub(super) fn of_quantize(m: &Module, op: Op) -> Option<Quantization> {
        let (args, elem) = (m.args(op)?, m.ctx.element_type(m.value_type(m.result(op, 0))));
        let is_single = matches!(args.int("precision"), Some(0 | 1)) && is_f32(m, QuantizeLinearOp(op).x(m));
        let parameters = Quantization::of(m, &args, ["y_scale", "y_zero_point"], m.result(op, 0), elem)?;
        (is_single && is_byte(m, elem) && parameters.axis.is_none()).then_some(parameters)
    }

    /// Reads constant parameters of `value`.
    fn of(m: &Module, args: &OpArgs<'_>, [scale, zero]: [&str; 2], value: Value, elem: Type) -> Option<Quantization> {
        let constant = |name| m.ctx.dense_tensor(m.constant(args.opt_operand(name)?)?);
        let (scale, dtype) = (constant(scale)?, m.ctx.dtype(elem)?);
        let zero = match args.opt_operand(zero) {
            Some(_) => constant(zero)?,
            None => ints_to_tensor(dtype, scale.shape(), &vec![0; scale.len()]),
        };
        let fits = scale.dtype() == DType::F32 && zero.dtype() == dtype && zero.len() == scale.len();
        let is_plain = args.int("block_size") == Some(0) && scale.rank() < 2;
        if !fits || !is_plain || !scale.as_slice::<f32>().iter().all(|s| s.is_normal() && *s > 0.0) {
            return None;
        }
        if scale.len() == 1 {
            let [scale, zero] = [scale, zero].map(|t| t.reshape(vec![]));
            return Some(Quantization { scale: scale.ok()?, zero: zero.ok()?, axis: None, elem });
        }
        let extents = m.ctx.shape(m.value_type(value))?;
        let axis = normalize_axis(args.int("axis")?, extents.len()).ok()?;
        (extents[axis] == scale.len() as i64).then_some(Quantization { scale, zero, axis: Some(axis), elem })
    }

    /// Creates the constants of scale and zero point.
    pub(super) fn constants(&self, e: &mut Emitter<'_, '_>) -> Option<[Value; 2]> {
        Some([e.constant(&self.scale, Type::F32)?, e.constant(&self.zero, self.elem)?])
    }

    /// Returns the scale of an index along the axis.
    pub(super) fn scale_of(&self, index: usize) -> f32 {
        let scales = self.scale.as_slice::<f32>();
        scales[if scales.len() == 1 { 0 } else { index }]
    }
}

/// A tensor of integers that is dequantized.
#[derive(Clone)]
pub(super) struct Quantized {
    pub x: Value,
    pub q: Quantization,
}

impl Quantized {
    /// Returns the integers of which `value` is the dequantization to f32.
    pub(super) fn of(m: &Module, value: Value) -> Option<Quantized> {
        let op = DequantizeLinearOp::defining(m, value)?;
        let x = op.x(m);
        let (args, elem) = (m.args(op.0)?, m.ctx.element_type(m.value_type(x)));
        let q = Quantization::of(m, &args, ["x_scale", "x_zero_point"], x, elem)?;
        is_f32(m, value).then_some(Quantized { x, q })
    }

    /// Returns bytes with scalar parameters.
    pub(super) fn per_tensor(m: &Module, value: Value) -> Option<Quantized> {
        Quantized::of(m, value).filter(|this| is_byte(m, this.q.elem) && this.q.axis.is_none())
    }

    /// Returns constant bytes with parameters that are scalars or vary along `axis`.
    pub(super) fn constant(m: &Module, value: Value, axis: usize) -> Option<(Tensor, Quantization)> {
        let this = Quantized::of(m, value).filter(|this| is_byte(m, this.q.elem))?;
        let tensor = m.ctx.dense_tensor(m.constant(this.x)?)?;
        this.q.axis.is_none_or(|along| along == axis).then_some((tensor, this.q))
    }
}

/// Whether an element type is an 8-bit integer.
pub(super) fn is_byte(m: &Module, elem: Type) -> bool {
    matches!(m.ctx.dtype(elem), Some(DType::U8 | DType::I8))
}

/// Whether a value is a tensor of f32.
pub(super) fn is_f32(m: &Module, value: Value) -> bool {
    m.ctx.element_type(m.value_type(value)) == Type::F32
}
