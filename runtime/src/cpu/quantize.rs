//! Floats as bytes, and back.

use super::{Kernel, Prepared, constant, dtype, extents, floats, floats_mut};
use gradus_dialects::graph::kernels::shape::normalize_axis;
use gradus_ir::{DType, Module, OpArgs};

/// Scales and zero points along an axis, or one for all.
struct Scales {
    scales: Vec<f32>,
    zeros: Vec<f32>,
    /// How many elements follow each other that have one of them.
    inner: usize,
}

impl Scales {
    /// Those of an op of floats of 32 bits and bytes, if they are constant.
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

    /// The scale and zero point of the elements from so many times `inner` on.
    fn at(&self, row: usize) -> (f32, f32) {
        (self.scales[row % self.scales.len()], self.zeros[row % self.zeros.len()])
    }
}

/// `graph.quantize_linear`: the quotient is rounded half to even. What is no number is zero.
pub(super) fn quantize(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let to = dtype(m, *args.result_types.first()?)?;
    let precision = args.int("precision").unwrap_or(0);
    let is_single = dtype(m, args.operand_type(0)) == Some(DType::F32) && matches!(precision, 0 | 1);
    let scales = Scales::of(m, args, to).filter(|_| is_single)?;
    let [low, high] = if to == DType::I8 { [-128.0_f32, 127.0] } else { [0.0, 255.0] };
    let kernel = Kernel::new([0], move |data, out| {
        let rows = floats(data[0]).chunks(scales.inner).zip(out.chunks_mut(scales.inner));
        for (row, (x, out)) in rows.enumerate() {
            let (scale, zero) = scales.at(row);
            // What is between is no more than 16 bits, of which bytes are the last eight.
            let byte = |x: f32| ((x / scale).round_ties_even() + zero).clamp(low, high) as i16 as u8;
            out.iter_mut().zip(x).for_each(|(y, &x)| *y = byte(x));
        }
        Ok(())
    });
    Some(kernel.into())
}

/// `graph.dequantize_linear`.
pub(super) fn dequantize(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let from = dtype(m, args.operand_type(0))?;
    let is_single = dtype(m, *args.result_types.first()?) == Some(DType::F32);
    let scales = Scales::of(m, args, from).filter(|_| is_single)?;
    let is_signed = from == DType::I8;
    let kernel = Kernel::new([0], move |data, out| {
        let rows = data[0].chunks(scales.inner).zip(floats_mut(out).chunks_mut(scales.inner));
        for (row, (x, out)) in rows.enumerate() {
            let (scale, zero) = scales.at(row);
            let number = |x: u8| if is_signed { f32::from(x.cast_signed()) } else { f32::from(x) };
            out.iter_mut().zip(x).for_each(|(y, &x)| *y = (number(x) - zero) * scale);
        }
        Ok(())
    });
    Some(kernel.into())
}
