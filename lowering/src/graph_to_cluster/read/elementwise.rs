//! Functions of elements as stages.

use super::super::network::StageInfo;
use super::affine_tables::{ClampedAffine, affine_tables};
use super::product::elem_of;
use super::{NOT_DECLARED, OTHER_ELEMENTS, Reader, feature_type, float};
use crate::operands::{constant, quantization};
use gradus_ir::{Op, OpArgs, OpDecl, Refusal, Value};
use gradus_networks::graph::{
    AddOp, BatchNormalizationOp, CastOp, ClipOp, DequantizeLinearOp, HardSigmoidOp, HardSwishOp, LeakyReluOp, MulOp,
    QLinearAddOp, QLinearMulOp, QuantizeLinearOp, ReluOp, SigmoidOp, TableOp,
};
use gradus_simulators::cluster::{Elem, Scale, Stage, Tile};

/// The rule of quantizations that no stage computes.
const OTHER_QUANTIZATION: &str = "a quantization between other types than f32 and bytes";

/// A stage that multiplies each channel and adds to it.
fn affine(scales: &[f32], biases: &[f32]) -> StageInfo {
    let bytes = |list: &[f32]| list.iter().flat_map(|n| n.to_le_bytes()).collect();
    StageInfo { stage: Stage::Affine { scales: 0 }, other: None, lists: vec![bytes(scales), bytes(biases)], size: 4 }
}

impl Reader<'_> {
    /// Reads a scale and a zero point of a whole tensor.
    pub(super) fn scale(&self, scale: Value, zero: Value) -> Result<Scale, Refusal> {
        let (scale, zero) = quantization(self.m, [scale, zero])?;
        Ok(Scale { scale, zero: zero as i32 })
    }

    /// Reads an elementwise op.
    pub(super) fn elementwise(&mut self, op: Op) -> Result<(), Refusal> {
        let m = self.m;
        if m.is_one_of(op, &[AddOp::INFO, MulOp::INFO]) {
            return self.binary(op);
        }
        if m.is_one_of(op, &[QLinearAddOp::INFO, QLinearMulOp::INFO]) {
            return self.quantized_binary(op);
        }
        let x = m.operands(op)[0];
        let stages = match TableOp::cast(m, op) {
            Some(table) => self.table(table, x)?,
            None => self.unary(op, x)?.into_iter().collect(),
        };
        self.stage(op, x, &stages)
    }

    /// A table; those of channels as lines, if they are some.
    fn table(&self, op: TableOp, x: Value) -> Result<Vec<StageInfo>, Refusal> {
        let m = self.m;
        let (_, from) = feature_type(m, x)?;
        let (_, to) = feature_type(m, m.result(op.0, 0))?;
        let tables = constant(m, op.table(m))?;
        let per_channel = tables.rank() == 2;
        let is_along_channels = m.args(op.0).and_then(|args| args.int("axis")) == Some(1);
        if per_channel && !is_along_channels {
            return Err(Refusal::of_attr("axis", "tables along another axis than that of the channels"));
        }
        if let Some(found) = per_channel.then(|| affine_tables(tables.bytes(), from, to)).flatten() {
            let ClampedAffine { scales, biases, low, high } = found;
            let clamp = StageInfo::plain(Stage::Clamp { low, high });
            let rounded = StageInfo::plain(Stage::Quantize { to: Scale { scale: 1.0, zero: 0 }, elem: to });
            return Ok(vec![affine(&scales, &biases), clamp, rounded]);
        }
        Ok(vec![StageInfo {
            stage: Stage::Table { tables: 0, per_channel, from, to },
            other: None,
            lists: vec![tables.bytes().to_vec()],
            size: if per_channel { 256 } else { 0 },
        }])
    }

    /// The stage of a function of one element; `None` for a change of type.
    fn unary(&self, op: Op, x: Value) -> Result<Option<StageInfo>, Refusal> {
        let (m, args) = (self.m, self.m.args(op).ok_or(NOT_DECLARED)?);
        let (_, from) = feature_type(m, x)?;
        let is_float = matches!(from, Elem::F32 | Elem::F16);
        let number = |name| float(&args, name).map(|n| n as f32);
        if CastOp::cast(m, op).is_some() {
            let (_, to) = feature_type(m, m.result(op, 0))?;
            let is_between_floats = is_float && matches!(to, Elem::F32 | Elem::F16);
            return is_between_floats.then_some(None).ok_or("a cast between other types than floats".into());
        }
        if m.is_one_of(op, &[QuantizeLinearOp::INFO, DequantizeLinearOp::INFO]) {
            return self.quantization(op, x).map(Some);
        }
        is_float.then_some(()).ok_or(Refusal::of(x, OTHER_ELEMENTS))?;
        if let Some(norm) = BatchNormalizationOp::cast(m, op) {
            return self.normalization(norm, &args).map(Some);
        }
        let stage = if ReluOp::cast(m, op).is_some() {
            Stage::Clamp { low: 0.0, high: f32::INFINITY }
        } else if let Some(clip) = ClipOp::cast(m, op) {
            let bounds = clip.constant_bounds(m).ok_or("bounds that are not constant")?;
            let [low, high] = bounds.map(|b| b.map(|b| b as f32));
            let (low, high) = (low.unwrap_or(f32::NEG_INFINITY), high.unwrap_or(f32::INFINITY));
            // The machine keeps a NaN of the operand, not of a bound.
            let is_number = !low.is_nan() && !high.is_nan();
            is_number.then_some(Stage::Clamp { low, high }).ok_or("a NaN as bound")?
        } else if LeakyReluOp::cast(m, op).is_some() {
            Stage::Leaky { slope: number("alpha")? }
        } else if SigmoidOp::cast(m, op).is_some() {
            Stage::Sigmoid
        } else if HardSigmoidOp::cast(m, op).is_some() {
            Stage::HardSigmoid { alpha: number("alpha")?, beta: number("beta")? }
        } else if HardSwishOp::cast(m, op).is_some() {
            Stage::HardSwish
        } else {
            return Err("a function without a stage".into());
        };
        Ok(Some(StageInfo::plain(stage)))
    }

    fn quantization(&self, op: Op, x: Value) -> Result<StageInfo, Refusal> {
        let m = self.m;
        let (_, from) = feature_type(m, x)?;
        let (_, to) = feature_type(m, m.result(op, 0))?;
        let &[_, scale, zero] = m.operands(op) else { return Err("no zero point".into()) };
        let scale = self.scale(scale, zero)?;
        let of = |value: Value| elem_of(m.ctx.dtype(m.ctx.element_type(m.value_type(value)))?);
        let is_integer = |e| matches!(e, Elem::I8 | Elem::U8);
        if QuantizeLinearOp::cast(m, op).is_some() {
            let is_known = from == Elem::F32 && is_integer(to) && of(zero) == Some(to);
            is_known.then_some(()).ok_or(OTHER_QUANTIZATION)?;
            return Ok(StageInfo::plain(Stage::Quantize { to: scale, elem: to }));
        }
        (is_integer(from) && to == Elem::F32).then_some(()).ok_or(OTHER_QUANTIZATION)?;
        Ok(StageInfo::plain(Stage::Dequantize { from: scale }))
    }

    /// A batch normalization as a factor and a summand of each channel.
    fn normalization(&self, norm: BatchNormalizationOp, args: &OpArgs<'_>) -> Result<StageInfo, Refusal> {
        let m = self.m;
        if args.flag("training_mode") || m.num_results(norm.0) != 1 {
            return Err("a normalization that trains".into());
        }
        let epsilon = float(args, "epsilon")?;
        let list = |value: Value| Ok::<_, Refusal>(constant(m, value)?.to_f64());
        let (scale, bias) = (list(norm.scale(m))?, list(norm.b(m))?);
        let (mean, variance) = (list(norm.input_mean(m))?, list(norm.input_var(m))?);
        let factors: Vec<f64> = scale.iter().zip(&variance).map(|(s, v)| s / (v + epsilon).sqrt()).collect();
        let summands = bias.iter().zip(&mean).zip(&factors).map(|((b, mean), f)| (b - mean * f) as f32);
        Ok(affine(&factors.iter().map(|&f| f as f32).collect::<Vec<_>>(), &summands.collect::<Vec<_>>()))
    }

    /// A constant of one element per channel, or one for all.
    fn per_channel(&self, value: Value, rank: usize, channels: usize) -> Option<Vec<f32>> {
        let tensor = constant(self.m, value).ok()?;
        let list: Vec<f32> = tensor.to_f64().iter().map(|&n| n as f32).collect();
        // Axes are aligned at the end; that of the channels is the second of `rank`.
        let axis = (tensor.rank() + 1).checked_sub(rank);
        match list.len() {
            1 => Some(vec![list[0]; channels]),
            n if n == channels && axis.is_some_and(|axis| tensor.shape().get(axis) == Some(&channels)) => Some(list),
            _ => None,
        }
    }

    fn binary(&mut self, op: Op) -> Result<(), Refusal> {
        let m = self.m;
        let &[a, b] = m.operands(op) else { return Err(NOT_DECLARED.into()) };
        let y = m.result(op, 0);
        let (extents, elem) = feature_type(m, y)?;
        matches!(elem, Elem::F32 | Elem::F16).then_some(()).ok_or(Refusal::of(y, OTHER_ELEMENTS))?;
        let is_sum = AddOp::cast(m, op).is_some();
        let rank = m.ctx.shape(m.value_type(y)).map_or(0, <[i64]>::len);
        for (x, other) in [(a, b), (b, a)] {
            if self.known(x).is_err() || feature_type(m, x)?.0 != extents {
                continue;
            }
            if let Some(list) = self.per_channel(other, rank, extents[2] as usize) {
                let (ones, zeros) = (vec![1.0; list.len()], vec![-0.0; list.len()]);
                let stage = if is_sum { affine(&ones, &list) } else { affine(&list, &zeros) };
                return self.stage(op, x, &[stage]);
            }
        }
        let other = Tile::default();
        self.combine(op, [a, b], extents, if is_sum { Stage::Add { other } } else { Stage::Mul { other } })
    }

    /// Applies a stage with a second operand, in the layer of the first or second.
    fn combine(&mut self, op: Op, [a, b]: [Value; 2], extents: [u32; 3], stage: Stage) -> Result<(), Refusal> {
        let m = self.m;
        let (ea, eb) = (feature_type(m, a)?.0, feature_type(m, b)?.0);
        let is_sum = matches!(stage, Stage::Add { .. } | Stage::QuantizedAdd { .. });
        let fits =
            |e: [u32; 3]| if is_sum { e == extents } else { e.iter().zip(&extents).all(|(e, x)| e == x || *e == 1) };
        let position = |r: &Self, x: Value| r.fusible(x, op);
        // The later layer computes the sum, so that nothing waits for it.
        let (first, second) = (position(self, a), position(self, b));
        let swap = ea != extents || eb == extents && second.is_some() && second >= first;
        let (x, other, stage) = if swap { (b, a, swapped(stage)) } else { (a, b, stage) };
        let (ex, eo) = if swap { (eb, ea) } else { (ea, eb) };
        if ex != extents || !fits(eo) {
            return Err(Refusal::of(other, "an operand that is repeated along an axis"));
        }
        let stage = StageInfo { other: Some(self.known(other)?), ..StageInfo::plain(stage) };
        self.stage(op, x, &[stage])
    }

    fn quantized_binary(&mut self, op: Op) -> Result<(), Refusal> {
        let m = self.m;
        let &[a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero] = m.operands(op) else {
            return Err(NOT_DECLARED.into());
        };
        let (x, y, to) = (self.scale(a_scale, a_zero)?, self.scale(b_scale, b_zero)?, self.scale(y_scale, y_zero)?);
        let (extents, elem) = feature_type(m, m.result(op, 0))?;
        let other = Tile::default();
        let stage = match QLinearAddOp::cast(m, op) {
            Some(_) => Stage::QuantizedAdd { other, x, y, to, elem },
            None => Stage::QuantizedMul { other, x, y, to, elem },
        };
        self.combine(op, [a, b], extents, stage)
    }
}

/// The stage with its operands exchanged.
fn swapped(stage: Stage) -> Stage {
    match stage {
        Stage::QuantizedAdd { other, x, y, to, elem } => Stage::QuantizedAdd { other, x: y, y: x, to, elem },
        Stage::QuantizedMul { other, x, y, to, elem } => Stage::QuantizedMul { other, x: y, y: x, to, elem },
        other => other,
    }
}
