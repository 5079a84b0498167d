//! Lowering of 8-bit convolutions and products, with optional requantization.

use super::choose::{ConvChooser, ImageLayout};
use super::conv::{NOT_DECLARED, StaticConv};
use super::{NO_TABLE, matrix_product};
use crate::emit::{Emitter, ProductOperands};
use crate::operands::{constant, extents, scale, scales};
use gradus_ir::{Builder, DType, Module, Op, OpArgs, OpDecl, Refusal, Tensor, Type, Value};
use gradus_networks::graph::{ConvIntegerOp, MatMulIntegerOp, QLinearConvOp, QLinearMatMulOp};
use gradus_reference_kernels as kernels;

/// Number of columns below which groups are merged, up to this number.
const MIN_COLUMNS: u64 = 16;

/// Maximum number of window positions of depthwise kernels.
const MAX_POSITIONS: i64 = 256;

/// The operand names of an op.
struct ProductNames {
    a: &'static str,
    b: &'static str,
    a_zero: &'static str,
    b_zero: &'static str,
    /// Scales of both factors and the result, and the zero point of the result, for quantized ops.
    scales: Option<[&'static str; 4]>,
}

impl ProductNames {
    fn of(m: &Module, op: Op) -> Option<ProductNames> {
        let of = |a, b, a_zero, b_zero, scales| Some(ProductNames { a, b, a_zero, b_zero, scales });
        let info = m.info(op)?;
        let is = |other| std::ptr::eq(info, other);
        if is(ConvIntegerOp::INFO) {
            of("x", "w", "x_zero_point", "w_zero_point", None)
        } else if is(MatMulIntegerOp::INFO) {
            of("a", "b", "a_zero_point", "b_zero_point", None)
        } else if is(QLinearConvOp::INFO) {
            let scales = ["x_scale", "w_scale", "y_scale", "y_zero_point"];
            of("x", "w", "x_zero_point", "w_zero_point", Some(scales))
        } else if is(QLinearMatMulOp::INFO) {
            let scales = ["a_scale", "b_scale", "y_scale", "y_zero_point"];
            of("a", "b", "a_zero_point", "b_zero_point", Some(scales))
        } else {
            None
        }
    }

    fn is_conv(&self) -> bool {
        self.a == "x"
    }
}

/// Lowers a quantized op with constant weights and parameters.
pub(super) fn lower(b: &mut Builder<'_>, op: Op, chooser: &ConvChooser<'_>) -> Result<Value, Refusal> {
    let m = &*b.module;
    let (names, args) = ProductNames::of(m, op).zip(m.args(op)).ok_or(NOT_DECLARED)?;
    let parameters = Parameters::of(m, &args, &names)?;
    let factors = [names.a, names.b].map(|name| args.opt_operand(name));
    let [Some(left), Some(right)] = factors else { return Err(NOT_DECLARED.into()) };
    [left, right, m.result(op, 0)].into_iter().try_for_each(|value| extents(m, value).map(drop))?;
    if !names.is_conv() {
        let operands = parameters.emit(b, op).ok_or(NO_TABLE)?;
        return matrix_product(b, op, [left, right], &operands, chooser.options);
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
    fn of(m: &Module, args: &OpArgs<'_>, names: &ProductNames) -> Result<Parameters, Refusal> {
        let operand = |name| args.opt_operand(name).ok_or(Refusal::from(NOT_DECLARED));
        let typed = |value| Ok::<Typed, Refusal>((constant(m, value)?, m.ctx.element_type(m.value_type(value))));
        let b = operand(names.b)?;
        let weights = typed(b)?;
        is_byte(&weights.0).then_some(()).ok_or(Refusal::of(b, "weights other than bytes"))?;
        let (first, last) = (weights.0.shape().first(), weights.0.shape().last());
        let &columns = (if names.is_conv() { first } else { last }).ok_or(Refusal::of(b, "a scalar"))?;
        let each_or_all = |value, tensor: &Tensor| {
            let rule = "{} parameters of {} columns";
            each_or_all(tensor, columns).ok_or(Refusal::of(value, rule).with([tensor.len(), columns]))
        };
        let a_zero = args.opt_operand(names.a_zero);
        let is_single = |v: &Value| m.ctx.static_shape(m.value_type(*v)).is_some_and(|d| d.iter().all(|&d| d == 1));
        if let Some(zero) = a_zero.filter(|zero| !is_single(zero)) {
            return Err(Refusal::of(zero, "a zero point for each row"));
        }
        let b_zero = match args.opt_operand(names.b_zero) {
            Some(value) => {
                let (zero, elem) = typed(value)?;
                Some((each_or_all(value, &zero)?, elem))
            }
            None => None,
        };
        let bias = names.scales.and_then(|_| args.opt_operand("b")).filter(|_| names.is_conv());
        let Some([a, b, y, zero]) = names.scales else {
            return Ok(Parameters { weights, a_zero, b_zero, bias, scale: None, zero: None });
        };
        let (left, right, result) = (scale(m, operand(a)?)?, operand(b)?, scale(m, operand(y)?)?);
        scales(m, right)?;
        let right = each_or_all(right, &constant(m, right)?)?;
        let product = kernels::mul(&right, &Tensor::scalar(left));
        let scale = product.and_then(|product| kernels::div(&product, &Tensor::scalar(result)));
        let scale = scale.map_err(|_| "a scale that is no number")?;
        let value = operand(zero)?;
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
