//! The packed right operand: panels of `nr` columns, each with the `nr` elements of a summand contiguous (as in BLIS).

use crate::KernelError;
use crate::aligned_bytes::AlignedBytes;
use crate::transpose::WordMatrix;
use crate::vector::Isa;
use bytes::Bytes;
use std::ops::Range;
use std::sync::OnceLock;

/// Number of columns per panel, `nr`. It is that of all vector extensions, so that a packed constant serves all machines:
/// micro-kernels with wider tiles read several panels at once.
pub(crate) const PANEL: usize = 16;

/// A matrix in panels.
#[derive(Clone)]
pub struct Panels {
    isa: Isa,
    summands: usize,
    columns: usize,
    /// The elements as aligned f32.
    data: Bytes,
    /// Bias, zero-padded to whole panels.
    bias: Option<Vec<f32>>,
    /// Whether all elements are finite, computed on first use.
    is_finite: OnceLock<bool>,
}

impl Panels {
    /// Packs a matrix, where `at(n, k)` is element (k, n). The last panel is padded with zeros.
    ///
    /// # Errors
    /// The machine lacks the vectors, or the panels exceed the address space.
    pub fn new(
        isa: Isa,
        sizes: [usize; 2],
        at: impl Fn(usize, usize) -> f32,
        bias: Option<&[f32]>,
    ) -> Result<Panels, KernelError> {
        let row = |k: usize, first: usize, to: &mut [f32]| {
            to.iter_mut().enumerate().for_each(|(i, x)| *x = at(first + i, k));
        };
        Panels::of_rows(isa, sizes, row, bias)
    }

    /// Packs a multiple of a row-major matrix of `summands` rows.
    ///
    /// # Errors
    /// As for [`new`](Panels::new), or the matrix is smaller.
    pub fn of_matrix(isa: Isa, sizes: [usize; 2], matrix: &[f32], factor: f32) -> Result<Panels, KernelError> {
        let [columns, summands] = sizes;
        if columns.checked_mul(summands).is_none_or(|size| size > matrix.len()) {
            return Err(format!("a matrix is not of {summands} rows and {columns} columns").into());
        }
        let row = |k: usize, first: usize, to: &mut [f32]| {
            let from = &matrix[k * columns + first..][..to.len()];
            to.iter_mut().zip(from).for_each(|(to, x)| *to = factor * x);
        };
        Panels::of_rows(isa, sizes, row, None)
    }

    /// Wraps a matrix that is in panels, or packs it anew if these have another width than those of the kernels.
    ///
    /// # Errors
    /// As for [`new`](Panels::new), or these are not such panels.
    pub fn packed(
        isa: Isa,
        sizes: [usize; 2],
        width: usize,
        data: &Bytes,
        bias: Option<&[f32]>,
    ) -> Result<Panels, KernelError> {
        if width == PANEL {
            return Panels::wrapped(isa, sizes, data.clone(), bias);
        }
        let (data, _) = data.as_chunks::<4>();
        let [columns, summands] = sizes;
        let size = columns.checked_next_multiple_of(width).and_then(|n| n.checked_mul(summands));
        if size != Some(data.len()) {
            return Err(format!(
                "the packed operand is not {summands} summands of {columns} columns in panels of {width}"
            )
            .into());
        }
        let row = |k: usize, first: usize, to: &mut [f32]| {
            let mut to = to;
            let (mut panel, mut inside) = (first / width, first % width);
            while !to.is_empty() {
                let (now, rest) = to.split_at_mut((width - inside).min(to.len()));
                let from = &data[(panel * summands + k) * width + inside..];
                now.iter_mut().zip(from).for_each(|(to, &x)| *to = f32::from_ne_bytes(x));
                (to, panel, inside) = (rest, panel + 1, 0);
            }
        };
        Panels::of_rows(isa, sizes, row, bias)
    }

    /// Packs a multiple of a matrix, where `column(n)` is column n.
    ///
    /// # Errors
    /// As for [`new`](Panels::new).
    pub fn of_columns<'a>(
        isa: Isa,
        [columns, summands]: [usize; 2],
        column: impl Fn(usize) -> &'a [f32],
        factor: f32,
    ) -> Result<Panels, KernelError> {
        let mut lines = panel_lines([columns, summands])?;
        let mut rows = vec![0.0; PANEL * summands];
        for (panel, out) in bytemuck::cast_slice_mut(lines.as_mut()).chunks_exact_mut(rows.len().max(1)).enumerate() {
            for (j, row) in rows.chunks_exact_mut(summands).enumerate() {
                match panel * PANEL + j {
                    n if n < columns => row.iter_mut().zip(&column(n)[..summands]).for_each(|(to, x)| *to = factor * x),
                    _ => row.fill(0.0),
                }
            }
            WordMatrix::new(bytemuck::cast_slice(&rows), 4 * summands, [PANEL, summands])?.transpose(out, 0);
        }
        Panels::wrapped(isa, [columns, summands], lines.into_bytes(), None)
    }

    /// Packs a matrix, where `row(k, n, to)` writes the elements of row k from column n on.
    ///
    /// # Errors
    /// As for [`new`](Panels::new).
    pub fn of_rows(
        isa: Isa,
        [columns, summands]: [usize; 2],
        row: impl Fn(usize, usize, &mut [f32]),
        bias: Option<&[f32]>,
    ) -> Result<Panels, KernelError> {
        let mut lines = panel_lines([columns, summands])?;
        let flat: &mut [f32] = bytemuck::cast_slice_mut(lines.as_mut());
        for panel in 0..columns.div_ceil(PANEL) {
            let here = PANEL.min(columns - panel * PANEL);
            for k in 0..summands {
                row(k, panel * PANEL, &mut flat[(panel * summands + k) * PANEL..][..here]);
            }
        }
        Panels::wrapped(isa, [columns, summands], lines.into_bytes(), bias)
    }

    /// Wraps elements in panels of [`PANEL`] columns.
    fn wrapped(
        isa: Isa,
        [columns, summands]: [usize; 2],
        data: Bytes,
        bias: Option<&[f32]>,
    ) -> Result<Panels, KernelError> {
        if !isa.is_supported() {
            return Err(format!("this machine does not support {isa:?}").into());
        }
        let padded = columns.div_ceil(PANEL) * PANEL;
        let size = padded.checked_mul(summands).and_then(|n| n.checked_mul(4));
        if size != Some(data.len()) || bias.is_some_and(|bias| bias.len() != columns) {
            return Err(format!("operand or bias is not of {summands} summands and {columns} columns").into());
        }
        let data = if data.as_ptr().cast::<f32>().is_aligned() { data } else { AlignedBytes::of(&data).into_bytes() };
        let bias = bias.map(|bias| bias.iter().copied().chain(std::iter::repeat(0.0)).take(padded).collect());
        Ok(Panels { isa, summands, columns, data, bias, is_finite: OnceLock::new() })
    }

    /// Returns the vector extension of the panels.
    pub fn isa(&self) -> Isa {
        self.isa
    }

    /// Returns the number of columns N.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Returns the number of summands K.
    pub fn summands(&self) -> usize {
        self.summands
    }

    /// Returns the number of panels.
    fn count(&self) -> usize {
        self.columns.div_ceil(PANEL)
    }

    /// Returns the number of groups of panels that a micro-kernel computes at once.
    pub(super) fn groups(&self) -> usize {
        self.count().div_ceil(self.isa.tile_rows().len())
    }

    /// Returns the panels of a group. All groups have about the same number.
    pub(super) fn group(&self, i: usize) -> Range<usize> {
        let [first, end] = [i, i + 1].map(|i| i * self.count() / self.groups());
        first..end
    }

    /// Returns the number of rows per register tile of the largest groups, `mr`.
    pub(super) fn tile_rows(&self) -> usize {
        let panels = self.count().div_ceil(self.groups().max(1));
        self.isa.tile_rows()[panels.max(1) - 1]
    }

    /// Whether all elements are finite, so that padding runs of zeros may be skipped.
    pub(super) fn is_finite(&self) -> bool {
        let values = || bytemuck::cast_slice(&self.data).iter().all(|x: &f32| x.is_finite());
        *self.is_finite.get_or_init(values)
    }

    /// Returns the elements from a summand of a panel on; each panel is `[K, nr]`.
    pub(super) fn from(&self, panel: usize, summand: usize) -> &[f32] {
        &bytemuck::cast_slice(&self.data)[(panel * self.summands + summand) * PANEL..]
    }

    /// Returns the bias, zero-padded to whole panels.
    pub(super) fn bias(&self) -> Option<&[f32]> {
        self.bias.as_deref()
    }
}

/// Returns memory for the panels of a matrix, with zeros.
fn panel_lines([columns, summands]: [usize; 2]) -> Result<AlignedBytes, KernelError> {
    let size = columns.checked_next_multiple_of(PANEL).and_then(|n| n.checked_mul(summands)?.checked_mul(4));
    Ok(AlignedBytes::zeros(size.ok_or("a matrix is too large")?))
}
