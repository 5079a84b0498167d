//! Quantization and dequantization.

use super::{Kernel, Prepared, constant, dtype, extents, floats, floats_mut};
use crate::vector::{Loops, MultiplyAdd, ROUND, run_widest};
use gradus_ir::{DType, Module, OpArgs};
use gradus_reference_kernels::shape::normalize_axis;

/// Scales and zero points, per axis or per tensor.
struct Scales {
    scales: Vec<f32>,
    zeros: Vec<f32>,
    /// Number of consecutive elements with the same scale.
    inner: usize,
}

impl Scales {
    /// Returns the constant scales and zero points of an op between f32 and bytes.
    fn of(m: &Module, args: &OpArgs<'_>, bytes: DType) -> Option<Scales> {
        let is_plain = matches!(bytes, DType::U8 | DType::I8) && args.int("block_size").unwrap_or(0) == 0;
        let (shape, scale) =
            (extents(m, args.operand_type(0))?, constant(args, "y_scale").or_else(|| constant(args, "x_scale"))?);
        if !is_plain || scale.dtype() != DType::F32 || scale.rank() > 1 {
            return None;
        }
        let zero = ["y_zero_point", "x_zero_point"].into_iter().find(|name| args.opt_operand(name).is_some());
        let zeros = match zero {
            Some(name) => constant(args, name)?.to_i64()?.into_iter().map(|zero| zero as f32).collect(),
            None => vec![0.0; scale.len()],
        };
        let (inner, fits) = match scale.shape() {
            [] => (shape.iter().product(), true),
            _ => {
                let axis = normalize_axis(args.int("axis")?, shape.len()).ok()?;
                (shape[axis + 1..].iter().product(), [1, shape[axis]].contains(&scale.len()))
            }
        };
        let scales = scale.as_slice::<f32>().into_owned();
        (fits && zeros.len() == scales.len() && inner > 0).then_some(Scales { scales, zeros, inner })
    }

    /// Returns the scale and zero point of a row of `inner` elements.
    fn at(&self, row: usize) -> (f32, f32) {
        (self.scales[row % self.scales.len()], self.zeros[row % self.zeros.len()])
    }
}

/// Prepares `graph.quantize_linear`: rounds half to even; NaN becomes zero.
pub(super) fn quantize(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let to = dtype(m, *args.result_types.first()?)?;
    let precision = args.int("precision").unwrap_or(0);
    let is_single = dtype(m, args.operand_type(0)) == Some(DType::F32) && matches!(precision, 0 | 1);
    let scales = Scales::of(m, args, to).filter(|_| is_single)?;
    let range = if to == DType::I8 { (-128.0, 127.0) } else { (0.0, 255.0) };
    let kernel = Kernel::new([0], move |data, out| {
        run_widest(Quantize { scales: &scales, range, x: floats(data[0]), out });
        Ok(())
    });
    Some(kernel.into())
}

/// Prepares `graph.dequantize_linear`.
pub(super) fn dequantize(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let from = dtype(m, args.operand_type(0))?;
    let is_single = dtype(m, *args.result_types.first()?) == Some(DType::F32);
    let scales = Scales::of(m, args, from).filter(|_| is_single)?;
    let is_signed = from == DType::I8;
    let kernel = Kernel::new([0], move |data, out| {
        run_widest(Dequantize { scales: &scales, is_signed, x: data[0], out: floats_mut(out) });
        Ok(())
    });
    Some(kernel.into())
}

/// Loops from floats to bytes of a range.
struct Quantize<'a> {
    scales: &'a Scales,
    range: (f32, f32),
    x: &'a [f32],
    out: &'a mut [u8],
}

impl Loops for Quantize<'_> {
    #[inline(always)]
    fn run<M: MultiplyAdd>(self) {
        let Quantize { scales, range, x, out } = self;
        for (row, (x, out)) in x.chunks(scales.inner).zip(out.chunks_mut(scales.inner)).enumerate() {
            let (scale, zero) = scales.at(row);
            let (low, high) = (range.0 - zero, range.1 - zero);
            let byte = |x: f32| {
                let x = x / scale;
                let x = if x < low { low } else { x };
                let x = if x > high { high } else { x };
                let byte = ((x + ROUND).to_bits() as u8).wrapping_add(zero as i16 as u8);
                if x.is_nan() { 0 } else { byte }
            };
            out.iter_mut().zip(x).for_each(|(y, &x)| *y = byte(x));
        }
    }
}

/// Loops from bytes to floats.
struct Dequantize<'a> {
    scales: &'a Scales,
    is_signed: bool,
    x: &'a [u8],
    out: &'a mut [f32],
}

impl Loops for Dequantize<'_> {
    #[inline(always)]
    fn run<M: MultiplyAdd>(self) {
        let Dequantize { scales, is_signed, x, out } = self;
        for (row, (x, out)) in x.chunks(scales.inner).zip(out.chunks_mut(scales.inner)).enumerate() {
            let (scale, zero) = scales.at(row);
            let all = out.iter_mut().zip(x);
            if is_signed {
                all.for_each(|(y, x)| *y = (f32::from(x.cast_signed()) - zero) * scale);
            } else {
                all.for_each(|(y, &x)| *y = (f32::from(x) - zero) * scale);
            }
        }
    }
}
