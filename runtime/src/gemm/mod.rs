//! Table-driven GEMM: matrix products whose left operand A is found through address tables, for every layout.
//!
//! With separable addresses, `C[m, n] = Σ_{r, j} a[base[m] + relative[r] + j] · b[r · run + j, n]`; with indirect
//! addresses, `a[bases[m, r] + j]`. The innermost loop computes no address beyond base plus offset. Source: the seed on
//! static compiled representations. The blocking follows Goto and van de Geijn, "Anatomy of high-performance matrix
//! multiplication". A is packed, through the tables, where several panels of few vectors read it.
//!
//! | file | contents |
//! |---|---|
//! | `addresses.rs` | the address table of A, compiled |
//! | `packed.rs` | packed rows of A |
//! | `panels.rs` | packed panels of B |
//! | `kernel.rs` | the micro-kernel |
//! | `kernels.rs` | its instances per vector extension and tile size |
//! | `division.rs` | blocks of rows and groups of panels, which threads divide among them |
//! | `bytes/` | the same for 8-bit integers |
//! | `bf16/` | the same for bf16, with sums of f32 |
//! | `tile_rows.rs`, `amx.rs` | A as tiles of 16 rows of 64 bytes; products of tiles |

#![allow(unsafe_code)]

mod addresses;
#[cfg(target_arch = "x86_64")]
mod amx;
pub mod bf16;
pub mod bytes;
mod division;
mod kernel;
mod kernels;
mod packed;
mod panels;
#[cfg(test)]
pub(crate) mod tests;
mod tile_rows;

use crate::aligned_bytes::LINE;
pub use crate::vector::Isa;
use crate::workers::{DisjointWriter, Workers};
use crate::{ElementwiseEpilogue, KernelError};
pub use addresses::{Addresses, RunSplit};
use division::SharedExtents;
use kernel::{Epilogue, Left, OffsetWalk, SummandRun, Tile, UNROLL, lines_ahead};
use packed::PackedRows;
pub(crate) use panels::PANEL;
pub use panels::Panels;
use std::cell::Cell;
use std::ops::Range;

/// Maximum length of a run of f32. Longer ones are split, so that slices of the reduction dimension consist of runs.
const LONGEST_RUN: usize = 128;

thread_local! {
    /// The packed rows of the thread's block; none while a product uses them.
    static PACKED: Cell<PackedRows> = Cell::default();
}

/// A matrix product.
#[derive(Clone, Copy)]
pub struct Product<'a> {
    /// The buffer of A.
    pub a: &'a [f32],
    /// The addresses of A in the buffer.
    pub addresses: &'a Addresses,
    /// The packed right operand B.
    pub b: &'a Panels,
    /// Residual, added to the result elementwise; same rows as the destination, of which the same columns are added.
    pub add: Option<&'a [f32]>,
    /// The functions of each element.
    pub elementwise: ElementwiseEpilogue,
}

/// The position of the result's columns in a wider row (strided output).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ColumnSlice {
    /// First column.
    pub first: usize,
    /// Number of columns of the wider row: the leading dimension.
    pub of: usize,
}

impl ColumnSlice {
    /// Divides the columns among products whose results are side by side.
    fn divided<P>(self, all: &[P], columns: impl Fn(&P) -> usize) -> Vec<(&P, ColumnSlice)> {
        let mut first = self.first;
        let slice = |product| {
            let slice = ColumnSlice { first, ..self };
            first = first.saturating_add(columns(product));
            (product, slice)
        };
        all.iter().map(slice).collect()
    }

    /// Checks that `rows` rows of the wider row are a result, and a residual if there is one, of `elements` elements, and that
    /// `columns` columns are in such a row.
    fn check(self, [rows, columns]: [usize; 2], elements: usize, add: Option<usize>) -> Result<(), KernelError> {
        let ColumnSlice { first, of } = self;
        if rows.checked_mul(of) != Some(elements) || add.is_some_and(|add| add != elements) {
            return Err(format!(
                "a result of {rows} rows and {columns} of {of} columns does not have {elements} elements"
            )
            .into());
        }
        if first.checked_add(columns).is_none_or(|end| end > of) {
            return Err(format!("{columns} columns from column {first} on exceed a row of {of}").into());
        }
        Ok(())
    }
}

/// Checks the sizes of a right operand that is packed in runs, and of its bias, for an extension.
fn check_packed(
    (isa, is_supported): (impl std::fmt::Debug, bool),
    [columns, summands]: [usize; 2],
    run: usize,
    bias: Option<usize>,
) -> Result<(), KernelError> {
    if !is_supported || run == 0 || !summands.is_multiple_of(run) {
        return Err(format!(
            "this machine does not support {isa:?}, or {summands} summands are not a multiple of the run length {run}"
        )
        .into());
    }
    if bias.is_some_and(|bias| bias != columns) {
        return Err(format!("the bias does not have {columns} elements").into());
    }
    Ok(())
}

impl Product<'_> {
    /// Computes the result with contiguous rows.
    ///
    /// # Errors
    /// Incompatible sizes, or an address outside the buffer.
    pub fn compute(&self, workers: &Workers, c: &mut [f32]) -> Result<(), KernelError> {
        Product::compute_all(&[*self], workers, c, ColumnSlice { first: 0, of: self.b.columns() })
    }

    /// Computes several results of equally many rows, side by side into a slice of wider rows, whose other columns stay
    /// unchanged.
    ///
    /// # Errors
    /// Incompatible sizes, or an address outside the buffer.
    pub fn compute_all(
        all: &[Product<'_>],
        workers: &Workers,
        c: &mut [f32],
        columns: ColumnSlice,
    ) -> Result<(), KernelError> {
        let slices = columns.divided(all, |product| product.b.columns());
        slices.iter().try_for_each(|(product, columns)| product.check(c.len(), *columns))?;
        let Some(first) = all.first() else { return Ok(()) };
        let c = DisjointWriter::new(c);
        let extents = SharedExtents {
            rows: first.addresses.rows(),
            tile_rows: first.b.tile_rows(),
            groups: first.b.groups(),
            products: all.len(),
            steps: all.iter().map(Product::steps).fold(0, usize::saturating_add),
        };
        extents.share(workers, |i, rows, part| {
            let (product, columns) = slices[i];
            product.block(rows, part.range(product.b.groups()), Destination { c, columns });
        });
        Ok(())
    }

    /// Returns the approximate number of vector operations.
    fn steps(&self) -> usize {
        let tiles = self.addresses.rows().div_ceil(self.b.tile_rows()) * self.b.groups();
        tiles.saturating_mul(self.b.summands()).saturating_mul(MAX_TILE / 16)
    }

    /// Computes some groups of panels of some rows, one slice of the reduction dimension after the other.
    fn block(&self, rows: Range<usize>, groups: Range<usize>, to: Destination) {
        let (run, runs) = (self.addresses.run(), self.addresses.runs());
        let most = self.b.isa().most_summands();
        let parts = ((self.addresses.summands() + most / 2) / most).max(1);
        let per_part = runs.len().div_ceil(parts).max(1);
        let none = runs.is_empty().then_some(&[][..]);
        let packs = self.b.isa().packs(groups.len(), run);
        let mut packed = PACKED.take();
        for (i, some) in runs.chunks(per_part).chain(none).enumerate() {
            let (summand, walk) = (i * per_part * run, self.addresses.walk(i * per_part));
            let ends = [i == 0, summand + some.len() * run == self.b.summands()];
            if packs {
                packed.pack(self, rows.clone(), self.b.tile_rows(), (some, walk));
            }
            let packed = packs.then_some(&packed);
            for group in groups.clone() {
                let next = match group + 1 < groups.end {
                    true => (group + 1, summand),
                    false => (groups.start, if ends[1] { 0 } else { summand + some.len() * run }),
                };
                let (panels, next) = (self.b.group(group), (self.b.group(next.0).start, next.1));
                let slice = GroupSlice { rows: rows.clone(), runs: some, walk, packed, summand, panels, next, ends };
                self.group(&slice, to);
            }
        }
        PACKED.set(packed);
    }

    /// Returns the runs that are not padding for all of these rows, of which those at the ends need no sums. All runs,
    /// if sums with zeros may be NaN.
    fn there(&self, rows: Range<usize>, runs: &[SummandRun]) -> Range<usize> {
        if self.addresses.has_holes() && self.b.is_finite() { self.addresses.there(rows, runs) } else { 0..runs.len() }
    }

    /// Checks that all memory accesses are in bounds.
    fn check(&self, elements: usize, columns: ColumnSlice) -> Result<(), KernelError> {
        columns.check([self.addresses.rows(), self.b.columns()], elements, self.add.map(<[f32]>::len))?;
        self.addresses.check(self.b.summands(), self.addresses.run(), self.a.len())
    }

    /// Computes some rows of a group of panels. The caller has exclusive access to these rows of the result.
    fn group(&self, work: &GroupSlice<'_>, to: Destination) {
        let (isa, stride) = (self.b.isa(), to.columns.of);
        let (first, panels) = (work.panels.start * PANEL, work.panels.len());
        let (here, tile_rows) = ((panels * PANEL).min(self.b.columns() - first), isa.tile_rows()[panels - 1]);
        let computed = isa.computed(here);
        let bias = self.b.bias().map(|bias| bias[first..][..panels * PANEL].as_ptr());
        let b = self.b.from(work.panels.start, work.summand);
        let mut scratch = (here < computed).then(|| ScratchTile::new(here, computed, stride));
        let (table, table_stride) = self.addresses.table();
        let run = self.addresses.run();
        let mut ahead = self.b.from(work.next.0, work.next.1);
        ahead = &ahead[..ahead.len().min(work.runs.len() * run * PANEL)];
        for (i, row) in work.rows.clone().step_by(tile_rows).enumerate() {
            let (rows, at) = (tile_rows.min(work.rows.end - row), row * stride + to.columns.first + first);
            let mut add = self.add.map(|add| add[at..].as_ptr());
            let target = to.c.at(at);
            let mut result = target;
            let ((a, there), left) = match work.packed {
                Some(packed) => (packed.tile(i), Left::Packed),
                None if self.addresses.has_holes() => ((self.a, self.there(row..row + rows, work.runs)), Left::Holes),
                None => ((self.a, 0..work.runs.len()), Left::Table),
            };
            // SAFETY: `check` found all offsets of table and runs inside `a`, and kernels read such runs; or `a` is packed.
            // Each panel of the group has `PANEL` elements for each summand from `summand` on, and the next panel follows
            // after those of all summands. `c` and `add` have `stride` elements per row, of which `computed` from `at` on
            // exist, or they are scratch tiles of that size. `bias` has `PANEL` elements per panel from the first column
            // on. No other thread writes these rows of this group. `Panels` exist only for vectors that the machine has.
            unsafe {
                if let Some(scratch) = &mut scratch {
                    scratch.load(rows, (!work.ends[0]).then_some(result), add);
                    (add, result) = (add.map(|_| scratch.add.as_ptr()), scratch.c.as_mut_ptr());
                }
                let tile = Tile {
                    a: a.as_ptr(),
                    table: table[row * table_stride..].as_ptr(),
                    table_stride,
                    runs: &work.runs[there.clone()],
                    walk: work.walk,
                    run,
                    b: b[there.start * run * PANEL..].as_ptr(),
                    b_stride: self.b.summands() * PANEL,
                    ahead: if ahead.is_empty() { b.as_ptr() } else { ahead.as_ptr() },
                    ahead_step: if ahead.is_empty() { 0 } else { LINE / 4 },
                    c: result,
                    stride: if scratch.is_some() { computed } else { stride },
                    first: work.ends[0],
                    epilogue: work.ends[1].then_some(Epilogue { bias, add, elementwise: self.elementwise }),
                };
                isa.kernel(rows, computed, left)(&tile);
                ahead = ahead.get(there.len() * run / UNROLL * lines_ahead(panels) * (LINE / 4)..).unwrap_or(&[]);
                if let Some(scratch) = &scratch {
                    scratch.store(rows, target);
                }
            }
        }
    }
}

/// The destination of a product.
#[derive(Clone, Copy)]
struct Destination {
    c: DisjointWriter<f32>,
    columns: ColumnSlice,
}

/// Number of elements of the largest register tile.
const MAX_TILE: usize = 12 * 32;

/// A scratch tile with all columns of a group of panels, for results with fewer columns.
struct ScratchTile {
    c: [f32; MAX_TILE],
    add: [f32; MAX_TILE],
    here: usize,
    width: usize,
    /// Row stride of the result.
    stride: usize,
}

impl ScratchTile {
    fn new(here: usize, width: usize, stride: usize) -> ScratchTile {
        ScratchTile { c: [0.0; MAX_TILE], add: [0.0; MAX_TILE], here, width, stride }
    }

    /// Loads result and residual of a tile.
    ///
    /// # Safety
    /// The result and the residual have the tile's columns in each of `rows` rows.
    unsafe fn load(&mut self, rows: usize, c: Option<*mut f32>, add: Option<*const f32>) {
        for (to, from) in [(&mut self.c, c.map(<*mut f32>::cast_const)), (&mut self.add, add)] {
            let Some(from) = from else { continue };
            for r in 0..rows {
                // SAFETY: guaranteed by the caller.
                let row = unsafe { std::slice::from_raw_parts(from.add(r * self.stride), self.here) };
                to[r * self.width..][..self.here].copy_from_slice(row);
            }
        }
    }

    /// Stores the tile to the result.
    ///
    /// # Safety
    /// The result has the tile's columns in each of `rows` rows, with exclusive access.
    unsafe fn store(&self, rows: usize, c: *mut f32) {
        for r in 0..rows {
            // SAFETY: guaranteed by the caller.
            let row = unsafe { std::slice::from_raw_parts_mut(c.add(r * self.stride), self.here) };
            row.copy_from_slice(&self.c[r * self.width..][..self.here]);
        }
    }
}

/// Some rows of a group of panels over a slice of the reduction dimension.
struct GroupSlice<'a> {
    rows: Range<usize>,
    runs: &'a [SummandRun],
    walk: OffsetWalk,
    packed: Option<&'a PackedRows>,
    /// Index of the first summand.
    summand: usize,
    panels: Range<usize>,
    /// The panel and first summand that are read next, for prefetching.
    next: (usize, usize),
    /// Whether the slice contains the first summands, and the last.
    ends: [bool; 2],
}
