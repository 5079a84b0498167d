//! Elementwise sums and products of quantized tensors, with broadcasting: dequantized, combined and quantized in registers.

#![allow(clippy::needless_range_loop, reason = "loops of constant length over several arrays are vectorized")]

use super::nest::{Nest, RowKernel};
use super::{Kernel, Prepared, constant, dtype, extents};
use crate::vector::{MultiplyAdd, ROUND};
use gradus_ir::{DType, Module, OpArgs};
use std::marker::PhantomData;

/// Number of elements whose computation takes as long as a vector operation.
const ELEMENTS_PER_STEP: usize = 4;

/// A float to which an integer below 2^23 is added by its low bits.
const LAST_BITS: f32 = (1 << 23) as f32;

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
        // The low bits of the float are the byte: no conversion, which shares execution units with the additions.
        let byte = f32::from_bits(LAST_BITS.to_bits() | u32::from(byte ^ self.flip));
        (byte - (LAST_BITS + self.shift)) * self.scale
    }

    /// Returns the byte of a number that is divided by the scale already, and how far it is from the nearest integer, as the
    /// bits of a float that is not negative. They are greatest for NaN.
    #[inline(always)]
    fn rough_byte(self, x: f32) -> (u8, u32) {
        let rounded = x + ROUND;
        let off = (x - (rounded - ROUND)).abs().to_bits();
        let y = if rounded < ROUND + self.range[0] { ROUND + self.range[0] } else { rounded };
        let y = if y > ROUND + self.range[1] { ROUND + self.range[1] } else { y };
        ((y.to_bits() as u8).wrapping_add(self.zero as i16 as u8), off)
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

    /// Returns factors that replace the scales of both operands and the division by the scale of the result, and a bound of the
    /// difference that this makes: eight roundings of the greatest intermediate number.
    fn rescaled(scales: [f32; 3]) -> ([f32; 2], f32);
}

#[derive(Clone, Copy)]
struct Sum;

impl Combine for Sum {
    #[inline(always)]
    fn of(a: f32, b: f32) -> f32 {
        a + b
    }

    fn rescaled([a, b, c]: [f32; 3]) -> ([f32; 2], f32) {
        let [a, b] = [a / c, b / c];
        ([a, b], 8.0 * f32::EPSILON / 2.0 * 255.0 * (a.abs() + b.abs()))
    }
}

#[derive(Clone, Copy)]
struct Product;

impl Combine for Product {
    #[inline(always)]
    fn of(a: f32, b: f32) -> f32 {
        a * b
    }

    fn rescaled([a, b, c]: [f32; 3]) -> ([f32; 2], f32) {
        // Only products below 512 are not saturated.
        ([a / c, b], 8.0 * f32::EPSILON / 2.0 * 512.0)
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
    let scales = parameters.map(|p| p.scale);
    let (factors, off) = F::rescaled(scales);
    // Other scales may overflow or underflow on the way.
    let is_usual = scales.iter().all(|scale| (1e-12..1e12).contains(&scale.abs()));
    let limit = if is_usual { 0.5 - off } else { 0.0 };
    let kernel = Kernel::shared([a, b], move |workers, data, out| {
        nest.share(workers, out.len() / ELEMENTS_PER_STEP, [1, 1], out, &|start, out, first| {
            let is_many = [nest.is_many(0), nest.is_many(1)];
            let starts = is_many.map(|is_many| if is_many { start } else { 0 });
            let operands = [data[0], data[1]];
            let repeated = [[0; CHUNK]; 2];
            let mut row =
                QuantizedRow { parameters, factors, limit, operands, is_many, starts, repeated, of: PhantomData::<F> };
            nest.rows_widest(out, first, &mut row);
        });
        Ok(())
    });
    Some(kernel.into())
}

/// Number of elements that are computed together, and again with the given scales if one of them is too close to a rounding
/// boundary: of 256, in one of 14 cases.
const CHUNK: usize = 256;

/// Number of elements of a shorter chunk.
const FEW: usize = 32;

/// The computation of a row.
struct QuantizedRow<'a, F> {
    parameters: [Parameters; 3],
    /// Scales of the operands, divided by that of the result.
    factors: [f32; 2],
    /// The distance from an integer up to which rounding is sure.
    limit: f32,
    operands: [&'a [u8]; 2],
    /// Whether each operand has an element for each of the row, not one for all.
    is_many: [bool; 2],
    /// The first element of the row in each operand.
    starts: [usize; 2],
    /// The only element of an operand, repeated.
    repeated: [[u8; CHUNK]; 2],
    of: PhantomData<F>,
}

impl<F: Combine> QuantizedRow<'_, F> {
    /// Computes elements whose number is known to the compiler.
    #[inline(always)]
    fn chunk<const N: usize>(&self, a: &[u8], b: &[u8], out: &mut [u8; N]) {
        let ([p, q, r], [x, y]) = (self.parameters, self.factors);
        let (x, y) = (Parameters { scale: x, ..p }, Parameters { scale: y, ..q });
        let (a, b, mut off) = (&a[..N], &b[..N], 0);
        for i in 0..N {
            let (byte, this) = r.rough_byte(F::of(x.real(a[i]), y.real(b[i])));
            out[i] = byte;
            off = off.max(this);
        }
        // Also where the limit is not positive.
        let is_sure = f32::from_bits(off) < self.limit;
        if !is_sure {
            self.exactly(a, b, out);
        }
    }

    /// Computes elements with the given scales.
    #[inline(always)]
    fn exactly(&self, a: &[u8], b: &[u8], out: &mut [u8]) {
        let [p, q, r] = self.parameters;
        for (y, (&a, &b)) in out.iter_mut().zip(a.iter().zip(b)) {
            *y = r.byte(F::of(p.real(a), q.real(b)));
        }
    }
}

impl<F: Combine> RowKernel<u8> for QuantizedRow<'_, F> {
    #[inline(always)]
    fn row<M: MultiplyAdd>(&mut self, offsets: &[usize], out: &mut [u8]) {
        let operands = [0, 1].map(|i| &self.operands[i][offsets[i] + self.starts[i]..]);
        for i in 0..2 {
            if !self.is_many[i] && self.repeated[i][0] != operands[i][0] {
                self.repeated[i].fill(operands[i][0]);
            }
        }
        let bytes =
            |i: usize, start: usize| if self.is_many[i] { &operands[i][start..] } else { &self.repeated[i][..] };
        for (i, out) in out.chunks_mut(CHUNK).enumerate() {
            let start = i * CHUNK;
            if let Ok(out) = <&mut [u8; CHUNK]>::try_from(&mut *out) {
                self.chunk(bytes(0, start), bytes(1, start), out);
                continue;
            }
            for (i, out) in out.chunks_mut(FEW).enumerate() {
                let (a, b) = (bytes(0, start + i * FEW), bytes(1, start + i * FEW));
                match <&mut [u8; FEW]>::try_from(&mut *out) {
                    Ok(out) => self.chunk(a, b, out),
                    Err(_) => self.exactly(a, b, out),
                }
            }
        }
    }
}
