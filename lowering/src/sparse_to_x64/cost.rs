//! Estimated cycles of generated code, from counts of its instructions and of the cache lines that it reads.

use super::form::{FORMS, RegisterTile};
use crate::sparse_product::Matrix;
use gradus_machines::x64::Width;
use gradus_networks::Columns;
use gradus_networks::addr::{Division, SparseShape};

/// Bytes of B that are read again by each group of rows, so that they stay in the L1 cache, if the code of all groups does.
const NEAR: usize = 16 << 10;

/// Bytes of code of a load of B.
const BYTES_PER_LOAD: usize = 11;
/// Bytes of code that begin and store a sum.
const BYTES_PER_RESULT: usize = 20;

/// Size of a line of the caches, and of a page. A page has a line in each set of the L1 cache.
pub(super) const LINE: usize = 64;
pub(super) const PAGE: usize = 4096;

/// Rows of B per loop over columns that are tried, besides all.
const CHUNKS: [usize; 4] = [64, 128, 256, 512];

/// A core: cycles of what code does, and what stays in its caches.
pub(super) struct Core {
    /// A multiply-add.
    product: f64,
    /// A broadcast of a value, if it is not an operand.
    broadcast: f64,
    /// A load of a vector of B, from the L1 cache or another.
    load: f64,
    /// A line of B that is not in the L1 cache: too many lines are read before it is read again, or too many of its set.
    miss: f64,
    conflict: f64,
    /// The first of such lines in another row of B.
    row: f64,
    /// A change to another row, if rows are in more pages than are translated at once.
    far_row: f64,
    /// A change to another row of B when it is read for the first time from memory, beyond all caches.
    first_row: f64,
    /// A load or store of a sum.
    result: f64,
    /// The start of a loop over columns.
    round: f64,
    /// A byte of code from the L2 cache, from the next, and of code that is four times as large as the L2 cache.
    fetched: [f64; 3],
    /// A byte of code that other code crowds out of the caches between two calls.
    crowded: f64,
    /// Compressed rows: a nonzero for a block of columns, and for each of its vectors; a row, block and chunk.
    rows: [f64; 3],
    /// The first read of four bytes of the dense operand by them: from the L2 cache or the next, from beyond, and if whole rows are read there.
    first_read: [f64; 3],
    /// Four bytes that they write, if the result does not stay in the last cache.
    far_result: f64,
    /// Bytes of code of a loop body, so that it stays in the L1 instruction cache.
    body: usize,
    /// Bytes of B that are read again by each group of rows, so that they stay in the L2 cache; of code twice as many.
    shared: usize,
    /// Bytes of B or of the result that stay in the last cache.
    cached: usize,
    /// Bytes of lines that stay in the L1 cache from a vector of columns to the next, and lines of one of its sets.
    pub near_lines: f64,
    ways: usize,
    /// Pages that are translated at once.
    pub pages: f64,
}

/// A core with 512-bit vectors, fitted to products of DLMC's ResNet-50 and transformer with 80 to 98 % zeros in all forms and chunks, on
/// Sapphire Rapids.
pub(super) const WIDE: Core = Core {
    product: 0.57,
    broadcast: 0.16,
    load: 0.67,
    miss: 0.42,
    conflict: 0.42,
    row: 0.5,
    far_row: 1.3,
    first_row: 30.0,
    result: 2.5,
    round: 16.0,
    fetched: [0.04, 0.24, 0.24],
    crowded: 0.24,
    // Estimated from such rows without chunks; not fitted.
    rows: [2.0, 1.5, 30.0],
    first_read: [0.3, 4.0, 1.8],
    far_result: 1.5,
    body: 24 << 10,
    shared: 512 << 10,
    cached: 16 << 20,
    near_lines: 40e3,
    ways: 12,
    pages: 100.0,
};

/// A core with 256-bit vectors, fitted to 22 products of 64x64 to 1024x1024 by 49 to 3136 columns with 80 to 95 % zeros in both forms and all
/// chunks, on Zen 3.
const NARROW: Core = Core {
    product: 0.58,
    broadcast: 0.3,
    load: 0.52,
    miss: 0.55,
    conflict: 2.3,
    row: 0.0,
    far_row: 0.55,
    result: 1.0,
    fetched: [0.01, 0.05, 0.25],
    crowded: 1.5,
    rows: [1.5, 1.0, 25.0],
    first_read: [0.8, 4.0, 1.8],
    body: 20 << 10,
    shared: 256 << 10,
    cached: 8 << 20,
    near_lines: 10e3,
    ways: 8,
    pages: 64.0,
    ..WIDE
};

impl Core {
    fn of(width: Width) -> &'static Core {
        if width == Width::Zmm { &WIDE } else { &NARROW }
    }
}

/// The numbers of a matrix on which the cost of its product depends.
#[derive(Clone, Copy)]
pub(super) struct MatrixCounts {
    pub rows: usize,
    pub depth: usize,
    pub nonzeros: usize,
    /// Bytes of an element.
    pub element: usize,
}

impl MatrixCounts {
    pub fn of(matrix: &Matrix) -> MatrixCounts {
        let (rows, depth, nonzeros) = (matrix.rows, matrix.depth, matrix.values().len());
        MatrixCounts { rows, depth, nonzeros, element: matrix.element() }
    }

    /// Rows of B that groups of rows of a random matrix load, all together.
    fn read(&self, group: usize) -> usize {
        let density = self.nonzeros as f64 / (self.rows * self.depth).max(1) as f64;
        let of_group = self.depth as f64 * (1.0 - (1.0 - density.min(1.0)).powf(group as f64));
        (of_group * self.rows.div_ceil(group) as f64) as usize
    }

    /// Estimated cycles of the best form for a random matrix and columns that follow each other.
    pub fn cycles(&self, columns: usize, width: Width) -> Option<f64> {
        let offsets: Vec<usize> = (0..self.depth).map(|k| k.saturating_mul(columns)).collect();
        let (rows, columns) = (Rows::of(&offsets, self.element), Columns::adjacent(columns));
        let forms = RegisterTile::all(self, columns, width);
        let costs = forms.flat_map(|form| rows.costs(form, (*self, self.read(form.rows)), columns));
        costs.map(|cost| cost.cycles).min_by(f64::total_cmp)
    }
}

/// Estimated cycles of the product of a matrix by compressed rows. Chunks of the dense operand stay in the L1 cache.
pub(super) fn rows_cycles(counts: &MatrixCounts, columns: Columns, width: Width) -> f64 {
    let core = Core::of(width);
    let bytes = |rows: usize| rows.saturating_mul(columns.all).saturating_mul(counts.element);
    let [nonzero, vector, row] = core.rows;
    let lanes = width.bytes() / counts.element;
    // The sums of strips that fill no vector are scalars, all of which take as long as two vectors.
    let vectors = if columns.strip() < lanes { columns.strip().min(2) } else { columns.strip().div_ceil(lanes) };
    let MatrixCounts { rows, depth, nonzeros, .. } = *counts;
    let shape = SparseShape { rows, depth, nonzeros };
    let Division { blocks, chunks, .. } = shape.divide(vectors, width.bytes());
    let strip = (blocks as f64 * nonzero + vectors as f64 * vector) * nonzeros as f64
        + row * rows.saturating_mul(blocks).saturating_mul(chunks) as f64;
    let (is_far, is_seldom) = (SparseShape::is_far(bytes(depth)), shape.is_streamed());
    let first = core.first_read[if is_far && is_seldom { 2 } else { usize::from(is_far) }];
    let result = if bytes(counts.rows) > core.cached { core.far_result } else { 0.0 };
    let moved = first * bytes(counts.depth) as f64 + result * bytes(counts.rows) as f64;
    strip * columns.strips as f64 + moved / 4.0
}

/// Estimated cycles of the fetch of code that other code crowds out of the caches between two calls.
pub(super) fn crowded_cycles(width: Width, bytes: usize) -> f64 {
    Core::of(width).crowded * bytes as f64
}

/// Cache lines and pages of the dense operand that code reads for one vector of columns.
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
    pub form: RegisterTile,
    pub blocks: ProductDivision,
    pub cycles: f64,
}

/// The division of a product.
pub(super) struct ProductDivision {
    /// Rows of B per loop over columns.
    pub chunk: usize,
    /// Columns per call.
    pub tile: usize,
    /// Estimated bytes of code.
    pub code: usize,
}

impl Rows {
    /// The rows that begin at elements `offsets`, of a size in bytes.
    pub fn of(offsets: &[usize], element: usize) -> Rows {
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

    /// The costs of the divisions of a product with a form, whose groups of rows load `read` rows of B.
    pub fn costs(
        &self,
        form: RegisterTile,
        (counts, read): (MatrixCounts, usize),
        columns: Columns,
    ) -> impl Iterator<Item = Cost> + use<'_> {
        let depth = counts.depth;
        let chunks = CHUNKS.into_iter().filter(move |chunk| chunk + chunk / 4 < depth).chain([depth]);
        chunks.map(move |chunk| {
            // Chunks of almost equal size.
            let chunk = depth.div_ceil(depth.div_ceil(chunk.max(1)).max(1));
            let blocks = form.blocks(&counts, chunk, read);
            Cost { form, cycles: self.cycles(form, (&counts, read), columns, &blocks), blocks }
        })
    }

    /// Estimated cycles for all columns; groups of rows load `read` rows of B.
    fn cycles(
        &self,
        form: RegisterTile,
        (counts, read): (&MatrixCounts, usize),
        columns: Columns,
        blocks: &ProductDivision,
    ) -> f64 {
        let (nonzeros, vectors) = (counts.nonzeros as f64, form.vectors as f64);
        let chunks = counts.depth.div_ceil(blocks.chunk.max(1)) as f64;
        let groups = counts.rows.div_ceil(form.rows) as f64;
        let (read, results) = (read as f64, counts.rows as f64 * vectors);
        let of_chunk = |n: usize| n as f64 / chunks;
        let core = Core::of(form.width);
        let broadcasts = if form.folds_values() { 0.0 } else { nonzeros };
        // One more line for a row that does not begin at one. A line that is not kept is read again for its other half.
        let lines = form.panel_bytes() as f64 / LINE as f64 + if self.are_split { 1.0 } else { 0.0 };
        let (loads, lines) = (lines.max(vectors), lines.max(1.0));
        let bytes = of_chunk(self.lines) * lines * LINE as f64;
        let sets = self.sets.saturating_mul(form.panel_bytes().div_ceil(LINE)).min(PAGE / LINE);
        let miss = match bytes {
            _ if bytes > (core.ways * sets * LINE) as f64 => core.conflict * lines + core.row,
            _ if bytes > core.near_lines => core.miss * lines + core.row,
            _ => 0.0,
        };
        let far = if of_chunk(self.pages) > core.pages { core.far_row } else { 0.0 };
        let elements = self.last.saturating_add(columns.reach().unwrap_or(usize::MAX));
        let first = if elements.saturating_mul(counts.element) > core.cached { core.first_row } else { 0.0 };
        let panel = core.product * nonzeros * vectors
            + core.broadcast * broadcasts
            + (core.load * loads + miss + far) * read
            + first * self.lines as f64
            + core.result * results * (2.0 * chunks - 1.0)
            + core.round * groups * chunks;
        let strip = columns.strip();
        let panels = strip.div_ceil(form.panel(counts.element)) as f64;
        // A body that is larger than the cache is fetched for each panel.
        let is_held = blocks.code as f64 <= core.body as f64 * groups * chunks;
        let fetches = if is_held { strip.div_ceil(blocks.tile) as f64 } else { panels };
        let level = [2, 8].into_iter().filter(|level| blocks.code > level * core.shared).count();
        let fetched = core.fetched[level] * blocks.code as f64;
        columns.strips as f64 * (panels * panel + fetches * fetched)
    }
}

impl RegisterTile {
    /// The forms for a product of some columns.
    pub fn all(counts: &MatrixCounts, columns: Columns, width: Width) -> impl Iterator<Item = RegisterTile> + use<> {
        let (rows, element) = (counts.rows, counts.element);
        let fits = move |form: &RegisterTile| {
            let (strip, panel) = (columns.strip(), form.panel(element));
            match form.width {
                Width::Zmm => width == Width::Zmm,
                Width::Ymm => width == Width::Ymm && strip >= panel,
                // Fewer columns than 256 bits have; numbers of f64 cannot be broadcast to 128.
                Width::Xmm => width == Width::Ymm && element == 4 && (panel..2 * panel).contains(&strip),
            }
        };
        FORMS.into_iter().filter(fits).map(move |form| form.balanced(rows))
    }

    /// The division with chunks of a size; groups load `read` rows of B.
    fn blocks(self, counts: &MatrixCounts, chunk: usize, read: usize) -> ProductDivision {
        let MatrixCounts { rows, depth, nonzeros, element } = *counts;
        let panel = self.panel(element);
        let results = rows * self.vectors * BYTES_PER_RESULT * depth.div_ceil(chunk.max(1));
        let code = nonzeros * self.bytes_per_nonzero() + read * self.vectors * BYTES_PER_LOAD + results;
        let core = Core::of(self.width);
        let is_near = code <= core.body && chunk == depth && panel * depth * element <= NEAR;
        let held = if is_near { NEAR } else { core.shared };
        let tile = (held / (chunk * element).max(1)).max(panel) / panel * panel;
        ProductDivision { chunk, tile, code }
    }

    /// Bytes of code of a nonzero: multiply-adds, and a broadcast unless it is folded.
    fn bytes_per_nonzero(self) -> usize {
        if self.folds_values() { 8 } else { 8 + 6 * self.vectors }
    }
}
