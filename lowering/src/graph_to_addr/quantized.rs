//! Lowering of 8-bit convolutions and products, with optional requantization.

use super::choose::{ConvChooser, ImageLayout};
use super::conv::StaticConv;
use super::matrix_product;
use crate::emit::{Emitter, ProductOperands};
use gradus_dialects::graph::{ConvIntegerOp, MatMulIntegerOp, QLinearConvOp, QLinearMatMulOp};
use gradus_ir::{Builder, DType, Module, Op, OpArgs, OpDecl, Tensor, Type, Value};
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
pub(super) fn lower(b: &mut Builder<'_>, op: Op, chooser: &ConvChooser<'_>) -> Option<Value> {
    let m = &*b.module;
    let names = ProductNames::of(m, op)?;
    let parameters = Parameters::of(m, &m.args(op)?, &names)?;
    let (args, static_extents) = (m.args(op)?, |v| m.ctx.static_shape(m.value_type(v)));
    let factors = [args.opt_operand(names.a)?, args.opt_operand(names.b)?];
    if factors.iter().chain([&m.result(op, 0)]).any(|&v| static_extents(v).is_none_or(|extents| extents.contains(&0))) {
        return None;
    }
    if !names.is_conv() {
        let operands = parameters.emit(b, op)?;
        return matrix_product(b, op, factors, &operands, chooser.options);
    }
    // Checked before any op is created.
    StaticConv::of(m, op, ProductOperands::default())?;
    let operands = parameters.emit(b, op)?;
    let conv = StaticConv::of(b.module, op, operands)?;
    let positions = conv.groups().1[2..].iter().product::<i64>();
    let is_last = chooser.layout_of(b.module, op, &conv) == Some(ImageLayout::ChannelsLast);
    if conv.is_depthwise() && positions <= MAX_POSITIONS && is_last {
        return conv.lower_depthwise(b, op, chooser.options);
    }
    let conv = merged(b, op, conv, &parameters)?;
    chooser.lower(b, op, &conv)
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
    /// Reads the parameters. `None` unless kernels support them: 8-bit integers, f32 scales, and only weights quantized
    /// per channel.
    fn of(m: &Module, args: &OpArgs<'_>, names: &ProductNames) -> Option<Parameters> {
        let constant = |name| {
            let value = args.opt_operand(name)?;
            Some((m.ctx.dense_tensor(m.constant(value)?)?, m.ctx.element_type(m.value_type(value))))
        };
        let is_byte = |t: &Tensor| matches!(t.dtype(), DType::I8 | DType::U8);
        let weights = constant(names.b).filter(|weights| is_byte(&weights.0))?;
        let (first, last) = (weights.0.shape().first(), weights.0.shape().last());
        let columns = *(if names.is_conv() { first } else { last })?;
        let a_zero = args.opt_operand(names.a_zero);
        if a_zero.is_some_and(|zero| m.ctx.static_shape(m.value_type(zero)).is_none_or(|d| d.iter().any(|&d| d != 1))) {
            return None;
        }
        let b_zero = match args.opt_operand(names.b_zero) {
            Some(_) => Some(constant(names.b_zero)?),
            None => None,
        };
        let b_zero = match b_zero {
            Some((zero, elem)) => Some((each_or_all(&zero, columns)?, elem)),
            None => None,
        };
        let bias = names.scales.and_then(|_| args.opt_operand("b")).filter(|_| names.is_conv());
        let Some([a, b, y, zero]) = names.scales else {
            return Some(Parameters { weights, a_zero, b_zero, bias, scale: None, zero: None });
        };
        let [a, b, y] = [constant(a)?.0, constant(b)?.0, constant(y)?.0];
        if [&a, &b, &y].iter().any(|scale| scale.dtype() != DType::F32) || a.len() != 1 || y.len() != 1 {
            return None;
        }
        let (b, zero) = (each_or_all(&b, columns)?, constant(zero)?);
        let scale = kernels::div(&kernels::mul(&b, &a.reshape(vec![]).ok()?).ok()?, &y.reshape(vec![]).ok()?).ok()?;
        let zero = (zero.0.reshape(vec![]).ok()?, zero.1);
        is_byte(&zero.0).then_some(Parameters { weights, a_zero, b_zero, bias, scale: Some(scale), zero: Some(zero) })
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
