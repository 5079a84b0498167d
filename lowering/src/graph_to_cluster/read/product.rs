//! Convolutions, matrix products and pools as layers.

use super::super::network::{ConvInfo, Layer, LayerKind, StageInfo, WindowInfo};
use super::{Reader, feature_type};
use gradus_dialects::graph::{
    AveragePoolOp, ConvOp, GemmOp, GlobalMaxPoolOp, LrnOp, MatMulOp, MaxPoolOp, QLinearConvOp, SoftmaxOp, convolution,
    pool_window,
};
use gradus_ir::{DType, Op, OpDecl, Tensor, Value};
use gradus_reference_kernels::shape::Window;
use gradus_simulators::cluster::{Elem, Stage};

/// Largest kernel extent, stride, dilation and padding.
const MAX_WINDOW: usize = 1 << 12;

/// The extents of a window in two dimensions.
fn window_info(window: &Window) -> Option<WindowInfo> {
    let all = [&window.kernel, &window.strides, &window.dilations, &window.pads_begin, &window.pads_end];
    if all.iter().any(|list| list.iter().any(|&n| n > MAX_WINDOW)) {
        return None;
    }
    let two = |list: &[usize], default: u32| match list {
        [w] => Some([default, *w as u32]),
        [h, w] => Some([*h as u32, *w as u32]),
        _ => None,
    };
    Some(WindowInfo {
        kernel: two(&window.kernel, 1)?,
        stride: two(&window.strides, 1)?,
        dilation: two(&window.dilations, 1)?,
        pad: two(&window.pads_begin, 0)?,
    })
}

/// The window of a product of vectors.
const POINT: WindowInfo = WindowInfo { kernel: [1, 1], stride: [1, 1], dilation: [1, 1], pad: [0, 0] };

/// Reorders `[K, D, T]`, elements of `size` bytes, to `[K, T, D]`.
fn taps_before_depth(bytes: &[u8], size: usize, [kernels, depth, taps]: [usize; 3]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    for k in 0..kernels {
        for tap in 0..taps {
            for d in 0..depth {
                let at = ((k * depth + d) * taps + tap) * size;
                out.extend_from_slice(&bytes[at..at + size]);
            }
        }
    }
    out
}

/// The bytes of a bias in f32.
fn f32_bias(bias: &Tensor, factor: f64) -> Vec<u8> {
    bias.to_f64().iter().flat_map(|b| ((b * factor) as f32).to_le_bytes()).collect()
}

impl Reader<'_> {
    /// Reads a convolution or a product with a constant matrix.
    pub(super) fn product(&mut self, op: Op) -> Option<()> {
        if let Some(conv) = QLinearConvOp::cast(self.m, op) {
            return self.quantized_conv(conv);
        }
        if let Some(conv) = ConvOp::cast(self.m, op) {
            let m = self.m;
            let bias = conv.b(m).map(|b| self.constant(b)).map_or(Some(None), |b| b.map(Some))?;
            let info = self.conv(op, conv.x(m), &self.constant(conv.w(m))?, bias.map(|b| f32_bias(&b, 1.0)))?;
            return self.add_layer(op, conv.x(m), LayerKind::Conv(info), Vec::new());
        }
        self.matrix(op)
    }

    fn add_layer(&mut self, op: Op, x: Value, kind: LayerKind, stages: Vec<StageInfo>) -> Option<()> {
        let layer = Layer { kind, stages, ..self.copy(op, self.known(x)?) };
        self.add(layer, self.m.result(op, 0))
    }

    fn conv(&self, op: Op, x: Value, weights: &Tensor, bias: Option<Vec<u8>>) -> Option<ConvInfo> {
        let (group, window) = convolution(self.m, op).ok()?;
        let ([_, _, channels], elem) = feature_type(self.m, x)?;
        let ([rows, cols, kernels], _) = feature_type(self.m, self.m.result(op, 0))?;
        if rows == 0 || cols == 0 || kernels == 0 {
            return None;
        }
        let weights_elem = elem_of(weights.dtype())?;
        let is_float = |e| matches!(e, Elem::F32 | Elem::F16);
        if is_float(elem) != is_float(weights_elem) || is_float(elem) && elem != weights_elem {
            return None;
        }
        let taps = window.kernel.iter().product();
        let group_in = channels / group as u32;
        Some(ConvInfo {
            window: window_info(&window)?,
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

    fn quantized_conv(&mut self, conv: QLinearConvOp) -> Option<()> {
        let m = self.m;
        let weights = self.constant(conv.w(m))?;
        let kernels = *weights.shape().first()?;
        let zeros = self.constant(conv.w_zero_point(m))?.to_i64()?;
        let is_same = zeros.iter().all(|&z| z == zeros[0]);
        let bias = conv.b(m).map(|b| self.constant(b)).map_or(Some(None), |b| b.map(Some))?;
        let bias = match bias {
            Some(b) if b.dtype() == DType::I32 => Some(b.bytes().to_vec()),
            Some(_) => return None,
            None => None,
        };
        let (from, to) =
            (self.scale(conv.x_scale(m), conv.x_zero_point(m))?, self.scale(conv.y_scale(m), conv.y_zero_point(m))?);
        let scales = self.constant(conv.w_scale(m))?;
        let is_fit = scales.dtype() == DType::F32 && (scales.len() == 1 || scales.len() == kernels);
        if !is_same || zeros.is_empty() || !is_fit {
            return None;
        }
        let scales = scales.as_slice::<f32>();
        let scale = |k: usize| (scales[if scales.len() == 1 { 0 } else { k }] * from.scale / to.scale).to_le_bytes();
        let mut info = self.conv(conv.0, conv.x(m), &weights, bias)?;
        (info.zero, info.weights_zero) = (from.zero, zeros[0] as i32);
        let elem = feature_type(m, m.result(conv.0, 0))?.1;
        let requantize = StageInfo {
            stage: Stage::Requantize { scales: 0, zero: to.zero, elem },
            other: None,
            lists: vec![(0..kernels).flat_map(scale).collect()],
            size: 4,
        };
        self.add_layer(conv.0, conv.x(m), LayerKind::Conv(info), vec![requantize])
    }

    /// Reads a product of a vector with a constant matrix. A vector of a feature is a convolution with a kernel of its extents.
    fn matrix(&mut self, op: Op) -> Option<()> {
        let m = self.m;
        let args = m.args(op)?;
        let (a, b) = (*m.operands(op).first()?, *m.operands(op).get(1)?);
        let is_gemm = GemmOp::cast(m, op).is_some();
        if !is_gemm && MatMulOp::cast(m, op).is_none() || is_gemm && args.flag("transA") {
            return None;
        }
        let number = |name: &str| if is_gemm { args.float(name) } else { Some(1.0) };
        let (alpha, beta, transposed) = (number("alpha")?, number("beta")?, is_gemm && args.flag("transB"));
        let weights = self.constant(b)?;
        let &[rows, cols] = weights.shape() else { return None };
        let (kernels, depth) = if transposed { (rows, cols) } else { (cols, rows) };
        let input = self.flat.get(&a).copied().or_else(|| self.known(a))?;
        let ([height, width, channels], elem) = (self.net.features[input].extents, self.net.features[input].elem);
        let (y, _) = feature_type(m, m.result(op, 0))?;
        let is_vector = y == [1, 1, kernels as u32] && depth == (height * width * channels) as usize;
        if alpha != 1.0
            || !is_vector
            || elem_of(weights.dtype()) != Some(elem)
            || !matches!(elem, Elem::F32 | Elem::F16)
        {
            return None;
        }
        let bias = match m.operands(op).get(2) {
            Some(&c) => Some(self.constant(c).filter(|c| c.len() == kernels || c.len() == 1)?),
            None => None,
        };
        let bias = bias.map(|c| f32_bias(&c, beta)).map(|c| if c.len() == 4 { c.repeat(kernels) } else { c });
        let size = weights.dtype().size();
        let bytes = if transposed {
            weights.bytes().to_vec()
        } else {
            taps_before_depth(weights.bytes(), size, [1, rows, cols])
        };
        let taps = (height * width) as usize;
        let info = ConvInfo {
            window: WindowInfo { kernel: [height, width], ..POINT },
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
    pub(super) fn pool(&mut self, op: Op) -> Option<()> {
        let m = self.m;
        let x = *m.operands(op).first()?;
        let ([rows, cols, _], elem) = feature_type(m, x)?;
        let is_max = m.is_one_of(op, &[MaxPoolOp::INFO, GlobalMaxPoolOp::INFO]);
        if m.num_results(op) != 1 || !is_max && !matches!(elem, Elem::F32 | Elem::F16) {
            return None;
        }
        let is_window = m.is_one_of(op, &[MaxPoolOp::INFO, AveragePoolOp::INFO]);
        let window = match is_window {
            true => window_info(&pool_window(m, op).ok()?)?,
            false => WindowInfo { kernel: [rows, cols], ..POINT },
        };
        let with_pads = !is_max && is_window && m.args(op)?.flag("count_include_pad");
        let divisor = match with_pads {
            // Windows that the ceiling mode adds have fewer elements.
            true if m.args(op)?.flag("ceil_mode") => return None,
            true => window.kernel[0] * window.kernel[1],
            false => 0,
        };
        self.add_layer(op, x, LayerKind::Pool { window, is_max, divisor }, Vec::new())
    }

    /// Reads a softmax or a normalization across channels.
    pub(super) fn across_channels(&mut self, op: Op) -> Option<()> {
        let (m, args) = (self.m, self.m.args(op)?);
        let x = *m.operands(op).first()?;
        let rank = m.ctx.shape(m.value_type(x))?.len() as i64;
        let (_, elem) = feature_type(m, x)?;
        if args.int("axis")?.rem_euclid(rank) != 1 || !matches!(elem, Elem::F32 | Elem::F16) {
            return None;
        }
        let kind = if SoftmaxOp::cast(m, op).is_some() {
            (!args.flag("legacy_flatten") || rank == 2).then_some(LayerKind::Softmax)?
        } else {
            LrnOp::cast(m, op)?;
            let number = |name: &str| args.float(name).map(|n| n as f32);
            let size = u32::try_from(args.int("size")?).ok().filter(|&n| n % 2 == 1 && n < 1 << 16)?;
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
