//! Estimated cycles of code, by counts of its instructions and of what it reads.

use super::form::{Columns, Form};
use crate::sparse_product::Matrix;

/// Bytes of code of a loop body, so that it stays in the L1 instruction cache.
const BODY: usize = 24 << 10;
/// Bytes of B that are read again by each group of rows, so that they stay in the L2 cache.
const SHARED: usize = 512 << 10;
/// Bytes of B that are read again by each group of rows, so that they stay in the L1 cache, if the code of all groups does.
const NEAR: usize = 16 << 10;

/// Bytes of B that stay in the last cache.
const CACHED: usize = 16 << 20;

/// Bytes of code of a load of B.
const BYTES_PER_LOAD: usize = 11;
/// Bytes of code that begin and store a sum.
const BYTES_PER_RESULT: usize = 20;

/// Size of a line of the caches, and of a page. A page has a line in each set of the L1 cache.
pub(super) const LINE: usize = 64;
pub(super) const PAGE: usize = 4096;

/// Rows of B per loop over columns that are tried, besides all.
const CHUNKS: [usize; 4] = [64, 128, 256, 512];

// Cycles, fitted to products of DLMC's ResNet-50 and transformer with 80 to 98 % zeros in all forms and chunks, on Sapphire Rapids.
/// A multiply-add.
const PRODUCT: f64 = 0.57;
/// A broadcast of a value, if it is not an operand.
const BROADCAST: f64 = 0.16;
/// A load of a line of B, from the L1 cache or another.
const LOAD: f64 = 0.67;
/// A line of B that is not in the L1 cache, and a change to another row of such lines.
const MISS: f64 = 0.42;
const ROW: f64 = 0.5;
/// A change to another row, if rows are in more pages than are translated at once.
const FAR_ROW: f64 = 1.3;
/// A change to another row of B when it is read for the first time from memory, beyond all caches.
const FIRST_ROW: f64 = 30.0;
/// A load or store of a sum.
const RESULT: f64 = 2.5;
/// The start of a loop over columns.
const LOOP: f64 = 16.0;
/// A byte of code from the L2 cache, and from beyond.
const FETCHED: [f64; 2] = [0.04, 0.24];
/// Bytes of lines that stay in the L1 cache from a vector of columns to the next, lines of one of its sets, and pages that are translated
/// at once.
pub(super) const NEAR_LINES: f64 = 40e3;
const WAYS: usize = 12;
pub(super) const PAGES: f64 = 100.0;

/// What code reads of the dense operand for one vector of columns.
pub(super) struct Rows {
    /// Number of cache lines and pages of the first elements of all rows.
    lines: usize,
    pages: usize,
    /// Number of sets of the L1 cache that have these lines.
    sets: usize,
    /// Whether vectors do not begin at cache lines.
    are_split: bool,
    /// First element of the last row.
    last: usize,
}

/// The cost of a form and a division.
pub(super) struct Cost {
    pub form: Form,
    pub blocks: Blocks,
    pub cycles: f64,
}

/// The division of a product.
pub(super) struct Blocks {
    /// Rows of B per loop over columns.
    pub chunk: usize,
    /// Columns per call.
    pub tile: usize,
    /// Estimated bytes of code.
    pub code: usize,
}

impl Rows {
    /// The rows that begin at elements `offsets`.
    pub fn of(offsets: &[usize], matrix: &Matrix) -> Rows {
        let element = matrix.element();
        let distinct = |number: &dyn Fn(usize) -> usize| {
            let mut all: Vec<usize> = offsets.iter().map(|at| number(at.saturating_mul(element))).collect();
            all.sort_unstable();
            all.dedup();
            all.len()
        };
        let are_split = offsets.iter().any(|at| !at.saturating_mul(element).is_multiple_of(LINE));
        let (lines, pages) = (distinct(&|at| at / LINE), distinct(&|at| at / PAGE));
        let last = offsets.iter().copied().max().unwrap_or(0);
        Rows { lines, pages, sets: distinct(&|at| at % PAGE / LINE), are_split, last }
    }

    /// The costs of the divisions of a product with a form.
    pub fn costs<'a>(
        &'a self,
        form: Form,
        matrix: &'a Matrix,
        columns: Columns,
    ) -> impl Iterator<Item = Cost> + use<'a> {
        let (read, depth) = (matrix.distinct_columns(form.rows), matrix.depth);
        let chunks = CHUNKS.into_iter().filter(move |chunk| chunk + chunk / 4 < depth).chain([depth]);
        chunks.map(move |chunk| {
            // Chunks of almost equal size.
            let chunk = depth.div_ceil(depth.div_ceil(chunk.max(1)).max(1));
            let blocks = form.blocks(matrix, chunk, read);
            Cost { form, cycles: self.cycles(form, (matrix, read), columns, &blocks), blocks }
        })
    }

    /// Estimated cycles for all columns; groups of rows load `read` rows of B.
    fn cycles(&self, form: Form, (matrix, read): (&Matrix, usize), columns: Columns, blocks: &Blocks) -> f64 {
        let (nonzeros, vectors) = (matrix.values().len() as f64, form.vectors as f64);
        let chunks = matrix.depth.div_ceil(blocks.chunk.max(1)) as f64;
        let groups = matrix.rows.div_ceil(form.rows) as f64;
        let (read, results) = (read as f64, matrix.rows as f64 * vectors);
        let of_chunk = |n: usize| n as f64 / chunks;
        let broadcasts = if form.folds_values() { 0.0 } else { nonzeros };
        // Two lines for the first vector of a row that does not begin at one.
        let lines = form.panel_bytes() as f64 / LINE as f64 + if self.are_split { 1.0 } else { 0.0 };
        let near = (WAYS * self.sets.saturating_mul(form.vectors).min(PAGE / LINE) * LINE) as f64;
        let is_near = of_chunk(self.lines) * lines * LINE as f64 <= near.min(NEAR_LINES);
        let is_far = of_chunk(self.pages) > PAGES;
        let missed = if is_near { 0.0 } else { MISS * lines + ROW };
        let far = if is_far { FAR_ROW } else { 0.0 };
        let elements = self.last.saturating_add(columns.reach().unwrap_or(usize::MAX));
        let first = if elements.saturating_mul(matrix.element()) > CACHED { FIRST_ROW } else { 0.0 };
        let panel = PRODUCT * nonzeros * vectors
            + BROADCAST * broadcasts
            + (LOAD * lines + missed + far) * read
            + first * self.lines as f64
            + RESULT * results * (2.0 * chunks - 1.0)
            + LOOP * groups * chunks;
        let strip = columns.strip();
        let panels = strip.div_ceil(form.panel(matrix.element())) as f64;
        // A body that is larger than the cache is fetched for each panel.
        let is_held = blocks.code as f64 <= BODY as f64 * groups * chunks;
        let fetches = if is_held { strip.div_ceil(blocks.tile) as f64 } else { panels };
        let fetched = FETCHED[usize::from(blocks.code > 2 * SHARED)] * blocks.code as f64;
        columns.strips as f64 * (panels * panel + fetches * fetched)
    }
}

impl Form {
    /// The division with chunks of a size; groups load `read` rows of B.
    fn blocks(self, matrix: &Matrix, chunk: usize, read: usize) -> Blocks {
        let (panel, depth, element) = (self.panel(matrix.element()), matrix.depth, matrix.element());
        let results = matrix.rows * self.vectors * BYTES_PER_RESULT * depth.div_ceil(chunk.max(1));
        let code = matrix.values().len() * self.bytes_per_nonzero() + read * self.vectors * BYTES_PER_LOAD + results;
        let is_near = code <= BODY && chunk == depth && panel * depth * element <= NEAR;
        let held = if is_near { NEAR } else { SHARED };
        let tile = (held / (chunk * element).max(1)).max(panel) / panel * panel;
        Blocks { chunk, tile, code }
    }

    /// Bytes of code of a nonzero: multiply-adds, and a broadcast unless it is folded.
    fn bytes_per_nonzero(self) -> usize {
        if self.folds_values() { 8 } else { 8 + 6 * self.vectors }
    }
}
