//! Fourier transforms as products with matrices of cosines and sines.

use super::{ComposedOp, position};
use crate::graph::ConvOp;
use gradus_ir::{DYNAMIC, OpDecl, Refusal, Value};
use gradus_reference_kernels::sines_and_cosines;

/// Largest length of a transform that is a product: beyond, the products are more than those of a fast transform by a factor of 100.
const MAX_LENGTH: i64 = 1 << 11;
/// Largest number of elements of a matrix.
const MAX_ELEMENTS: usize = 1 << 23;

/// A transform along an axis.
struct Transform {
    /// Number of terms of each sum.
    length: usize,
    /// Number of elements that are read; others are zero, or the conjugates of those.
    extent: usize,
    /// Number of results.
    bins: usize,
    /// Numbers per element: 1 or 2, of a real or complex one.
    parts: usize,
    result_parts: usize,
    is_inverse: bool,
    is_onesided: bool,
}

impl Transform {
    /// Plans the transform of `length` of `[extent, parts]`.
    fn new(length: i64, extent: i64, parts: i64, [is_inverse, is_onesided]: [bool; 2]) -> Result<Transform, Refusal> {
        if extent == DYNAMIC {
            return Err("an axis of unknown extent".into());
        }
        if !(1..=MAX_LENGTH).contains(&length) || extent < 1 {
            return Err(Refusal::from("a transform of other than 1 to {} elements").with([MAX_LENGTH as usize]));
        }
        if !(1..=2).contains(&parts) {
            return Err("elements other than real and complex numbers".into());
        }
        let (half, is_back) = (length / 2 + 1, is_inverse && is_onesided);
        let transform = Transform {
            length: length as usize,
            extent: extent.min(if is_back { half } else { length }) as usize,
            bins: if is_onesided && !is_back { half } else { length } as usize,
            parts: parts as usize,
            result_parts: if is_back { 1 } else { 2 },
            is_inverse,
            is_onesided,
        };
        let elements = transform.rows() * transform.columns();
        if elements > MAX_ELEMENTS {
            return Err(Refusal::from("a matrix of {} elements, of at most {}").with([elements, MAX_ELEMENTS]));
        }
        Ok(transform)
    }

    fn rows(&self) -> usize {
        self.extent * self.parts
    }

    fn columns(&self) -> usize {
        self.bins * self.result_parts
    }

    /// Returns the matrix `[extent * parts, bins * result_parts]` by which rows are multiplied.
    fn matrix(&self) -> Vec<f64> {
        let (n, columns) = (self.length, self.columns());
        let turns: Vec<(f64, f64)> = sines_and_cosines(n).collect();
        let scale = if self.is_inverse { 1.0 / n as f64 } else { 1.0 };
        let mut matrix = vec![0.0; self.rows() * columns];
        for term in 0..n {
            // The omitted half is the conjugate of the other.
            let is_conjugate = self.is_inverse && self.is_onesided && term > n / 2;
            let (at, sign) = if is_conjugate { (n - term, -1.0) } else { (term, 1.0) };
            if at >= self.extent {
                continue;
            }
            let rows = &mut matrix[at * self.parts * columns..][..self.parts * columns];
            let (real, imaginary) = rows.split_at_mut(columns);
            for bin in 0..self.bins {
                let (sin, cos) = turns[bin * term % n];
                let (sin, cos) = (if self.is_inverse { sin * scale } else { -sin }, cos * scale);
                let parts = [[cos, sin], [-sin * sign, cos * sign]];
                for part in 0..self.result_parts {
                    real[bin * self.result_parts + part] += parts[0][part];
                    if let Some(element) = imaginary.get_mut(bin * self.result_parts + part) {
                        *element += parts[1][part];
                    }
                }
            }
        }
        matrix
    }
}

/// Emits the product of each lane along an axis with the matrix of the transform.
pub(super) fn dft(c: &mut ComposedOp<'_, '_>) -> Result<Vec<Value>, Refusal> {
    let x = c.operand("x")?;
    let dims = c.shape(x)?;
    let axis = position(c.known_int("axis")?.unwrap_or(-2), dims.len())?;
    let last = dims.len() - 1;
    if axis == last {
        return Err("a transform along the parts of numbers".into());
    }
    let kind = [c.flag("inverse"), c.flag("onesided")];
    let length = match c.known_int("dft_length")? {
        Some(length) => length,
        None if kind == [true; 2] => (dims[axis].max(1) - 1).saturating_mul(2),
        None => dims[axis],
    };
    let t = Transform::new(length, dims[axis], dims[last], kind)?;
    let [x] = c.widened([x])?;
    let read = if (t.extent as i64) < dims[axis] { c.e.slice(x, axis as i64, 0, t.extent as i64) } else { x };
    // The axis becomes the one before the parts.
    let others = || (0..last).filter(|&i| i != axis);
    let perm: Vec<i64> = others().chain([axis, last]).map(|i| i as i64).collect();
    let moved = if axis + 1 == last { read } else { c.e.transpose(read, &perm) };
    let rows = t.rows() as i64;
    let rows = if last == 1 { c.e.reshape(moved, 0, &[1, rows])? } else { c.e.reshape(moved, last - 1, &[rows])? };
    let matrix = c.e.numbers(&[t.rows(), t.columns()], t.matrix());
    let product = c.e.matmul(rows, matrix);
    let y = c.e.reshape(product, last - 1, &[t.bins as i64, t.result_parts as i64])?;
    if axis + 1 == last {
        return Ok(vec![y]);
    }
    let back: Vec<i64> = (0..=last as i64).map(|i| perm.iter().position(|&p| p == i).unwrap_or(0) as i64).collect();
    Ok(vec![c.e.transpose(y, &back)])
}

/// Emits the convolution of a signal `[B, N, parts]`, whose channels are the parts, with the columns of the matrix of a transform.
pub(super) fn stft(c: &mut ComposedOp<'_, '_>) -> Result<Vec<Value>, Refusal> {
    let (signal, step) = (c.operand("signal")?, c.known_int("frame_step")?.ok_or("no frame step")?);
    let dims = c.shape(signal)?;
    let &[_, extent, parts] = &dims[..] else { return Err(Refusal::of(signal, "a signal of other than three axes")) };
    let window = match c.optional("window") {
        Some(window) => Some(c.known(window)?.to_f64()),
        None => None,
    };
    let given = window.as_ref().map(|window| window.len() as i64);
    let length = c.known_int("frame_length")?.or(given).unwrap_or(extent);
    if given.is_some_and(|given| given != length) || (extent != DYNAMIC && extent < length) || step < 1 {
        return Err("frames that fit neither window nor signal".into());
    }
    let t = Transform::new(length, length, parts, [false, c.flag("onesided")])?;
    let [x] = c.widened([signal])?;
    let channels = if parts == 1 {
        let flat = c.e.squeeze(x, &[2]);
        c.e.unsqueeze(flat, &[1])
    } else {
        c.e.transpose(x, &[0, 2, 1])
    };
    let filters = filters(&t, window.as_deref());
    let filters = c.e.numbers(&[t.columns(), t.parts, t.extent], filters);
    let strides = c.e.module().ctx.i64_array_attr(&[step]);
    let spectra = c.e.op(ConvOp::INFO, channels, &[Some(filters), None], &[("strides", Some(strides))]);
    let frames = c.e.transpose(spectra, &[0, 2, 1]);
    Ok(vec![c.e.reshape(frames, 2, &[t.bins as i64, t.result_parts as i64])?])
}

/// Returns the filters `[bins * result_parts, parts, extent]` of windowed frames.
fn filters(t: &Transform, window: Option<&[f64]>) -> Vec<f64> {
    let (matrix, columns) = (t.matrix(), t.columns());
    let mut filters = Vec::with_capacity(matrix.len());
    for column in 0..columns {
        for part in 0..t.parts {
            filters.extend((0..t.extent).map(|at| {
                let weight = window.map_or(1.0, |window| window[at]);
                matrix[(at * t.parts + part) * columns + column] * weight
            }));
        }
    }
    filters
}
