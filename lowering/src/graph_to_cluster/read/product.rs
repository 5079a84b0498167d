//! Convolutions, matrix products and pools as layers.

use super::super::network::{ConvInfo, Layer, LayerKind, StageInfo, WindowInfo};
use super::{NOT_DECLARED, OTHER_ELEMENTS, Reader, check_image, feature_type, float};
use crate::operands::{
    common_zero_point, constant, constant_padding, is_mean_of_images, nearest_sources, requantization,
    taps_before_depth, window_of_image,
};
use gradus_ir::{DType, Op, OpDecl, Refusal, Tensor, Value};
use gradus_networks::graph::{
    AveragePoolOp, ConvOp, GemmOp, GlobalMaxPoolOp, MaxPoolOp, PadOp, QLinearConvOp, ReduceMeanOp, ResizeOp, SoftmaxOp,
    convolution, pool_window,
};
use gradus_reference_kernels::shape::Window;
use gradus_simulators::cluster::{Elem, Stage};

/// Largest kernel extent, stride, dilation and padding.
const MAX_WINDOW: usize = 1 << 12;

/// The extents of a window in two dimensions.
fn window_info(window: &Window) -> Result<WindowInfo, Refusal> {
    let [kernel, stride, dilation, pad] = window_of_image(window, MAX_WINDOW)?.map(|two| two.map(|n| n as u32));
    Ok(WindowInfo { kernel, stride, dilation, pad })
}

/// The rule of windows that do not fit their operands.
const OTHER_WINDOW: &str = "a window that its operand does not have";
/// The rule of weights.
const OTHER_WEIGHTS: &str = "weights of another type than their product has on the clusters";

/// The window of a product of vectors.
const POINT: WindowInfo = WindowInfo { kernel: [1, 1], stride: [1, 1], dilation: [1, 1], pad: [0, 0] };

/// The bytes of a bias in f32.
fn f32_bias(bias: &Tensor, factor: f64) -> Vec<u8> {
    bias.to_f64().iter().flat_map(|b| ((b * factor) as f32).to_le_bytes()).collect()
}

impl Reader<'_> {
    /// Reads a convolution or a product with a constant matrix.
    pub(super) fn product(&mut self, op: Op) -> Result<(), Refusal> {
        if let Some(conv) = QLinearConvOp::cast(self.m, op) {
            return self.quantized_conv(conv);
        }
        if let Some(conv) = ConvOp::cast(self.m, op) {
            let m = self.m;
            let bias = conv.b(m).map(|b| constant(m, b)).transpose()?;
            let info = self.conv(op, conv.x(m), &constant(m, conv.w(m))?, bias.map(|b| f32_bias(&b, 1.0)))?;
            return self.add_layer(op, conv.x(m), LayerKind::Conv(info), Vec::new());
        }
        self.matrix(op)
    }

    fn add_layer(&mut self, op: Op, x: Value, kind: LayerKind, stages: Vec<StageInfo>) -> Result<(), Refusal> {
        let layer = Layer { kind, stages, ..self.copy(op, self.known(x)?) };
        self.add(layer, self.m.result(op, 0))
    }

    fn conv(&self, op: Op, x: Value, weights: &Tensor, bias: Option<Vec<u8>>) -> Result<ConvInfo, Refusal> {
        let (group, window) = convolution(self.m, op).map_err(|_| OTHER_WINDOW)?;
        let ([_, _, channels], elem) = feature_type(self.m, x)?;
        let ([.., kernels], _) = feature_type(self.m, self.m.result(op, 0))?;
        let weights_elem = elem_of(weights.dtype()).ok_or(OTHER_WEIGHTS)?;
        let is_float = |e| matches!(e, Elem::F32 | Elem::F16);
        if is_float(elem) != is_float(weights_elem) || is_float(elem) && elem != weights_elem {
            return Err(OTHER_WEIGHTS.into());
        }
        let taps = window.kernel.iter().product();
        // Rows of bytes have no product but a convolution, and rows of floats a matrix product, to which a bias can be added.
        let is_point = taps == 1 && window.pads_begin.iter().all(|&pad| pad == 0) && !is_float(elem);
        let window = match check_image(self.m, x) {
            Err(_) if is_point => POINT,
            Err(refusal) => return Err(refusal),
            Ok(()) => window_info(&window)?,
        };
        let group_in = channels / group as u32;
        Ok(ConvInfo {
            window,
            group_in,
            group_out: kernels / group as u32,
            weights: taps_before_depth(
                weights.bytes(),
                weights.dtype().size(),
                [kernels as usize, group_in as usize, taps],
            ),
            weights_elem,
            bias,
            zero: 0,
            weights_zero: 0,
        })
    }

    fn quantized_conv(&mut self, conv: QLinearConvOp) -> Result<(), Refusal> {
        let m = self.m;
        let weights = constant(m, conv.w(m))?;
        let &kernels = weights.shape().first().ok_or(OTHER_WEIGHTS)?;
        let weights_zero = common_zero_point(m, conv.w_zero_point(m))? as i32;
        let bias = match conv.b(m) {
            Some(value) => {
                let bias = constant(m, value)?;
                (bias.dtype() == DType::I32)
                    .then_some(())
                    .ok_or(Refusal::of(value, "a bias of another type than i32"))?;
                Some(bias.bytes().to_vec())
            }
            None => None,
        };
        let (from, to) =
            (self.scale(conv.x_scale(m), conv.x_zero_point(m))?, self.scale(conv.y_scale(m), conv.y_zero_point(m))?);
        let scales = requantization(m, [conv.x_scale(m), conv.w_scale(m), conv.y_scale(m)])?;
        if ![1, kernels].contains(&scales.len()) {
            return Err(Refusal::of(conv.w_scale(m), "{} scales of {} kernels").with([scales.len(), kernels]));
        }
        let scale = |k: usize| scales[if scales.len() == 1 { 0 } else { k }].to_le_bytes();
        let mut info = self.conv(conv.0, conv.x(m), &weights, bias)?;
        (info.zero, info.weights_zero) = (from.zero, weights_zero);
        let elem = feature_type(m, m.result(conv.0, 0))?.1;
        let requantize = StageInfo {
            stage: Stage::Requantize { scales: 0, zero: to.zero, elem },
            other: None,
            lists: vec![(0..kernels).flat_map(scale).collect()],
            size: 4,
        };
        self.add_layer(conv.0, conv.x(m), LayerKind::Conv(info), vec![requantize])
    }

    /// Reads a product with a constant matrix: a pointwise convolution, whose columns are the rows. One row that is all of a feature is a
    /// convolution with a kernel of its extents.
    fn matrix(&mut self, op: Op) -> Result<(), Refusal> {
        let m = self.m;
        let args = m.args(op).ok_or(NOT_DECLARED)?;
        let (a, b) = (m.operands(op)[0], m.operands(op)[1]);
        let is_gemm = GemmOp::cast(m, op).is_some();
        if is_gemm && args.flag("transA") {
            return Err(Refusal::of_attr("transA", "a transposed left operand"));
        }
        let number = |name| if is_gemm { float(&args, name) } else { Ok(1.0) };
        let (alpha, beta, transposed) = (number("alpha")?, number("beta")?, is_gemm && args.flag("transB"));
        let weights = constant(m, b)?;
        let &[rows, cols] = weights.shape() else {
            return Err(Refusal::of(b, "a constant of {} axes").with([weights.rank()]));
        };
        let (kernels, depth) = if transposed { (rows, cols) } else { (cols, rows) };
        let input = self.flat.get(&a).copied().map_or_else(|| self.known(a), Ok)?;
        let ([height, width, channels], elem) = (self.net.features[input].extents, self.net.features[input].elem);
        let (y, _) = feature_type(m, m.result(op, 0))?;
        let is_vector = y == [1, 1, kernels as u32] && depth == (height * width * channels) as usize;
        let is_matrix = m.ctx.shape(m.value_type(a)).is_some_and(|dims| dims.len() == 2)
            && y == [1, width, kernels as u32]
            && depth == channels as usize;
        let kernel = if is_matrix { [1, 1] } else { [height, width] };
        if alpha != 1.0 {
            return Err(Refusal::of_attr("alpha", "a factor of the product"));
        }
        (is_vector || is_matrix).then_some(()).ok_or(Refusal::of(a, "a product of several rows of an image"))?;
        matches!(elem, Elem::F32 | Elem::F16).then_some(()).ok_or(Refusal::of(a, OTHER_ELEMENTS))?;
        (elem_of(weights.dtype()) == Some(elem)).then_some(()).ok_or(Refusal::of(b, OTHER_WEIGHTS))?;
        let bias = match m.operands(op).get(2) {
            Some(&c) => Some(constant(m, c)?),
            None => None,
        };
        if let Some(n) = bias.as_ref().map(Tensor::len).filter(|&n| n != kernels && n != 1) {
            return Err(Refusal::from("a summand of {} elements for {} columns").with([n, kernels]));
        }
        let bias = bias.map(|c| f32_bias(&c, beta)).map(|c| if c.len() == 4 { c.repeat(kernels) } else { c });
        let size = weights.dtype().size();
        let bytes = if transposed {
            weights.bytes().to_vec()
        } else {
            taps_before_depth(weights.bytes(), size, [1, rows, cols])
        };
        let taps = kernel.iter().product::<u32>() as usize;
        let info = ConvInfo {
            window: WindowInfo { kernel, ..POINT },
            group_in: channels,
            group_out: kernels as u32,
            weights: taps_before_depth(&bytes, size, [kernels, channels as usize, taps]),
            weights_elem: elem,
            bias,
            zero: 0,
            weights_zero: 0,
        };
        let layer = Layer { kind: LayerKind::Conv(info), ..self.copy(op, input) };
        self.add(layer, m.result(op, 0))
    }

    /// Reads a pool.
    pub(super) fn pool(&mut self, op: Op) -> Result<(), Refusal> {
        let (m, args) = (self.m, self.m.args(op).ok_or(NOT_DECLARED)?);
        let x = m.operands(op)[0];
        check_image(m, x)?;
        let ([rows, cols, _], elem) = feature_type(m, x)?;
        let is_max = m.is_one_of(op, &[MaxPoolOp::INFO, GlobalMaxPoolOp::INFO]);
        (m.num_results(op) == 1).then_some(()).ok_or("a second result")?;
        if !is_max && !matches!(elem, Elem::F32 | Elem::F16) {
            return Err(Refusal::of(x, OTHER_ELEMENTS));
        }
        if ReduceMeanOp::cast(m, op).is_some() && !is_mean_of_images(m, op) {
            return Err(Refusal::of(x, "a mean of other axes than rows and columns"));
        }
        let is_window = m.is_one_of(op, &[MaxPoolOp::INFO, AveragePoolOp::INFO]);
        let window = match is_window {
            true => window_info(&pool_window(m, op).map_err(|_| OTHER_WINDOW)?)?,
            false => WindowInfo { kernel: [rows, cols], ..POINT },
        };
        let with_pads = !is_max && is_window && args.flag("count_include_pad");
        let divisor = match with_pads {
            // Windows that the ceiling mode adds have fewer elements.
            true if args.flag("ceil_mode") => {
                return Err(Refusal::of_attr("ceil_mode", "means of windows that are cut"));
            }
            true => window.kernel[0] * window.kernel[1],
            false => 0,
        };
        self.add_layer(op, x, LayerKind::Pool { window, is_max, divisor }, Vec::new())
    }

    /// Reads a padding of rows and columns: a convolution of each channel by 1. Floats are padded by 0.
    pub(super) fn pad(&mut self, op: PadOp) -> Result<(), Refusal> {
        let m = self.m;
        let x = op.x(m);
        check_image(m, x)?;
        let ([.., channels], elem) = feature_type(m, x)?;
        let number = match op.constant_value(m) {
            Some(value) => *constant(m, value)?.to_f64().first().ok_or(Refusal::of(value, "no number"))?,
            None => 0.0,
        };
        let pads = constant_padding(m, op)?;
        let (others, images) = pads.split_at(2.min(pads.len()));
        if others.iter().any(|pads| *pads != [0; 2]) || images.is_empty() {
            return Err(Refusal::of(op.pads(m), "padding of other axes than rows and columns"));
        }
        let (one, zero) = match elem {
            Elem::F32 => (1_f32.to_le_bytes().to_vec(), 0),
            // 1.0 as a float of 16 bits.
            Elem::F16 => (0x3c00_u16.to_le_bytes().to_vec(), 0),
            Elem::I8 | Elem::U8 => (vec![1], number as i32),
        };
        let is_integer = matches!(elem, Elem::I8 | Elem::U8);
        (is_integer || number == 0.0).then_some(()).ok_or("padding of floats by another number than 0")?;
        let before = |i: usize| images.get(i).map_or(0, |pads| pads[0] as u32);
        let pad = if images.len() == 1 { [0, before(0)] } else { [before(0), before(1)] };
        let info = ConvInfo {
            window: WindowInfo { kernel: [1, 1], pad, ..POINT },
            group_in: 1,
            group_out: 1,
            weights: one.repeat(channels as usize),
            weights_elem: if is_integer { Elem::I8 } else { elem },
            bias: None,
            zero,
            weights_zero: 0,
        };
        let requantize = StageInfo {
            stage: Stage::Requantize { scales: 0, zero, elem },
            other: None,
            lists: vec![1_f32.to_le_bytes().repeat(channels as usize)],
            size: 4,
        };
        let stages = if is_integer { vec![requantize] } else { Vec::new() };
        self.add_layer(op.0, x, LayerKind::Conv(info), stages)
    }

    /// Reads a resampling each of whose elements is one of the operand, by integer factors.
    pub(super) fn resize(&mut self, op: ResizeOp) -> Result<(), Refusal> {
        let m = self.m;
        let x = op.x(m);
        check_image(m, x)?;
        let (rank, mut factors, mut strides) = (m.ctx.shape(m.value_type(x)).map_or(0, <[i64]>::len), [1; 2], [1; 2]);
        for (axis, sources) in nearest_sources(m, op)? {
            let axis = (axis + 2).checked_sub(rank).filter(|_| axis > 1 && rank < 5);
            let axis = axis.ok_or("a resampling of other axes than rows and columns")?;
            let is_up = |&f: &usize| sources.iter().enumerate().all(|(i, &from)| from == i / f);
            let is_down = |&f: &usize| sources.iter().enumerate().all(|(i, &from)| from == i * f);
            let found = (1..=sources.len()).find(is_up).filter(|f| sources.len().is_multiple_of(*f));
            match (found, sources.get(1).filter(|f| **f > 0 && is_down(f))) {
                (_, Some(&stride)) => strides[axis] = stride as u32,
                (Some(factor), None) => factors[axis] = factor as u32,
                (None, None) => return Err("a resampling by a factor that is not integer".into()),
            }
        }
        let y = m.result(op.0, 0);
        let ([rows, cols, _], [to_rows, to_cols, _]) = (feature_type(m, x)?.0, feature_type(m, y)?.0);
        let is_all = [(rows, to_rows, 0), (cols, to_cols, 1)]
            .into_iter()
            .all(|(from, to, axis)| factors[axis] == 1 || to == from * factors[axis]);
        is_all.then_some(()).ok_or("a resampling of a part of the operand")?;
        let window = WindowInfo { kernel: [1, 1], stride: strides, ..POINT };
        let kind = match (factors, strides) {
            (_, [1, 1]) => LayerKind::Upsample { factors },
            ([1, 1], _) => LayerKind::Pool { window, is_max: true, divisor: 0 },
            _ => return Err("a resampling to more rows and fewer columns, or the reverse".into()),
        };
        self.add_layer(op.0, x, kind, Vec::new())
    }

    /// Reads a softmax or a normalization across channels.
    pub(super) fn across_channels(&mut self, op: Op) -> Result<(), Refusal> {
        let (m, args) = (self.m, self.m.args(op).ok_or(NOT_DECLARED)?);
        let x = m.operands(op)[0];
        let (_, elem) = feature_type(m, x)?;
        matches!(elem, Elem::F32 | Elem::F16).then_some(()).ok_or(Refusal::of(x, OTHER_ELEMENTS))?;
        self.check_axis(op, x)?;
        let kind = if SoftmaxOp::cast(m, op).is_some() {
            let is_of_channels =
                !args.flag("legacy_flatten") || m.ctx.shape(m.value_type(x)).map(<[i64]>::len) == Some(2);
            is_of_channels
                .then_some(LayerKind::Softmax)
                .ok_or(Refusal::of_attr("legacy_flatten", "a softmax of several axes"))?
        } else {
            let size = args.int("size").and_then(|n| u32::try_from(n).ok()).filter(|&n| n % 2 == 1 && n < 1 << 16);
            let size = size.ok_or(Refusal::of_attr("size", "a neighbourhood that is even or too large"))?;
            let number = |name| float(&args, name).map(|n| n as f32);
            LayerKind::Lrn { size, numbers: [number("alpha")?, number("beta")?, number("bias")?] }
        };
        self.add_layer(op, x, kind, Vec::new())
    }
}

/// The element type of a tensor of the clusters.
pub(super) fn elem_of(dtype: DType) -> Option<Elem> {
    Some(match dtype {
        DType::F32 => Elem::F32,
        DType::F16 => Elem::F16,
        DType::I8 => Elem::I8,
        DType::U8 => Elem::U8,
        _ => return None,
    })
}
