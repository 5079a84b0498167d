//! Scales and zero points of quantized tensors.

use crate::emit::Emitter;
use gradus_ir::eval::ints_to_tensor;
use gradus_ir::{DType, Module, Op, OpArgs, OpDecl, Refusal, Tensor, Type, Value};
use gradus_networks::graph::{DequantizeLinearOp, QuantizeLinearOp};
use gradus_reference_kernels::shape::normalize_axis;

/// The rule of floats.
const OTHER_FLOATS: &str = "floats other than f32";
/// The rule of integers.
const OTHER_INTEGERS: &str = "integers other than of 8 bits";
/// The rule of scales and zero points.
const OTHER_PARAMETERS: &str = "a scale or zero point that is not constant, or in blocks, or not positive";
/// The rule of axes.
const OTHER_AXIS: &str = "parameters that vary along another axis than that of the columns of weights";

/// Constant scales and zero points: an integer q represents the real number `(q - zero) * scale`.
#[derive(Clone)]
pub(crate) struct Quantization {
    /// Scale in f32: a scalar, or one element for each index along `axis`.
    pub(crate) scale: Tensor,
    /// Zero point, of the shape of the scale.
    pub(crate) zero: Tensor,
    /// The axis along which the parameters vary; `None` for scalars.
    pub(crate) axis: Option<usize>,
    /// Element type of the integers.
    pub(crate) elem: Type,
}

impl Quantization {
    /// Returns the parameters of a quantization to bytes, if they are scalars.
    pub(crate) fn of_quantize(m: &Module, op: Op) -> Result<Quantization, Refusal> {
        let (x, y) = (QuantizeLinearOp(op).x(m), m.result(op, 0));
        let (args, elem) = (m.args(op).ok_or(OTHER_PARAMETERS)?, m.ctx.element_type(m.value_type(y)));
        let is_single = matches!(args.int("precision"), Some(0 | 1)) && is_f32(m, x);
        is_single.then_some(()).ok_or(Refusal::of(x, OTHER_FLOATS))?;
        is_byte(m, elem).then_some(()).ok_or(OTHER_INTEGERS)?;
        let parameters = Quantization::of(m, &args, ["y_scale", "y_zero_point"], y, elem).ok_or(OTHER_PARAMETERS)?;
        parameters.axis.is_none().then_some(parameters).ok_or("results that are quantized per channel".into())
    }

    /// Reads constant parameters of `value`; `None` of other ones.
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
    pub(crate) fn constants(&self, e: &mut Emitter<'_, '_>) -> Option<[Value; 2]> {
        Some([e.constant(&self.scale, Type::F32)?, e.constant(&self.zero, self.elem)?])
    }

    /// Returns the scale of an index along the axis.
    pub(crate) fn scale_of(&self, index: usize) -> f32 {
        let scales = self.scale.as_slice::<f32>();
        scales[if scales.len() == 1 { 0 } else { index }]
    }
}

/// A tensor of integers that is dequantized.
#[derive(Clone)]
pub(crate) struct Quantized {
    pub(crate) x: Value,
    pub(crate) q: Quantization,
}

impl Quantized {
    /// Returns the integers of which `value` is the dequantization to f32.
    pub(crate) fn of(m: &Module, value: Value) -> Result<Quantized, Refusal> {
        let op = DequantizeLinearOp::defining(m, value).ok_or(Refusal::of(value, "floats that are not quantized"))?;
        let (x, parameters) = (op.x(m), Refusal::of(value, OTHER_PARAMETERS));
        let (args, elem) = (m.args(op.0).ok_or(parameters)?, m.ctx.element_type(m.value_type(x)));
        let q = Quantization::of(m, &args, ["x_scale", "x_zero_point"], x, elem).ok_or(parameters)?;
        is_f32(m, value).then_some(Quantized { x, q }).ok_or(Refusal::of(value, OTHER_FLOATS))
    }

    /// Returns bytes.
    fn of_bytes(m: &Module, value: Value) -> Result<Quantized, Refusal> {
        let this = Quantized::of(m, value)?;
        is_byte(m, this.q.elem).then_some(this).ok_or(Refusal::of(value, OTHER_INTEGERS))
    }

    /// Returns bytes with scalar parameters.
    pub(crate) fn per_tensor(m: &Module, value: Value) -> Result<Quantized, Refusal> {
        let this = Quantized::of_bytes(m, value)?;
        this.q.axis.is_none().then_some(this).ok_or(Refusal::of(value, OTHER_AXIS))
    }

    /// Returns constant bytes with parameters that are scalars or vary along `axis`.
    pub(crate) fn constant(m: &Module, value: Value, axis: usize) -> Result<(Tensor, Quantization), Refusal> {
        let this = Quantized::of_bytes(m, value)?;
        let tensor = m.constant(this.x).and_then(|attr| m.ctx.dense_tensor(attr));
        let tensor = tensor.ok_or(Refusal::of(value, "weights that are not constant"))?;
        let is_along = this.q.axis.is_none_or(|along| along == axis);
        is_along.then_some((tensor, this.q)).ok_or(Refusal::of(value, OTHER_AXIS))
    }
}

/// Whether an element type is an 8-bit integer.
pub(crate) fn is_byte(m: &Module, elem: Type) -> bool {
    matches!(m.ctx.dtype(elem), Some(DType::U8 | DType::I8))
}

/// Whether a value is a tensor of f32.
pub(crate) fn is_f32(m: &Module, value: Value) -> bool {
    m.ctx.element_type(m.value_type(value)) == Type::F32
}
