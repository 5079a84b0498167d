//! The epilogue of integer products that micro-kernels do not finish: zero-point corrections, residual, exact requantization.

use super::Scales;
use crate::vector::Vector;
use crate::workers::DisjointWriter;
use std::ops::Range;

/// The destination of finished rows.
pub enum IntegerOutput<'a> {
    /// The 32-bit sums.
    Sums(&'a mut [i32]),
    /// Requantized bytes.
    Quantized(&'a mut [u8], &'a Scales),
}

impl<'a> IntegerOutput<'a> {
    /// Returns the number of elements.
    pub(crate) fn len(&self) -> usize {
        match self {
            IntegerOutput::Sums(c) => c.len(),
            IntegerOutput::Quantized(c, _) => c.len(),
        }
    }

    /// Returns the number of scales, if sums are requantized.
    pub(crate) fn scales(&self) -> Option<usize> {
        if let IntegerOutput::Quantized(_, scales) = self { Some(scales.len()) } else { None }
    }

    /// Returns a form through which several threads write.
    pub(crate) fn shared(self) -> SharedOutput<'a> {
        match self {
            IntegerOutput::Sums(c) => SharedOutput::Sums(DisjointWriter::new(c)),
            IntegerOutput::Quantized(c, scales) => SharedOutput::Quantized(DisjointWriter::new(c), scales),
        }
    }
}

/// The destination of rows that several threads write.
#[derive(Clone, Copy)]
pub(crate) enum SharedOutput<'a> {
    Sums(DisjointWriter<i32>),
    Quantized(DisjointWriter<u8>, &'a Scales),
}

/// Integer accumulators of some rows of a panel, which start at the bias.
pub(super) struct Finish<'a> {
    /// The accumulators, `width` per row.
    pub sums: &'a mut [i32],
    /// Number of columns per panel.
    pub width: usize,
    /// Rows of the result.
    pub rows: Range<usize>,
    /// Columns of the result.
    pub columns: Range<usize>,
    /// Row stride of the result.
    pub stride: usize,
    /// A rank-1 correction: one factor per row of `sums`, one per column of the result.
    pub rest: Option<(&'a [i32], &'a [i32])>,
    /// Residual, one per element of the result.
    pub add: Option<&'a [i32]>,
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
/// The machine has the vectors. `sums` has `width` elements, at least one per column, for each row. The destination has these
/// rows and columns, to which the caller has exclusive access.
#[inline(always)]
pub(super) unsafe fn finish<V: Vector>(mut f: Finish<'_>, to: SharedOutput<'_>) {
    f.add_rest();
    match to {
        SharedOutput::Sums(c) => {
            for (from, at) in f.starts() {
                let sums = &f.sums[from..][..f.columns.len()];
                // SAFETY: guaranteed by the caller.
                unsafe { std::slice::from_raw_parts_mut(c.at(at), sums.len()) }.copy_from_slice(sums);
            }
        }
        // SAFETY: guaranteed by the caller; `f32` is a vector of one lane on every machine.
        SharedOutput::Quantized(c, scales) if f.columns.len() < V::LANES => unsafe { quantize::<f32>(&f, c, scales) },
        // SAFETY: guaranteed by the caller.
        SharedOutput::Quantized(c, scales) => unsafe { quantize::<V>(&f, c, scales) },
    }
}

/// Requantizes one vector of columns after the other; the last vector overlaps and ends with the last column.
///
/// # Safety
/// As for [`finish`], and there is at least one vector of columns.
#[inline(always)]
unsafe fn quantize<V: Vector>(f: &Finish<'_>, c: DisjointWriter<u8>, scales: &Scales) {
    let columns = f.columns.len();
    assert!(f.rows.len() * f.width <= f.sums.len() && columns <= f.width, "rows are among the sums");
    for i in 0..columns.div_ceil(V::LANES) {
        let column = (i * V::LANES).min(columns - V::LANES);
        let sums = f.sums[column..].as_ptr();
        let rows = f.starts().map(|(from, at)| (sums.wrapping_add(from), c.at(at + column)));
        // SAFETY: guaranteed by the caller; all columns of all rows are in the accumulators.
        unsafe { scales.write::<V>(f.columns.start + column, rows) };
    }
}
