//! Lowering of 8-bit convolutions and products, with optional requantization.

use super::choose::{ConvChooser, ImageLayout};
use super::conv::{NOT_DECLARED, StaticConv};
use super::{NO_TABLE, matrix_product};
use crate::emit::{Emitter, ProductOperands};
use crate::operands::{IntegerContraction, constant, extents, requantization};
use gradus_ir::{Builder, DType, Module, Op, Refusal, Tensor, Type, Value};

/// Number of columns below which groups are merged, up to this number.
const MIN_COLUMNS: u64 = 16;

/// Maximum number of window positions of depthwise kernels.
const MAX_POSITIONS: i64 = 256;

/// Lowers a quantized op with constant weights and parameters.
pub(super) fn lower(b: &mut Builder<'_>, op: Op, chooser: &ConvChooser<'_>) -> Result<Value, Refusal> {
    let m = &*b.module;
    let product = IntegerContraction::of(m, op).ok_or(NOT_DECLARED)?;
    let parameters = Parameters::of(m, &product)?;
    let [left, right] = product.factors;
    [left, right, m.result(op, 0)].into_iter().try_for_each(|value| extents(m, value).map(drop))?;
    if !product.is_conv {
        let operands = parameters.emit(b, op).ok_or(NO_TABLE)?;
        return matrix_product(b, op, product.factors, &operands, chooser.options);
    }
    // Checked before any op is created.
    StaticConv::of(m, op, ProductOperands::default())?;
    let operands = parameters.emit(b, op).ok_or(NO_TABLE)?;
    let conv = StaticConv::of(b.module, op, operands)?;
    let positions = conv.groups().1[2..].iter().product::<i64>();
    let is_last = chooser.layout_of(b.module, op, &conv) == Some(ImageLayout::ChannelsLast);
    if conv.is_depthwise() && positions <= MAX_POSITIONS && is_last {
        return conv.lower_depthwise(b, op, chooser.options).ok_or(NO_TABLE.into());
    }
    let conv = merged(b, op, conv, &parameters).ok_or(NO_TABLE)?;
    chooser.lower(b, op, &conv).ok_or(NO_TABLE.into())
}

/// A tensor and its element type.
type Typed = (Tensor, Type);

/// Zero points and scales.
struct Parameters {
    weights: Typed,
    /// A scalar, possibly not constant.
    a_zero: Option<Value>,
    b_zero: Option<Typed>,
    bias: Option<Value>,
    scale: Option<Tensor>,
    zero: Option<Typed>,
}

impl Parameters {
    /// Reads the parameters: constants of 8-bit integers and f32 scales, of which only those of weights are per channel.
    fn of(m: &Module, product: &IntegerContraction) -> Result<Parameters, Refusal> {
        let typed = |value| Ok::<Typed, Refusal>((constant(m, value)?, m.ctx.element_type(m.value_type(value))));
        let IntegerContraction { factors: [_, b], zeros: [a_zero, b_zero], bias, .. } = *product;
        let weights = typed(b)?;
        is_byte(&weights.0).then_some(()).ok_or(Refusal::of(b, "weights other than bytes"))?;
        let (first, last) = (weights.0.shape().first(), weights.0.shape().last());
        let &columns = (if product.is_conv { first } else { last }).ok_or(Refusal::of(b, "a scalar"))?;
        let each_or_all = |value, tensor: &Tensor| {
            let rule = "{} parameters of {} columns";
            each_or_all(tensor, columns).ok_or(Refusal::of(value, rule).with([tensor.len(), columns]))
        };
        let is_single = |v: &Value| m.ctx.static_shape(m.value_type(*v)).is_some_and(|d| d.iter().all(|&d| d == 1));
        if let Some(zero) = a_zero.filter(|zero| !is_single(zero)) {
            return Err(Refusal::of(zero, "a zero point for each row"));
        }
        let b_zero = match b_zero {
            Some(value) => {
                let (zero, elem) = typed(value)?;
                Some((each_or_all(value, &zero)?, elem))
            }
            None => None,
        };
        let Some((scales, value)) = product.requantization else {
            return Ok(Parameters { weights, a_zero, b_zero, bias, scale: None, zero: None });
        };
        let factors = requantization(m, scales)?;
        let scale = Tensor::from_vec(each_or_all(scales[1], &constant(m, scales[1])?)?.shape(), factors);
        let (zero, elem) = typed(value)?;
        let zero =
            zero.reshape(vec![]).ok().filter(is_byte).ok_or(Refusal::of(value, "a zero point that is no byte"))?;
        Ok(Parameters { weights, a_zero, b_zero, bias, scale: Some(scale), zero: Some((zero, elem)) })
    }

    /// Creates the operands of a product.
    fn emit(&self, b: &mut Builder<'_>, op: Op) -> Option<ProductOperands> {
        let mut e = Emitter::of(b, op);
        let mut constant = |typed: &Option<Typed>| match typed {
            Some((tensor, elem)) => e.constant(tensor, *elem).map(Some),
            None => Some(None),
        };
        let (b_zero, zero) = (constant(&self.b_zero)?, constant(&self.zero)?);
        let scale = constant(&self.scale.clone().map(|scale| (scale, Type::F32)))?;
        let a_zero = match self.a_zero {
            Some(zero) => Some(e.reshape(zero, &[])?),
            None => None,
        };
        let operands = [("a_zero", a_zero), ("b_zero", b_zero), ("bias", self.bias), ("scale", scale), ("zero", zero)];
        Some(ProductOperands::of(operands))
    }
}

/// Whether elements are integers of 8 bits.
fn is_byte(tensor: &Tensor) -> bool {
    matches!(tensor.dtype(), DType::I8 | DType::U8)
}

/// Returns a parameter as a scalar if all columns share it, otherwise one element per column.
fn each_or_all(parameter: &Tensor, columns: usize) -> Option<Tensor> {
    match parameter.shape() {
        _ if parameter.len() == 1 => parameter.reshape(vec![]).ok(),
        &[n] if n == columns => Some(parameter.clone()),
        _ => None,
    }
}

/// Merges groups until their columns fill a vector; the weights for other groups are zero points.
fn merged(b: &mut Builder<'_>, op: Op, conv: StaticConv, parameters: &Parameters) -> Option<StaticConv> {
    let (group, filters) = conv.groups();
    let (each, filters) = (filters[0] as u64 / group, filters.to_vec());
    let fits = |&some: &u64| group.is_multiple_of(some) && some * each <= MIN_COLUMNS;
    let some = (1..=MIN_COLUMNS.min(group)).rev().find(fits).unwrap_or(1);
    if some == 1 {
        return Some(conv);
    }
    let (weights, elem) = &parameters.weights;
    let zero = |n: usize| match &parameters.b_zero {
        Some((zero, _)) => zero.bytes()[if zero.len() == 1 { 0 } else { n }],
        None => 0,
    };
    let (depth, some_groups) = (weights.len() / filters[0] as usize, some as usize);
    let mut bytes = Vec::with_capacity(weights.len().checked_mul(some_groups)?);
    for (n, row) in weights.bytes().chunks_exact(depth).enumerate() {
        for other in 0..some_groups {
            let own = n / each as usize % some_groups == other;
            if own { bytes.extend_from_slice(row) } else { bytes.extend(std::iter::repeat_n(zero(n), depth)) }
        }
    }
    let mut extents = filters;
    extents[1] *= some as i64;
    let shape = extents.iter().map(|&d| d as usize).collect();
    let merged = Tensor::new(weights.dtype(), shape, bytes.into()).ok()?;
    let w = Emitter::of(b, op).constant(&merged, *elem)?;
    Some(conv.merged(group / some, w, extents))
}
