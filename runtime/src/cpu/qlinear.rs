//! Elementwise sums and products of quantized tensors, with broadcasting: dequantized, combined and quantized in registers.

use super::map::Nest;
use super::{Kernel, Prepared, constant, dtype, extents};
use crate::vector::{Loops, ROUND, run_widest};
use crate::workers::Workers;
use gradus_ir::{DType, Module, OpArgs};

/// Number of elements whose computation takes as long as a vector operation.
const ELEMENTS_PER_STEP: usize = 4;

/// Scale and zero point of a tensor of bytes.
#[derive(Clone, Copy)]
struct Parameters {
    scale: f32,
    zero: f32,
    signed: bool,
}

impl Parameters {
    /// Reads the constant parameters of the operand or result `name`.
    fn of(args: &OpArgs<'_>, name: &str) -> Option<Parameters> {
        let (scale, zero) = (constant(args, &format!("{name}_scale"))?, constant(args, &format!("{name}_zero_point"))?);
        let (DType::F32, DType::U8 | DType::I8) = (scale.dtype(), zero.dtype()) else { return None };
        let (&[scale], &[zero_point]) = (&*scale.as_slice::<f32>(), &zero.to_i64()?[..]) else { return None };
        Some(Parameters { scale, zero: zero_point as f32, signed: zero.dtype() == DType::I8 })
    }

    /// Returns the number that a byte represents.
    #[inline(always)]
    fn real(self, byte: u8) -> f32 {
        // An offset of 128 flips the sign bit.
        let (flip, offset) = if self.signed { (0x80, 128.0) } else { (0, 0.0) };
        (f32::from(byte ^ flip) - offset - self.zero) * self.scale
    }

    /// Returns the nearest byte, half to even; that of NaN is zero.
    #[inline(always)]
    fn byte(self, real: f32) -> u8 {
        let (low, high) = if self.signed { (-128.0, 127.0) } else { (0.0, 255.0) };
        let (low, high) = (low - self.zero, high - self.zero);
        let x = real / self.scale;
        let x = if x < low { low } else { x };
        let x = if x > high { high } else { x };
        let byte = (x + ROUND + self.zero).to_bits() as u8;
        if x.is_nan() { 0 } else { byte }
    }
}

/// Prepares `graph.qlinear_add`.
pub(super) fn add(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    prepare(m, args, |a, b| a + b)
}

/// Prepares `graph.qlinear_mul`.
pub(super) fn mul(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    prepare(m, args, |a, b| a * b)
}

fn prepare(
    m: &Module,
    args: &OpArgs<'_>,
    f: impl Fn(f32, f32) -> f32 + Copy + Send + Sync + 'static,
) -> Option<Prepared> {
    let [a, b] = ["a", "b"].map(|name| args.operand_range(name).next());
    let (a, b) = (a?, b?);
    let shapes = [extents(m, args.operand_type(a))?, extents(m, args.operand_type(b))?];
    let parameters = [Parameters::of(args, "a")?, Parameters::of(args, "b")?, Parameters::of(args, "c")?];
    let is_typed = [(a, parameters[0]), (b, parameters[1])].iter().all(|&(operand, p)| {
        dtype(m, args.operand_type(operand)) == Some(if p.signed { DType::I8 } else { DType::U8 })
    });
    let nest = Nest::new(&extents(m, *args.result_types.first()?)?, &shapes).filter(|_| is_typed)?;
    let kernel = Kernel::shared([a, b], move |workers, data, out| {
        let run = nest.run().max(1);
        let threads = workers.for_steps(out.len() / ELEMENTS_PER_STEP);
        // Whole rows, or a part of the only one.
        let unit = if out.len() == run { 1 } else { run };
        let part = (out.len() / unit).div_ceil(Workers::parts(threads)).max(1) * unit;
        workers.share(threads, out.chunks_mut(part).enumerate(), |(i, out)| {
            run_widest(Rows { nest: &nest, parameters, f, a: data[0], b: data[1], out, first: i * part });
        });
        Ok(())
    });
    Some(kernel.into())
}

/// The output of a run: the elements from `first` on, in whole rows or a part of one.
struct Rows<'a, F> {
    nest: &'a Nest,
    parameters: [Parameters; 3],
    f: F,
    a: &'a [u8],
    b: &'a [u8],
    out: &'a mut [u8],
    first: usize,
}

impl<F: Fn(f32, f32) -> f32 + Copy> Loops for Rows<'_, F> {
    #[inline(always)]
    fn run(self) {
        let Rows { nest, parameters: [p, q, r], f, a, b, out, first } = self;
        let many = [nest.is_many(0), nest.is_many(1)];
        let starts = many.map(|is_many| if is_many { first % nest.run().max(1) } else { 0 });
        nest.rows(out, first, |offsets, out| {
            let (a, b) = (&a[offsets[0] + starts[0]..], &b[offsets[1] + starts[1]..]);
            let run = out.len();
            match many {
                [true, true] => {
                    let (a, b) = (&a[..run], &b[..run]);
                    out.iter_mut().zip(a).zip(b).for_each(|((y, &a), &b)| *y = r.byte(f(p.real(a), q.real(b))));
                }
                [true, false] => {
                    let b = q.real(b[0]);
                    out.iter_mut().zip(&a[..run]).for_each(|(y, &a)| *y = r.byte(f(p.real(a), b)));
                }
                [false, true] => {
                    let a = p.real(a[0]);
                    out.iter_mut().zip(&b[..run]).for_each(|(y, &b)| *y = r.byte(f(a, q.real(b))));
                }
                [false, false] => out.fill(r.byte(f(p.real(a[0]), q.real(b[0])))),
            }
        });
    }
}
