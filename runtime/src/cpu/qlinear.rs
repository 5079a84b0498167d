//! Elementwise sums and products of quantized tensors, with broadcasting: dequantized, combined and quantized in registers.

use super::map::{Nest, RowKernel};
use super::{Kernel, Prepared, constant, dtype, extents};
use crate::vector::{Loops, ROUND, run_widest};
use crate::workers::Workers;
use gradus_ir::{DType, Module, OpArgs};
use std::marker::PhantomData;

/// Number of elements whose computation takes as long as a vector operation.
const ELEMENTS_PER_STEP: usize = 4;

/// Scale and zero point of a tensor of bytes.
#[derive(Clone, Copy)]
struct Parameters {
    scale: f32,
    zero: f32,
    /// The bit that is flipped in signed bytes, so that the least integer is 0.
    flip: u8,
    /// The zero point of flipped bytes.
    shift: f32,
    /// The bounds of integers minus the zero point.
    range: [f32; 2],
}

impl Parameters {
    /// Reads the constant parameters of the operand or result `name`.
    fn of(args: &OpArgs<'_>, name: &str) -> Option<Parameters> {
        let (scale, zero) = (constant(args, &format!("{name}_scale"))?, constant(args, &format!("{name}_zero_point"))?);
        let (flip, least) = match (scale.dtype(), zero.dtype()) {
            (DType::F32, DType::U8) => (0, 0.0),
            (DType::F32, DType::I8) => (0x80, -128.0),
            _ => return None,
        };
        let (&[scale], &[zero]) = (&*scale.as_slice::<f32>(), &zero.to_i64()?[..]) else { return None };
        let zero = zero as f32;
        Some(Parameters { scale, zero, flip, shift: zero - least, range: [least - zero, least + 255.0 - zero] })
    }

    /// Returns the number that a byte represents.
    #[inline(always)]
    fn real(self, byte: u8) -> f32 {
        (f32::from(byte ^ self.flip) - self.shift) * self.scale
    }

    /// Returns the nearest byte, half to even; that of NaN is zero.
    #[inline(always)]
    fn byte(self, real: f32) -> u8 {
        let x = real / self.scale;
        let x = if x < self.range[0] { self.range[0] } else { x };
        let x = if x > self.range[1] { self.range[1] } else { x };
        let y = if x.is_nan() { ROUND } else { x + ROUND + self.zero };
        y.to_bits() as u8
    }
}

/// A function of two numbers.
trait Combine: Copy + Send + Sync + 'static {
    fn of(a: f32, b: f32) -> f32;
}

#[derive(Clone, Copy)]
struct Sum;

impl Combine for Sum {
    #[inline(always)]
    fn of(a: f32, b: f32) -> f32 {
        a + b
    }
}

#[derive(Clone, Copy)]
struct Product;

impl Combine for Product {
    #[inline(always)]
    fn of(a: f32, b: f32) -> f32 {
        a * b
    }
}

/// Prepares `graph.qlinear_add`.
pub(super) fn add(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    prepare::<Sum>(m, args)
}

/// Prepares `graph.qlinear_mul`.
pub(super) fn mul(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    prepare::<Product>(m, args)
}

fn prepare<F: Combine>(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let [a, b] = ["a", "b"].map(|name| args.operand_range(name).next());
    let (a, b) = (a?, b?);
    let shapes = [extents(m, args.operand_type(a))?, extents(m, args.operand_type(b))?];
    let parameters = [Parameters::of(args, "a")?, Parameters::of(args, "b")?, Parameters::of(args, "c")?];
    let is_typed = |operand, p: Parameters| {
        dtype(m, args.operand_type(operand)) == Some(if p.flip == 0 { DType::U8 } else { DType::I8 })
    };
    if !is_typed(a, parameters[0]) || !is_typed(b, parameters[1]) {
        return None;
    }
    let nest = Nest::new(&extents(m, *args.result_types.first()?)?, &shapes)?;
    let kernel = Kernel::shared([a, b], move |workers, data, out| {
        let run = nest.run().max(1);
        let threads = workers.for_steps(out.len() / ELEMENTS_PER_STEP);
        // Whole rows, or a part of the only one.
        let unit = if out.len() == run { 1 } else { run };
        let part = (out.len() / unit).div_ceil(Workers::parts(threads)).max(1) * unit;
        workers.share(threads, out.chunks_mut(part).enumerate(), |(i, out)| {
            run_widest(Rows::<F> {
                nest: &nest,
                parameters,
                operands: [data[0], data[1]],
                out,
                first: i * part,
                of: PhantomData,
            });
        });
        Ok(())
    });
    Some(kernel.into())
}

/// The output of a run: the elements from `first` on, in whole rows or a part of one.
struct Rows<'a, F> {
    nest: &'a Nest,
    parameters: [Parameters; 3],
    operands: [&'a [u8]; 2],
    out: &'a mut [u8],
    first: usize,
    of: PhantomData<F>,
}

impl<F: Combine> Loops for Rows<'_, F> {
    #[inline(always)]
    fn run(self) {
        let Rows { nest, parameters, operands, out, first, of } = self;
        let is_many = [nest.is_many(0), nest.is_many(1)];
        let starts = is_many.map(|is_many| if is_many { first % nest.run().max(1) } else { 0 });
        nest.rows(out, first, &mut Row { parameters, operands, is_many, starts, of });
    }
}

/// The computation of a row.
struct Row<'a, F> {
    parameters: [Parameters; 3],
    operands: [&'a [u8]; 2],
    /// Whether each operand has an element for each of the row, not one for all.
    is_many: [bool; 2],
    /// The first element of the row in each operand.
    starts: [usize; 2],
    of: PhantomData<F>,
}

impl<F: Combine> RowKernel<u8> for Row<'_, F> {
    #[inline(always)]
    fn row(&mut self, offsets: &[usize], out: &mut [u8]) {
        let [p, q, r] = self.parameters;
        let a = &self.operands[0][offsets[0] + self.starts[0]..];
        let b = &self.operands[1][offsets[1] + self.starts[1]..];
        let count = out.len();
        match self.is_many {
            [true, true] => {
                for (y, (&a, &b)) in out.iter_mut().zip(a[..count].iter().zip(&b[..count])) {
                    *y = r.byte(F::of(p.real(a), q.real(b)));
                }
            }
            [true, false] => {
                let b = q.real(b[0]);
                for (y, &a) in out.iter_mut().zip(&a[..count]) {
                    *y = r.byte(F::of(p.real(a), b));
                }
            }
            [false, true] => {
                let a = p.real(a[0]);
                for (y, &b) in out.iter_mut().zip(&b[..count]) {
                    *y = r.byte(F::of(a, q.real(b)));
                }
            }
            [false, false] => out.fill(r.byte(F::of(p.real(a[0]), q.real(b[0])))),
        }
    }
}
