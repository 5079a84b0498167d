//! The epilogue of integer products: zero-point corrections, residual, requantization.

use super::Scales;
use crate::vector::Vector;
use std::ops::Range;

/// Integer accumulators of some rows of a panel.
pub(super) struct Finish<'a> {
    /// The accumulators, `width` per row.
    pub sums: &'a mut [i32],
    /// Number of columns per panel.
    pub width: usize,
    /// Rows of the result.
    pub rows: Range<usize>,
    /// Output columns of the result.
    pub columns: Range<usize>,
    /// Row stride of the result.
    pub stride: usize,
    /// Bias, one per column of the result.
    pub bias: &'a [i32],
    /// A rank-1 correction: one factor per row of `sums`, one per column of the result.
    pub rest: Option<(&'a [i32], &'a [i32])>,
    /// Residual, one per element of the result.
    pub add: Option<&'a [i32]>,
}

/// The destination of finished rows.
pub enum IntegerOutput<'a> {
    /// The 32-bit sums.
    Sums(&'a mut [i32]),
    /// Requantized bytes.
    Quantized(&'a mut [u8], &'a Scales),
}

impl<'a> IntegerOutput<'a> {
    /// Splits into blocks of `elements` elements; the last may be shorter.
    pub(super) fn blocks(self, elements: usize) -> Box<dyn Iterator<Item = IntegerOutput<'a>> + Send + 'a> {
        match self {
            IntegerOutput::Sums(c) => Box::new(c.chunks_mut(elements).map(IntegerOutput::Sums)),
            IntegerOutput::Quantized(c, by) => {
                Box::new(c.chunks_mut(elements).map(move |c| IntegerOutput::Quantized(c, by)))
            }
        }
    }
}

impl Finish<'_> {
    /// Adds the corrections that vary by row.
    #[inline(always)]
    fn add_rest(&mut self) {
        if self.rest.is_none() && self.add.is_none() {
            return;
        }
        let (columns, stride) = (self.columns.clone(), self.stride);
        for (i, sums) in self.sums.chunks_exact_mut(self.width).enumerate() {
            if let Some((rest, factors)) = self.rest {
                let factors = &factors[columns.clone()];
                sums.iter_mut().zip(factors).for_each(|(sum, x)| *sum = sum.wrapping_add(rest[i].wrapping_mul(*x)));
            }
            if let Some(add) = self.add {
                let add = &add[(self.rows.start + i) * stride..][columns.clone()];
                sums.iter_mut().zip(add).for_each(|(sum, x)| *sum = sum.wrapping_add(*x));
            }
        }
    }

    /// Returns the start of each row in the accumulators and in the result.
    fn starts(&self) -> impl Iterator<Item = (usize, usize)> + Clone {
        let (width, stride, first) = (self.width, self.stride, self.columns.start);
        self.rows.clone().enumerate().map(move |(i, row)| (i * width, row * stride + first))
    }
}

/// Writes finished rows.
///
/// # Safety
/// The machine has the vectors.
#[inline(always)]
pub(super) unsafe fn finish<V: Vector>(mut f: Finish<'_>, to: &mut IntegerOutput<'_>) {
    f.add_rest();
    match to {
        IntegerOutput::Sums(c) => {
            let bias = &f.bias[f.columns.clone()];
            for (from, at) in f.starts() {
                let sums = f.sums[from..].iter().zip(bias);
                c[at..].iter_mut().zip(sums).for_each(|(c, (sum, bias))| *c = sum.wrapping_add(*bias));
            }
        }
        // SAFETY: guaranteed by the caller; `f32` is a vector of one lane on every machine.
        IntegerOutput::Quantized(c, scales) if f.columns.len() < V::LANES => unsafe { quantize::<f32>(&f, c, scales) },
        // SAFETY: guaranteed by the caller.
        IntegerOutput::Quantized(c, scales) => unsafe { quantize::<V>(&f, c, scales) },
    }
}

/// Requantizes one vector of columns after the other; the last vector overlaps and ends with the last column.
///
/// # Safety
/// The machine has the vectors, and there is at least one vector of columns.
#[inline(always)]
unsafe fn quantize<V: Vector>(f: &Finish<'_>, c: &mut [u8], scales: &Scales) {
    let columns = f.columns.len();
    let ends = f.starts().last().map(|(from, at)| [from + columns, at + columns]);
    assert!(
        ends.is_none_or(|[from, at]| from <= f.sums.len() && at <= c.len()),
        "rows are among the sums and in the result"
    );
    for i in 0..columns.div_ceil(V::LANES) {
        let column = (i * V::LANES).min(columns - V::LANES);
        let (sums, c) = (f.sums[column..].as_ptr(), c[column..].as_mut_ptr());
        let rows = f.starts().map(|(from, at)| (sums.wrapping_add(from), c.wrapping_add(at)));
        // SAFETY: guaranteed by the caller; all columns of the last row, hence of all rows, are in the accumulators and
        // the result.
        unsafe { scales.write::<V>(f.columns.start + column, f.bias, rows) };
    }
}
