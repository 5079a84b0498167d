//! Products of hidden states with recurrence weights.

#![allow(unsafe_code)]
#![allow(clippy::needless_range_loop, reason = "loops of constant length are unrolled, and arrays become registers")]

use crate::aligned_bytes::AlignedBytes;
use crate::vector::{Element, Floats, Isa, OnVectors};
use crate::workers::{DisjointWriter, Workers};
use std::ops::Range;

/// Maximum number of vectors of a register tile of 1, 2, ... rows: with 16 registers, sums, weights and states fit.
const TILE_VECTORS: [usize; 6] = [8, 4, 3, 2, 2, 2];

/// Minimum number of rows of states, if there are as many, that a thread computes: narrower tiles wait for their sums.
pub(super) const MIN_ROWS: usize = 4;

/// Returns the number of columns of which those of each gate are a multiple: the lanes of a vector, at least 8.
pub(super) fn lanes() -> usize {
    f32::lanes(Some(Isa::best())).max(8)
}

/// Returns the number of rows of the next register tile, of `rows` rows that are left: all tiles have about the same.
fn tile_rows(rows: usize) -> usize {
    rows.div_ceil(rows.div_ceil(TILE_VECTORS.len()))
}

/// Recurrence weights `[K, N]` in panels of columns, each `[K, nr]`, where `nr` is the columns of a register tile.
pub(super) struct PackedWeights {
    summands: usize,
    columns: usize,
    panels: usize,
    data: AlignedBytes,
}

impl PackedWeights {
    /// Packs weights for states of `rows` rows, where `at(n, k)` is element (k, n). N is a multiple of [`lanes`]. `None` if
    /// they exceed the memory.
    pub(super) fn new(
        [columns, summands]: [usize; 2],
        rows: usize,
        at: impl Fn(usize, usize) -> f32,
    ) -> Option<PackedWeights> {
        let size = columns.checked_mul(summands).and_then(|n| n.checked_mul(size_of::<f32>()))?;
        // `lanes` columns may be several vectors.
        let vector = lanes() / f32::lanes(Some(Isa::best()));
        let most = (TILE_VECTORS[tile_rows(rows) - 1] / vector).max(1);
        let panels = (columns / lanes()).div_ceil(most);
        let mut packed = PackedWeights { summands, columns, panels, data: AlignedBytes::try_zeros(size)? };
        for panel in 0..panels {
            let Range { start, end } = packed.columns_of(panel);
            let data: &mut [f32] = bytemuck::cast_slice_mut(packed.data.as_mut());
            let rows = data[start * summands..end * summands].chunks_exact_mut(end - start);
            for (k, row) in rows.enumerate() {
                row.iter_mut().zip(start..).for_each(|(to, n)| *to = at(n, k));
            }
        }
        Some(packed)
    }

    /// Returns the columns of a panel. All panels have about the same number.
    fn columns_of(&self, panel: usize) -> Range<usize> {
        let vectors = self.columns / lanes();
        let [start, end] = [panel, panel + 1].map(|i| i * vectors / self.panels * lanes());
        start..end
    }
}

/// The product of states with recurrence weights, added to other numbers.
pub(super) struct StateProduct<'a> {
    pub weights: &'a PackedWeights,
    /// The states: rows of `pitch` elements, of which the first K are read.
    pub states: &'a [f32],
    pub pitch: usize,
    /// The addends: N for each row, from the row's element of `starts` on.
    pub addends: &'a [f32],
    pub starts: &'a [usize],
}

impl StateProduct<'_> {
    /// Computes the first N elements of rows of `stride` elements. Threads share the columns if these are many. The order of
    /// the summands depends neither on threads nor on the number of rows.
    pub(super) fn compute(&self, workers: &Workers, out: &mut [f32], stride: usize) {
        let (rows, panels) = (self.starts.len(), self.weights.panels);
        let Some(before) = rows.checked_sub(1).and_then(|last| last.checked_mul(stride)) else { return };
        assert!(self.weights.columns <= stride && before + self.weights.columns <= out.len(), "rows are in the result");
        let vectors = self.weights.columns / lanes();
        let threads = workers.for_steps(rows.saturating_mul(vectors).saturating_mul(self.weights.summands));
        let parts = Workers::parts(threads).min(panels);
        let out = DisjointWriter::new(out);
        workers.share(threads, 0..parts, |part| {
            let panels = part * panels / parts..(part + 1) * panels / parts;
            // SAFETY: the extension is that of this machine; each row of the result has the columns of all panels, and no other
            // thread writes those of these panels.
            unsafe { f32::run(Some(Isa::best()), PanelProduct { product: self, panels, out, stride }) }
        });
    }
}

/// Some panels of a product.
struct PanelProduct<'a> {
    product: &'a StateProduct<'a>,
    panels: Range<usize>,
    out: DisjointWriter<f32>,
    stride: usize,
}

impl PanelProduct<'_> {
    /// Computes a register tile of `R` rows and of the `N` vectors of a panel.
    ///
    /// # Safety
    /// The machine has the vectors, and the result has the rows, with the panel's columns.
    #[inline(always)]
    unsafe fn tile<V: Floats<Element = f32>, const R: usize, const N: usize>(&self, row: usize, panel: Range<usize>) {
        let (StateProduct { weights, states, pitch, addends, starts }, width) = (self.product, N * V::LANES);
        let first = panel.start;
        let data: &[f32] = bytemuck::cast_slice(weights.data.as_ref());
        let weights = &data[first * weights.summands..][..weights.summands * width];
        let summands = weights.len() / width;
        let mut rows = [&[][..]; R];
        // SAFETY: slices have as many elements as are read: `width` addends, a state for each summand, and `width` weights for
        // each summand. The caller guarantees the results.
        unsafe {
            let mut sums = [[V::splat(0.0); N]; R];
            for r in 0..R {
                rows[r] = &states[(row + r) * pitch..][..summands];
                let addends = &addends[starts[row + r] + first..][..width];
                for v in 0..N {
                    sums[r][v] = V::load(addends.as_ptr().add(v * V::LANES));
                }
            }
            for k in 0..summands {
                let mut columns = [V::splat(0.0); N];
                for v in 0..N {
                    columns[v] = V::load(weights.as_ptr().add(k * width + v * V::LANES));
                }
                for r in 0..R {
                    let x = V::splat(*rows[r].get_unchecked(k));
                    for v in 0..N {
                        sums[r][v] = x.multiply_add(columns[v], sums[r][v]);
                    }
                }
            }
            for r in 0..R {
                for v in 0..N {
                    sums[r][v].store(self.out.at((row + r) * self.stride + first + v * V::LANES));
                }
            }
        }
    }
}

/// Calls the instance of [`PanelProduct::tile`] for some rows and vectors.
macro_rules! tile {
    ($product:ident, $row:ident, $panel:ident, $size:expr, $($rows:literal x $($vectors:literal)+;)+) => {
        match $size {
            $($([$rows, $vectors] => $product.tile::<V, $rows, $vectors>($row, $panel),)+)+
            size => unreachable!("a register tile of {size:?}"),
        }
    };
}

impl OnVectors<f32> for PanelProduct<'_> {
    #[inline(always)]
    unsafe fn run<V: Floats<Element = f32>>(self) {
        let rows = self.product.starts.len();
        for panel in self.panels.clone() {
            let columns = self.product.weights.columns_of(panel);
            let (vectors, mut row) = (columns.len() / V::LANES, 0);
            while row < rows {
                let (count, columns) = (tile_rows(rows - row), columns.clone());
                // SAFETY: guaranteed by the caller.
                unsafe {
                    tile!(self, row, columns, [count, vectors],
                        1 x 1 2 3 4 5 6 7 8; 2 x 1 2 3 4; 3 x 1 2 3; 4 x 1 2; 5 x 1 2; 6 x 1 2;
                    );
                }
                row += count;
            }
        }
    }
}
