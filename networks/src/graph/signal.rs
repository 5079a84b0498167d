//! Signal processing and losses.

use super::args::{Inputs, choice, int, one, several, unary};
use super::unary::checked;
use super::{GENERIC, infer, onnx_dtype, onnx_type};
use gradus_dialects::constraint::{FLOAT_TENSOR, I64, INT_TENSOR, STRING, TENSOR};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{DType, DYNAMIC, OpArgs, OpDecl, OpInfo, Tensor, Traits, Violation, op};
use gradus_reference_kernels::{self as kernels, DftAttrs, LossReduction, MelAttrs};

/// Window functions. A row: struct, name, window, documentation, example.
macro_rules! windows {
    ($($Op:ident $name:literal $window:ident $doc:literal $example:literal;)*) => { $(
        #[doc = $doc]
        ///
        /// ```mlir
        #[doc = $example]
        /// ```
        #[op($name, format = GENERIC, infer = infer_window, verify = |m, op| checked(m, op, has_one_length), eval = |args, data| window(args, data, kernels::WindowFunction::$window))]
        pub struct $Op {
            /// Length, a scalar.
            size: Operand<INT_TENSOR>,
            /// ONNX type number of the result's element type.
            #[default = "1 : i64"]
            output_datatype: OptAttribute<I64>,
            /// Whether the window is periodic rather than symmetric.
            #[default = "1 : i64"]
            periodic: OptAttribute<I64>,
            /// Window, a vector.
            y: OpResult<TENSOR>,
        }
    )*

        /// Ops of this table.
        const WINDOWS: &[&OpInfo] = &[$($Op::INFO),*];
    };
}

windows! {
    HannWindowOp "graph.hann_window" HANN "Hann window."
        "%y = graph.hann_window %n : (tensor<i64>) -> tensor<?xf32>";
    HammingWindowOp "graph.hamming_window" HAMMING "Hamming window."
        "%y = graph.hamming_window %n {periodic = 0 : i64} : (tensor<i64>) -> tensor<?xf32>";
    BlackmanWindowOp "graph.blackman_window" BLACKMAN "Blackman window."
        "%y = graph.blackman_window %n : (tensor<i64>) -> tensor<?xf32>";
}

/// Returns the value of a known scalar integer operand.
fn known_int(args: &OpArgs<'_>, name: &str) -> Option<i64> {
    infer::ints(args, name)?.first().copied()
}

/// Returns the result element type given by an attribute.
fn output_type(args: &OpArgs<'_>) -> Result<(gradus_ir::Type, DType), Violation> {
    let number = int(args, "output_datatype")?;
    let known = onnx_type(args.ctx(), number).zip(onnx_dtype(number));
    known.ok_or_else(|| format!("{number} is not an ONNX type number").into())
}

fn has_one_length(args: &OpArgs<'_>) -> Result<(), Violation> {
    let several = args.ctx().static_shape(args.operand_type(0)).is_some_and(|shape| shape.iter().any(|&n| n != 1));
    if several { Err("requires one length".into()) } else { Ok(()) }
}

fn infer_window(args: &OpArgs<'_>) -> infer::Types {
    let size = known_int(args, "size").filter(|&n| n >= 0).unwrap_or(DYNAMIC);
    infer::one(args, Some(vec![size]), output_type(args)?.0)
}

fn window(args: &OpArgs<'_>, data: &[Datum], window: kernels::WindowFunction) -> Result<Vec<Datum>, Trap> {
    let size = Inputs::new(args, data).int("size")?.unwrap_or(0);
    one(window.of(size, args.flag("periodic"), output_type(args)?.1))
}

/// Discrete Fourier transform along an axis.
///
/// The last axis holds the real part, or real and imaginary part.
///
/// ```mlir
/// %y = graph.dft %x {onesided = 1 : i64} : (tensor<1x16x1xf32>) -> tensor<1x9x2xf32>
/// ```
#[op(
    "graph.dft",
    traits = Traits::OPERAND_SEGMENTS,
    format = "$x (`length` $dft_length^)? (`axis` $axis^)? attr-dict `:` functional-type(operands, results)",
    infer = infer_dft,
    eval = dft
)]
pub struct DftOp {
    /// Signal, or spectrum for the inverse transform.
    x: Operand<FLOAT_TENSOR>,
    /// Transform length, a scalar; the extent of the axis when absent. The operand is cropped or zero-padded.
    dft_length: OptOperand<INT_TENSOR>,
    /// Axis, a scalar; the one before the last when absent.
    axis: OptOperand<INT_TENSOR>,
    /// Whether to compute the inverse transform.
    #[default = "0 : i64"]
    inverse: OptAttribute<I64>,
    /// Whether the conjugate-symmetric half of the spectrum is omitted.
    #[default = "0 : i64"]
    onesided: OptAttribute<I64>,
    /// Spectrum, or signal.
    y: OpResult<FLOAT_TENSOR>,
}

fn dft_attrs(args: &OpArgs<'_>, length: Option<i64>, axis: Option<i64>) -> DftAttrs {
    DftAttrs { length, axis: axis.unwrap_or(-2), inverse: args.flag("inverse"), onesided: args.flag("onesided") }
}

fn infer_dft(args: &OpArgs<'_>) -> infer::Types {
    let elem = infer::elem(args, "x")?;
    let Some(dims) = infer::dims(args, "x") else { return infer::one(args, None, elem) };
    let known = |name| (known_int(args, name), args.opt_operand(name).is_some());
    let ((length, has_length), (axis, has_axis)) = (known("dft_length"), known("axis"));
    let input = infer::all_known(&dims).filter(|_| length.is_some() == has_length && axis.is_some() == has_axis);
    let Some(input) = input else { return infer::one(args, Some(infer::unknown(dims.len())), elem) };
    let (shape, _) = kernels::dft_dims(&input, &dft_attrs(args, length, axis))?;
    infer::one(args, Some(infer::extents(&shape)), elem)
}

fn dft(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    one(kernels::dft(i.get("x")?, &dft_attrs(args, i.int("dft_length")?, i.int("axis")?)))
}

/// Short-time Fourier transform: the transforms of overlapping frames of a signal.
///
/// From `[B, N, 1 or 2]` to `[B, frames, bins, 2]`.
///
/// ```mlir
/// %y = graph.stft %x, %step window %w : (tensor<1x128x1xf32>, tensor<i64>, tensor<16xf32>) -> tensor<1x?x9x2xf32>
/// ```
#[op(
    "graph.stft",
    traits = Traits::OPERAND_SEGMENTS,
    format = "$signal `,` $frame_step (`window` $window^)? (`length` $frame_length^)? attr-dict `:` functional-type(operands, results)",
    infer = infer_stft,
    eval = stft
)]
pub struct StftOp {
    /// Signal.
    signal: Operand<FLOAT_TENSOR>,
    /// Distance between the starts of frames, a scalar.
    frame_step: Operand<INT_TENSOR>,
    /// Window that is multiplied with each frame.
    window: OptOperand<FLOAT_TENSOR>,
    /// Frame length, a scalar; that of the window, or of the signal, when absent.
    frame_length: OptOperand<INT_TENSOR>,
    /// Whether the conjugate-symmetric half of the spectrum is omitted.
    #[default = "1 : i64"]
    onesided: OptAttribute<I64>,
    /// Spectra.
    y: OpResult<FLOAT_TENSOR>,
}

fn infer_stft(args: &OpArgs<'_>) -> infer::Types {
    let elem = infer::elem(args, "signal")?;
    let [batch, n] = match infer::dims(args, "signal").as_deref() {
        None => [DYNAMIC; 2],
        Some(&[batch, n, _]) => [batch, n],
        Some(other) => return Err(format!("requires a signal of [B, N, parts], not {}", infer::display(other)).into()),
    };
    let length = match (args.opt_operand("frame_length"), args.opt_operand("window")) {
        (Some(_), _) => known_int(args, "frame_length").unwrap_or(DYNAMIC),
        (None, Some(_)) => infer::dims(args, "window").and_then(|w| w.first().copied()).unwrap_or(DYNAMIC),
        (None, None) => n,
    };
    let count = match (infer::known(n), infer::known(length), known_int(args, "frame_step")) {
        (Some(n), Some(length), Some(step)) => kernels::frames(n, length, step)? as i64,
        _ => DYNAMIC,
    };
    let bins = infer::map(length, |l| Some(if args.flag("onesided") { l / 2 + 1 } else { l }));
    infer::one(args, Some(vec![batch, count, bins, 2]), elem)
}

fn stft(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    let (step, length) = (i.int("frame_step")?.unwrap_or(0), i.int("frame_length")?);
    one(kernels::stft(i.get("signal")?, step, i.opt("window")?, length, args.flag("onesided")))
}

/// Mel filter bank: the weight of each frequency bin in each mel band.
///
/// ```mlir
/// %y = graph.mel_weight_matrix %bands, %n, %rate, %low, %high : (tensor<i64>, tensor<i64>, tensor<i64>, tensor<f32>, tensor<f32>) -> tensor<?x?xf32>
/// ```
#[op("graph.mel_weight_matrix", format = GENERIC, infer = infer_mel, eval = mel)]
pub struct MelWeightMatrixOp {
    /// Number of mel bands, a scalar.
    num_mel_bins: Operand<INT_TENSOR>,
    /// Transform length, a scalar.
    dft_length: Operand<INT_TENSOR>,
    /// Sample rate in Hertz, a scalar.
    sample_rate: Operand<INT_TENSOR>,
    /// Lower edge of the first band in Hertz, a scalar.
    lower_edge_hertz: Operand<FLOAT_TENSOR>,
    /// Upper edge of the last band in Hertz, a scalar.
    upper_edge_hertz: Operand<FLOAT_TENSOR>,
    /// ONNX type number of the result's element type.
    #[default = "1 : i64"]
    output_datatype: OptAttribute<I64>,
    /// Weights, `[dft_length / 2 + 1, num_mel_bins]`.
    y: OpResult<TENSOR>,
}

fn infer_mel(args: &OpArgs<'_>) -> infer::Types {
    let count = |name| known_int(args, name).filter(|&n| n >= 0);
    let (bins, bands) = (count("dft_length").map_or(DYNAMIC, |n| n / 2 + 1), count("num_mel_bins").unwrap_or(DYNAMIC));
    infer::one(args, Some(vec![bins, bands]), output_type(args)?.0)
}

fn mel(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    let float = |name| Ok::<_, Trap>(i.get(name)?.to_f64().first().copied().unwrap_or(0.0));
    let mel = MelAttrs {
        bands: i.int("num_mel_bins")?.unwrap_or(0),
        dft_length: i.int("dft_length")?.unwrap_or(0),
        sample_rate: i.int("sample_rate")?.unwrap_or(0),
        lower: float("lower_edge_hertz")?,
        upper: float("upper_edge_hertz")?,
    };
    one(kernels::mel_weight_matrix(&mel, output_type(args)?.1))
}

/// Determinants of square matrices.
///
/// ```mlir
/// %y = graph.det %x : (tensor<4x3x3xf32>) -> tensor<4xf32>
/// ```
#[op("graph.det", format = GENERIC, infer = infer_det, eval = |_, data| unary(data, kernels::det))]
pub struct DetOp {
    /// Matrices, `[..., N, N]`.
    x: Operand<FLOAT_TENSOR>,
    /// Determinants, `[...]`.
    y: OpResult<FLOAT_TENSOR>,
}

fn infer_det(args: &OpArgs<'_>) -> infer::Types {
    let elem = infer::elem(args, "x")?;
    match infer::dims(args, "x").as_deref() {
        None => infer::one(args, None, elem),
        Some(&[ref batch @ .., a, b]) if infer::unify(a, b).is_ok() => infer::one(args, Some(batch.to_vec()), elem),
        Some(other) => Err(format!("requires square matrices, not {}", infer::display(other)).into()),
    }
}

/// Losses. A row: struct, name, optional second result, documentation, example.
macro_rules! losses {
    ($($Op:ident $name:literal { $($(#[$rd:meta])* $more:ident)? } $doc:literal $example:literal;)*) => { $(
        #[doc = $doc]
        ///
        /// Targets equal to `ignore_index` do not contribute.
        ///
        /// ```mlir
        #[doc = $example]
        /// ```
        #[op($name, format = GENERIC, infer = infer_loss, eval = loss, verify = |m, op| checked(m, op, loss_reduction))]
        pub struct $Op {
            /// Scores of each class, `[N, C, D...]`.
            x: Operand<FLOAT_TENSOR>,
            /// Target classes, `[N, D...]`.
            target: Operand<INT_TENSOR>,
            /// Class weights, `[C]`.
            weight: OptOperand<FLOAT_TENSOR>,
            /// Target class that does not contribute.
            ignore_index: OptAttribute<I64>,
            /// Reduction: `none`, `mean` or `sum`.
            #[default = "\"mean\""]
            reduction: OptAttribute<STRING>,
            /// Loss.
            loss: OpResult<FLOAT_TENSOR>,
            $($(#[$rd])* $more: OptResult<FLOAT_TENSOR>,)?
        }
    )*

        /// Ops of this table.
        const LOSSES: &[&OpInfo] = &[$($Op::INFO),*];
    };
}

losses! {
    NegativeLogLikelihoodLossOp "graph.negative_log_likelihood_loss" {}
        "Negative log-likelihood loss: the negative log-probability of the target class."
        "%y = graph.negative_log_likelihood_loss %x, %t : (tensor<4x3xf32>, tensor<4xi64>) -> tensor<f32>";
    SoftmaxCrossEntropyLossOp "graph.softmax_cross_entropy_loss" {
        /// Log-probabilities.
        log_prob
    }
        "Softmax cross-entropy loss: the negative logarithm of the softmax at the target class."
        "%y:2 = graph.softmax_cross_entropy_loss %x, %t {reduction = \"none\"} : (tensor<4x3xf32>, tensor<4xi64>) -> (tensor<4xf32>, tensor<4x3xf32>)";
}

/// Returns the reduction of a loss.
///
/// # Errors
/// Unknown reductions.
pub fn loss_reduction(args: &OpArgs<'_>) -> Result<LossReduction, Violation> {
    let kinds = [("none", LossReduction::None), ("mean", LossReduction::Mean), ("sum", LossReduction::Sum)];
    choice(args, "reduction", &kinds)
}

fn infer_loss(args: &OpArgs<'_>) -> infer::Types {
    let elem = infer::common_elem(args, &["x", "weight"])?;
    let dims = if loss_reduction(args)? == LossReduction::None { infer::dims(args, "target") } else { Some(vec![]) };
    let mut types = infer::one(args, dims, elem)?;
    if args.info.results.len() > 1 && args.result_types.len() > 1 {
        types.push(infer::ty(args, "x")?);
    }
    Ok(types)
}

fn loss(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    let (x, target, weight) = (i.get("x")?, i.get("target")?, i.opt("weight")?);
    let (ignored, how) = (args.int("ignore_index"), loss_reduction(args)?);
    let plain = || kernels::negative_log_likelihood_loss(x, target, weight, ignored, how).map(|loss| vec![loss]);
    let softmax = || kernels::softmax_cross_entropy_loss(x, target, weight, ignored, how).map(Vec::from);
    let results: Vec<Tensor> = if args.info.results.len() > 1 { softmax()? } else { plain()? };
    several(args, results)
}

/// Ops of this file.
pub(super) const OPS: &[&[&OpInfo]] =
    &[WINDOWS, LOSSES, &[DftOp::INFO, StftOp::INFO, MelWeightMatrixOp::INFO, DetOp::INFO]];
