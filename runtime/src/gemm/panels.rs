//! The packed right operand: panels of `nr` columns, each with the `nr` elements of a summand contiguous (as in BLIS).

use crate::aligned_bytes::AlignedBytes;
use crate::vector::Isa;
use bytes::Bytes;
use std::sync::OnceLock;

/// A matrix in panels.
#[derive(Clone)]
pub struct Panels {
    isa: Isa,
    width: usize,
    tile_rows: usize,
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
    ) -> Result<Panels, String> {
        let row = |k: usize, first: usize, to: &mut [f32]| {
            to.iter_mut().enumerate().for_each(|(i, x)| *x = at(first + i, k));
        };
        Panels::of_rows(isa, sizes, row, bias)
    }

    /// Packs a matrix that is in panels of another width.
    ///
    /// # Errors
    /// As for [`new`](Panels::new), or these are not such panels.
    pub fn repacked(
        isa: Isa,
        sizes: [usize; 2],
        width: usize,
        data: &[f32],
        bias: Option<&[f32]>,
    ) -> Result<Panels, String> {
        let [columns, summands] = sizes;
        let size = columns.checked_next_multiple_of(width).and_then(|n| n.checked_mul(summands));
        if size != Some(data.len()) {
            return Err(format!("these are not {summands} summands of {columns} columns in panels of {width}"));
        }
        let row = |k: usize, first: usize, to: &mut [f32]| {
            let mut to = to;
            let (mut panel, mut inside) = (first / width, first % width);
            while !to.is_empty() {
                let (now, rest) = to.split_at_mut((width - inside).min(to.len()));
                now.copy_from_slice(&data[(panel * summands + k) * width + inside..][..now.len()]);
                (to, panel, inside) = (rest, panel + 1, 0);
            }
        };
        Panels::of_rows(isa, sizes, row, bias)
    }

    /// Packs a matrix, where `row(k, n, to)` writes the elements of row k from column n on.
    fn of_rows(
        isa: Isa,
        [columns, summands]: [usize; 2],
        row: impl Fn(usize, usize, &mut [f32]),
        bias: Option<&[f32]>,
    ) -> Result<Panels, String> {
        let waste = |&&(width, _): &&(usize, usize)| columns.next_multiple_of(width);
        let &(width, _) = isa.panels().iter().min_by_key(waste).expect("there are panels");
        let count = columns.div_ceil(width);
        let size =
            (count * width).checked_mul(summands).and_then(|n| n.checked_mul(4)).ok_or("a matrix is too large")?;
        let mut lines = AlignedBytes::zeros(size);
        let flat: &mut [f32] = bytemuck::cast_slice_mut(lines.as_mut());
        for panel in 0..count {
            let here = width.min(columns - panel * width);
            for k in 0..summands {
                row(k, panel * width, &mut flat[(panel * summands + k) * width..][..here]);
            }
        }
        Panels::packed(isa, [columns, summands], width, lines.into_bytes(), bias)
    }

    /// Wraps elements that are already packed.
    ///
    /// # Errors
    /// The machine lacks the vectors, no micro-kernel has this panel width, or the sizes are incompatible.
    pub fn packed(
        isa: Isa,
        [columns, summands]: [usize; 2],
        width: usize,
        data: Bytes,
        bias: Option<&[f32]>,
    ) -> Result<Panels, String> {
        if !isa.is_supported() {
            return Err(format!("this machine has no {isa:?}"));
        }
        let known = isa.panels().iter().find(|panel| panel.0 == width);
        let &(width, tile_rows) = known.ok_or_else(|| format!("no kernels of {isa:?} are for {width} columns"))?;
        let count = columns.div_ceil(width);
        let size = (count * width).checked_mul(summands).and_then(|n| n.checked_mul(4));
        if size != Some(data.len()) || bias.is_some_and(|bias| bias.len() != columns) {
            return Err(format!("these are not {summands} summands or biases of {columns} columns"));
        }
        let data = if data.as_ptr().cast::<f32>().is_aligned() { data } else { AlignedBytes::of(&data).into_bytes() };
        let bias = bias.map(|bias| bias.iter().copied().chain(std::iter::repeat(0.0)).take(count * width).collect());
        Ok(Panels { isa, width, tile_rows, summands, columns, data, bias, is_finite: OnceLock::new() })
    }

    /// The vector extension of the panels.
    pub fn isa(&self) -> Isa {
        self.isa
    }

    /// Number of columns N.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Number of summands K.
    pub fn summands(&self) -> usize {
        self.summands
    }

    /// Number of panels.
    pub(super) fn count(&self) -> usize {
        self.columns.div_ceil(self.width)
    }

    /// Number of columns per panel, `nr`.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Number of rows per register tile, `mr`.
    pub(super) fn tile_rows(&self) -> usize {
        self.tile_rows
    }

    /// Whether all elements are finite, so that padding runs of zeros may be skipped.
    pub(super) fn is_finite(&self) -> bool {
        let values = || bytemuck::cast_slice(&self.data).iter().all(|x: &f32| x.is_finite());
        *self.is_finite.get_or_init(values)
    }

    /// The elements of a panel, `[K, nr]`.
    pub(super) fn panel(&self, i: usize) -> &[f32] {
        let size = self.summands * self.width;
        &bytemuck::cast_slice(&self.data)[i * size..][..size]
    }

    /// The bias, zero-padded to whole panels.
    pub(super) fn bias(&self) -> Option<&[f32]> {
        self.bias.as_deref()
    }
}
