//! Functions of one value between it and a quantization, and the quantization of their argument with the least error.

use crate::qdq_to_integer::quantization::Quantization;
use crate::qdq_to_integer::table::evaluate;
use gradus_ir::{DType, Module, Tensor, Type, Value};

/// Number of steps of 8 bits.
const STEPS: f64 = 255.0;
/// Points of a grid that find the range of a function.
const GRID: usize = 256;
/// Points for each step of the argument at which the error is measured.
const PER_STEP: usize = 4;
/// Rounds in which the range is narrowed.
const ROUNDS: usize = 12;
/// Changes of the result, in its steps, that may be cut off beyond an end of the range.
const CUTS: [f64; 6] = [0.0, 0.125, 0.25, 0.5, 0.75, 1.0];

/// A function of one value.
pub(super) struct ArgumentFunction<'m> {
    m: &'m Module,
    source: Value,
    result: Value,
    /// Number of channels with functions of their own.
    channels: usize,
}

/// The quantization of an argument.
pub(super) struct QuantizedArgument {
    pub(super) q: Quantization,
    /// The largest error of the result, in its steps.
    pub(super) error: f64,
    /// The largest change of the result, in its steps, by one step of the argument.
    pub(super) slope: f64,
}

impl<'m> ArgumentFunction<'m> {
    /// Returns `result` as a function of `source`.
    pub(super) fn of(m: &'m Module, source: Value, result: Value) -> Option<ArgumentFunction<'m>> {
        let channels = m.ctx.shape(m.value_type(source))?.get(1).copied().unwrap_or(1);
        [1, usize::try_from(channels).ok()?].into_iter().find_map(|channels| {
            let function = ArgumentFunction { m, source, result, channels };
            function.values(&[0.0, 1.0]).is_some().then_some(function)
        })
    }

    /// Returns the results for arguments, those of all channels next to each other.
    fn values(&self, arguments: &[f64]) -> Option<Vec<f64>> {
        let rank = self.m.ctx.shape(self.m.value_type(self.source))?.len();
        let mut shape = vec![1; rank.max(1)];
        shape[0] = arguments.len();
        if let Some(axis) = shape.get_mut(1) {
            *axis = self.channels;
        }
        let all = arguments.iter().flat_map(|&x| std::iter::repeat_n(x as f32, self.channels)).collect::<Vec<f32>>();
        let values = evaluate(self.m, self.source, Tensor::from_vec(&shape, all), self.result)?.to_f64();
        values.iter().all(|value| value.is_finite()).then_some(values)
    }

    /// Returns the least and the largest result for a range of arguments.
    pub(super) fn image(&self, range: [f64; 2]) -> Option<[f64; 2]> {
        let values = self.values(&grid(range, 16 * GRID))?;
        let fold = |from: f64, by: fn(f64, f64) -> f64| values.iter().copied().fold(from, by);
        Some([fold(f64::INFINITY, f64::min), fold(f64::NEG_INFINITY, f64::max)])
    }

    /// Returns the quantization of the argument, in a range, with the least error of the result that is quantized to `to`.
    pub(super) fn argument(&self, range: [f64; 2], to: &Quantization) -> Option<QuantizedArgument> {
        let steps = FunctionInSteps { function: self, to: RepresentableRange::of(to)? };
        let candidates = CUTS.into_iter().filter_map(|cut| {
            let q = of_range(self.m, steps.narrowed(range, cut)?, to.elem);
            let [error, slope] = steps.error(&q, range)?;
            Some(QuantizedArgument { q, error, slope })
        });
        candidates.min_by(|a, b| a.error.total_cmp(&b.error))
    }
}

/// A function in steps of its quantized result.
struct FunctionInSteps<'a, 'm> {
    function: &'a ArgumentFunction<'m>,
    to: RepresentableRange,
}

impl FunctionInSteps<'_, '_> {
    fn values(&self, arguments: &[f64]) -> Option<Vec<f64>> {
        let RepresentableRange { scale, reals: [low, high] } = self.to;
        Some(self.function.values(arguments)?.into_iter().map(|y| y.clamp(low, high) / scale).collect())
    }

    /// Returns the range without its ends, where the result differs from that at the end by at most `cut` steps.
    fn narrowed(&self, [mut low, mut high]: [f64; 2], cut: f64) -> Option<[f64; 2]> {
        let channels = self.function.channels;
        let ends = [self.values(&[low])?, self.values(&[high])?];
        for _ in 0..ROUNDS {
            let points = grid([low, high], GRID);
            let values = self.values(&points)?;
            let rows = || values.chunks_exact(channels);
            let is_end = |row: &&[f64], side: usize| row.iter().zip(&ends[side]).all(|(a, b)| (a - b).abs() <= cut);
            let first = rows().take_while(|row| is_end(row, 0)).count().clamp(1, GRID) - 1;
            let last = GRID - rows().rev().take_while(|row| is_end(row, 1)).count().clamp(1, GRID);
            if first >= last || first == 0 && last == GRID - 1 {
                break;
            }
            (low, high) = (points[first], points[last]);
        }
        Some([low, high])
    }

    /// Returns the largest difference that quantizing the argument makes, and the largest one between neighbours.
    fn error(&self, q: &Quantization, [low, high]: [f64; 2]) -> Option<[f64; 2]> {
        let RepresentableRange { scale, reals: [first, last] } = RepresentableRange::of(q)?;
        let mut points = grid([first, last], STEPS as usize * PER_STEP + 1);
        points.extend(grid([low.min(first), first], GRID));
        points.extend(grid([last, high.max(last)], GRID));
        points.retain(|point| (low..=high).contains(point));
        let rounded: Vec<f64> =
            points.iter().map(|x| ((x - first) / scale).round().clamp(0.0, STEPS) * scale + first).collect();
        let largest = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let error = largest(&self.values(&points)?, &self.values(&rounded)?);
        let all = self.values(&grid([first, last], STEPS as usize + 1))?;
        Some([error, largest(&all, all.get(self.function.channels..)?)])
    }
}

/// The real numbers that quantized integers represent.
pub(super) struct RepresentableRange {
    pub(super) scale: f64,
    /// The least and the largest one.
    pub(super) reals: [f64; 2],
}

impl RepresentableRange {
    /// Returns the range of a quantization by scalars.
    pub(super) fn of(q: &Quantization) -> Option<RepresentableRange> {
        let scale = f64::from(q.scale_of(0));
        let zero = *q.zero.to_i64()?.first()? - least(q.zero.dtype());
        let low = -(zero as f64) * scale;
        Some(RepresentableRange { scale, reals: [low, low + STEPS * scale] })
    }
}

/// Returns the quantization to 8 bits of real numbers in a range, and 0.
pub(super) fn of_range(m: &Module, [low, high]: [f64; 2], elem: Type) -> Quantization {
    let (low, high) = (low.min(0.0), high.max(0.0));
    let scale = if high > low { ((high - low) / STEPS) as f32 } else { 1.0 };
    let scale = scale.max(f32::MIN_POSITIVE);
    let dtype = m.ctx.dtype(elem).unwrap_or(DType::U8);
    let zero = (-low / f64::from(scale)).round().clamp(0.0, STEPS) as i64 + least(dtype);
    let zero = gradus_ir::eval::ints_to_tensor(dtype, &[], &[zero]);
    Quantization { scale: Tensor::scalar(scale), zero, axis: None, elem }
}

/// The least integer of a type of 8 bits.
fn least(dtype: DType) -> i64 {
    if dtype == DType::I8 { -128 } else { 0 }
}

/// Returns equidistant points from one end of a range to the other.
fn grid([low, high]: [f64; 2], count: usize) -> Vec<f64> {
    (0..count).map(|i| low + (high - low) * i as f64 / (count - 1) as f64).collect()
}
