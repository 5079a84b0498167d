//! Products of quantized tensors: convolutions, matrix products, and means as depthwise convolutions.

use super::quantization::{Quantization, Quantized, is_f32};
use crate::emit::Emitter;
use crate::operands::is_mean_of_images;
use gradus_ir::{Attr, DType, Module, Op, OpArgs, OpDecl, Refusal, Tensor, Type, Value};
use gradus_networks::graph::{ConvOp, GemmOp, MatMulOp, QLinearConvOp, QLinearMatMulOp, ReduceMeanOp};

/// Largest magnitude of a product of two differences of bytes.
const MAX_PRODUCT: i64 = 255 * 255;

/// Largest part of a step of the result that one step of the bias may be, if the bias is rounded to integers.
const MAX_BIAS_STEP: f64 = 1.0 / 16.0;

/// A quantized convolution.
pub(super) struct Convolution {
    /// The image.
    pub(super) x: Quantized,
    /// The shape in which `x` is read, if not its own.
    pub(super) reshaped: Option<Vec<i64>>,
    /// Filters.
    pub(super) weights: (Tensor, Quantization),
    /// The summand of each filter.
    pub(super) bias: Option<Tensor>,
    /// Attributes.
    pub(super) attrs: Vec<(&'static str, Attr)>,
    /// The quantization of the result.
    pub(super) to: Quantization,
}

impl Convolution {
    /// Returns the convolution that an op between dequantization and quantization is.
    pub(super) fn of(m: &Module, op: Op, to: &Quantization) -> Result<Convolution, Refusal> {
        let args = m.args(op).ok_or("an op without a declaration")?;
        let conv = match (ConvOp::cast(m, op), GemmOp::cast(m, op)) {
            (Some(of), _) => conv(m, of, &args, to)?,
            (_, Some(of)) => gemm(m, of, &args, to)?,
            _ => mean(m, op, &args, to)?,
        };
        conv.checked()
    }

    /// Returns the convolution, if its sums have 32 bits.
    pub(super) fn checked(self) -> Result<Convolution, Refusal> {
        let (weights, bias) = (&self.weights.0, self.bias.as_ref());
        let depth = weights.len() as i64 / weights.shape().first().copied().unwrap_or(1).max(1) as i64;
        let bias = bias.and_then(Tensor::to_i64).into_iter().flatten().map(i64::abs).max().unwrap_or(0);
        let largest = depth.saturating_mul(MAX_PRODUCT).saturating_add(bias);
        (largest <= i64::from(i32::MAX)).then_some(self).ok_or(LARGE_SUMS.into())
    }

    /// Creates the convolution, with a result of type `ty`.
    pub(super) fn emit(self, e: &mut Emitter<'_, '_>, ty: Type) -> Option<Value> {
        let x = match &self.reshaped {
            Some(extents) => e.reshape(self.x.x, extents)?,
            None => self.x.x,
        };
        let (tensor, q) = &self.weights;
        let w = e.constant(tensor, q.elem)?;
        let ([x_scale, x_zero], [w_scale, w_zero]) = (self.x.q.constants(e)?, q.constants(e)?);
        let [y_scale, y_zero] = self.to.constants(e)?;
        let mut operands = vec![x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero];
        if let Some(bias) = &self.bias {
            operands.push(e.constant(bias, Type::I32)?);
        }
        let (rank, extents) = (tensor.rank(), e.m().ctx.shape(ty)?.to_vec());
        if extents.len() == rank {
            return e.typed(QLinearConvOp::INFO.name, &operands, &self.attrs, ty);
        }
        let mut image = extents.clone();
        image.resize(rank, 1);
        let image = e.m().ctx.tensor_type(&image, self.to.elem);
        let y = e.typed(QLinearConvOp::INFO.name, &operands, &self.attrs, image)?;
        e.reshape(y, &extents)
    }
}

/// The rule of sums.
const LARGE_SUMS: &str = "sums that may exceed 32 bits";

fn conv(m: &Module, conv: ConvOp, args: &OpArgs<'_>, to: &Quantization) -> Result<Convolution, Refusal> {
    let x = Quantized::per_tensor(m, conv.x(m))?;
    let weights = Quantized::constant(m, conv.w(m), 0)?;
    let bias = match conv.b(m) {
        Some(bias) => {
            let columns = weights.0.shape().first().copied().unwrap_or(1);
            Some(Bias { x: &x.q, w: &weights.1, to, columns }.of(m, bias)?)
        }
        None => None,
    };
    let names = ["auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"];
    let attrs = names.into_iter().filter_map(|name| Some((name, args.attr(name)?))).collect();
    Ok(Convolution { x, reshaped: None, weights, bias, attrs, to: to.clone() })
}

/// Returns a matrix product with a bias as a convolution of images of one pixel, `[M, K, 1]`.
fn gemm(m: &Module, gemm: GemmOp, args: &OpArgs<'_>, to: &Quantization) -> Result<Convolution, Refusal> {
    let by_rows = args.flag("transB");
    let x = Quantized::per_tensor(m, gemm.a(m))?;
    let (tensor, q) = Quantized::constant(m, gemm.b(m), usize::from(!by_rows))?;
    let extents = m.ctx.static_shape(m.value_type(x.x)).ok_or(Refusal::of(gemm.a(m), "an unknown extent"))?;
    let (&[rows, depth], &[first, second]) = (extents, tensor.shape()) else {
        return Err(Refusal::of(gemm.a(m), "{} axes").with([extents.len()]));
    };
    for name in ["alpha", "beta"] {
        (args.float(name) == Some(1.0)).then_some(()).ok_or(Refusal::of_attr(name, "a factor other than 1"))?;
    }
    if args.flag("transA") {
        return Err(Refusal::of_attr("transA", "a transposed left operand"));
    }
    let (columns, summands) = if by_rows { (first, second) } else { (second, first) };
    let bytes = tensor.bytes();
    let by_row: Vec<u8> = match by_rows {
        true => bytes.to_vec(),
        false => (0..columns).flat_map(|n| (0..summands).map(move |k| bytes[k * columns + n])).collect(),
    };
    let tensor = Tensor::new(tensor.dtype(), vec![columns, summands, 1], by_row.into());
    let tensor = tensor.map_err(|_| "weights of another shape")?;
    let bias = match gemm.c(m) {
        Some(bias) => Some(Bias { x: &x.q, w: &q, to, columns }.of(m, bias)?),
        None => None,
    };
    let q = Quantization { axis: q.axis.map(|_| 0), ..q };
    Ok(Convolution {
        x,
        reshaped: Some(vec![rows, depth, 1]),
        weights: (tensor, q),
        bias,
        attrs: vec![],
        to: to.clone(),
    })
}

/// Returns a mean over windows of equally many elements as a depthwise convolution with weights 1.
fn mean(m: &Module, op: Op, args: &OpArgs<'_>, to: &Quantization) -> Result<Convolution, Refusal> {
    let value = m.operands(op)[0];
    let unknown = Refusal::of(value, "an unknown extent");
    if ReduceMeanOp::cast(m, op).is_some() && !is_mean_of_images(m, op) {
        return Err("a mean of other axes than rows and columns".into());
    }
    let Some(&[_, channels, ref image @ ..]) = m.ctx.shape(m.value_type(value)) else { return Err(unknown) };
    let (kernel, attrs): (Vec<i64>, Vec<_>) = if is_mean_of_images(m, op) {
        (image.to_vec(), vec![])
    } else {
        let is_padded = args.ints("pads").unwrap_or_default().iter().any(|&pad| pad != 0);
        let pads = args.attr("auto_pad").and_then(|mode| m.ctx.as_str(mode));
        let is_explicit = matches!(pads, None | Some("NOTSET" | "VALID"));
        if args.flag("ceil_mode") || !is_explicit || is_padded && !args.flag("count_include_pad") {
            return Err("means of windows with different numbers of elements".into());
        }
        let names = ["auto_pad", "dilations", "pads", "strides"];
        let attrs = names.into_iter().filter_map(|name| Some((name, args.attr(name)?)));
        (args.ints("kernel_shape").unwrap_or_default(), attrs.collect())
    };
    let x = Quantized::per_tensor(m, value)?;
    let extent = |d: i64| usize::try_from(d).ok().filter(|&d| d > 0).ok_or(unknown);
    let window = kernel.iter().map(|&d| extent(d)).collect::<Result<Vec<usize>, _>>()?;
    let filters = extent(channels)?;
    let count = window.iter().try_fold(1_usize, |n, &d| n.checked_mul(d)).filter(|&n| n <= 1 << 15);
    let count = count.ok_or("windows of more than 2^15 elements")?;
    let shape = [&[filters, 1], &window[..]].concat();
    let len = count.checked_mul(filters).ok_or(LARGE_SUMS)?;
    let ones = Tensor::new(DType::I8, shape, vec![1; len].into()).map_err(|_| unknown)?;
    let q = Quantization {
        scale: Tensor::scalar(1.0 / count as f32),
        zero: Tensor::scalar(0_i8),
        axis: None,
        elem: m.ctx.dtype_type(DType::I8),
    };
    let group = ("group", m.ctx.int_attr(Type::I64, channels));
    let attrs = attrs.into_iter().chain([group]).collect();
    Ok(Convolution { x, reshaped: None, weights: (ones, q), bias: None, attrs, to: to.clone() })
}

/// The parameters that determine the integers of a bias.
pub(super) struct Bias<'a> {
    /// Of the image.
    pub(super) x: &'a Quantization,
    /// Of the filters.
    pub(super) w: &'a Quantization,
    /// Of the result.
    pub(super) to: &'a Quantization,
    /// Number of elements.
    pub(super) columns: usize,
}

impl Bias<'_> {
    /// Returns the bias in steps of the sums, `x.scale * w.scale`, if it is constant and the steps are small.
    pub(super) fn of(&self, m: &Module, value: Value) -> Result<Tensor, Refusal> {
        let step = |n: usize| f64::from(self.x.scale_of(0)) * f64::from(self.w.scale_of(n));
        let other = "a bias that is not constant and finite, with an element for each column";
        let reals = self.reals(m, value).ok_or(Refusal::of(value, other))?;
        let mut integers = Vec::with_capacity(self.columns);
        for (n, real) in reals.into_iter().enumerate() {
            let exact = real / step(n);
            let nearest = exact.round_ties_even();
            let is_near = (exact - nearest).abs() <= 1e-6 * exact.abs().max(1.0);
            let is_fine = step(n) <= MAX_BIAS_STEP * f64::from(self.to.scale_of(0));
            if !(is_near || is_fine) || nearest.abs() > f64::from(1 << 30) {
                return Err(Refusal::of(value, "a bias between steps of the sums"));
            }
            integers.push(nearest as i32);
        }
        Ok(Tensor::from_vec(&[self.columns], integers))
    }

    /// Returns the real numbers that a constant, or a dequantized constant, represents, one per column.
    fn reals(&self, m: &Module, value: Value) -> Option<Vec<f64>> {
        let constant = |value| m.ctx.dense_tensor(m.constant(value)?);
        let reals: Vec<f64> = match constant(value) {
            Some(tensor) => tensor.to_f64(),
            None => {
                let quantized = Quantized::of(m, value).ok()?;
                let zero = quantized.q.zero.to_i64()?;
                let steps = constant(quantized.x)?.to_i64()?.into_iter().enumerate().map(|(n, integer)| {
                    let zero = zero[if zero.len() == 1 { 0 } else { n }];
                    integer.saturating_sub(zero) as f64 * f64::from(quantized.q.scale_of(n))
                });
                let is_vector = m.ctx.static_shape(m.value_type(value)).is_some_and(|shape| shape.len() < 2);
                is_vector.then(|| steps.collect())?
            }
        };
        let shape = m.ctx.static_shape(m.value_type(value))?;
        let is_row = shape.iter().rev().skip(1).all(|&d| d == 1);
        match reals.len() {
            _ if !is_f32(m, value) || !is_row || reals.iter().any(|real| !real.is_finite()) => None,
            1 => Some(vec![reals[0]; self.columns]),
            n => (n == self.columns).then_some(reals),
        }
    }
}

/// A product of a batch of quantized matrices and one constant matrix, or another batch.
pub(super) struct MatMul {
    a: Quantized,
    b: Factor,
    to: Quantization,
}

/// The second factor of a product.
enum Factor {
    Constant(Tensor, Quantization),
    Tensor(Quantized),
}

impl MatMul {
    /// Returns the product of integers that an op is. `of_two`: also of two tensors that are not constant.
    pub(super) fn of(m: &Module, matmul: MatMulOp, to: &Quantization, of_two: bool) -> Result<MatMul, Refusal> {
        let (a, right) = (Quantized::per_tensor(m, matmul.a(m))?, matmul.b(m));
        let (depth, b) = match Quantized::constant(m, right, 1) {
            Ok((b, q)) if b.rank() == 2 => (b.shape()[0], Factor::Constant(b, q)),
            Ok((b, _)) => return Err(Refusal::of(right, "a constant of {} axes").with([b.rank()])),
            Err(refusal) if !of_two => return Err(refusal),
            Err(_) => {
                let b = Quantized::per_tensor(m, right)?;
                let Some(&[.., depth, _]) = m.ctx.static_shape(m.value_type(b.x)) else {
                    return Err(Refusal::of(right, "an unknown extent"));
                };
                (depth as usize, Factor::Tensor(b))
            }
        };
        let fits = (depth as i64).saturating_mul(MAX_PRODUCT) <= i64::from(i32::MAX);
        fits.then_some(MatMul { a, b, to: to.clone() }).ok_or(LARGE_SUMS.into())
    }

    /// Creates the product, with a result of type `ty`.
    pub(super) fn emit(self, e: &mut Emitter<'_, '_>, ty: Type) -> Option<Value> {
        let (b, q) = match self.b {
            Factor::Constant(tensor, q) => (e.constant(&tensor, q.elem)?, q),
            Factor::Tensor(b) => (b.x, b.q),
        };
        let ([a_scale, a_zero], [b_scale, b_zero]) = (self.a.q.constants(e)?, q.constants(e)?);
        let [y_scale, y_zero] = self.to.constants(e)?;
        let operands = [self.a.x, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero];
        e.typed(QLinearMatMulOp::INFO.name, &operands, &[], ty)
    }
}
