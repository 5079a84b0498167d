//! Estimated cycles of generated code, from counts of its instructions and of the cache lines that it reads.

use super::form::{FORMS, RegisterTile};
use crate::sparse_product::Matrix;
use gradus_cost::{CostError, CostModel, machine_numbers};
use gradus_dialects::op_cost::Contraction;
use gradus_ir::Context;
use gradus_machines::x64::Width;
use gradus_networks::Columns;
use gradus_networks::addr::{Division, SparseShape};

/// Maximum depth of a product whose cycles are estimated, and elements of its matrix.
const MAX_DEPTH: u64 = 1 << 16;
const MAX_ELEMENTS: u64 = 1 << 40;

/// Bytes of code of a load of B.
const BYTES_PER_LOAD: usize = 11;
/// Bytes of code that begin and store a sum.
const BYTES_PER_RESULT: usize = 20;

/// Rows of B per loop over columns that are tried, besides all.
const CHUNKS: [usize; 4] = [64, 128, 256, 512];

machine_numbers! {
    /// The numbers of a core that the cost of generated code depends on. Rates are in cycles.
    pub struct Core {
        /// A multiply-add.
        code_product: f64,
        /// A broadcast of a value, if it is not an operand.
        code_broadcast: f64,
        /// A load of a vector of B, from the L1 cache or another.
        code_load: f64,
        /// A line of B that is not in the L1 cache: too many lines are read before it is read again, or too many of its set.
        code_miss: f64,
        code_conflict: f64,
        /// Such a line in another row of B than the line before.
        code_row_miss: f64,
        /// A change to another row, if rows are in more pages than are translated at once.
        code_far_row: f64,
        /// A change to another row of B when it is read for the first time from memory, beyond all caches.
        code_first_row: f64,
        /// A load or store of a sum.
        code_result: f64,
        /// The start of a loop over columns.
        code_loop: f64,
        /// A byte of code from the L2 cache, from the next, and of code that is four times as large as the L2 cache.
        code_fetch: f64,
        code_far_fetch: f64,
        code_large_fetch: f64,
        /// A byte of code that other code crowds out of the caches between two calls.
        code_crowded: f64,
        /// Elements of the sparse constants of a module from which on their code, for one in ten, does not fit into an L2 cache.
        pub(super) crowded_elements: usize,
        /// An element of a result that is sliced.
        pub(super) code_slice: f64,
        /// Compressed rows: a nonzero for a block of columns, and for each of its vectors; a row, block and chunk.
        rows_nonzero: f64,
        rows_vector: f64,
        rows_row: f64,
        /// The first read of four bytes of the dense operand by them: from the L2 cache or the next, from beyond, and if whole rows are read there.
        rows_read: f64,
        rows_far_read: f64,
        rows_streamed_read: f64,
        /// Four bytes that they write, if the result does not stay in the last cache.
        rows_far_result: f64,
        /// Bytes of code of a loop body, so that it stays in the L1 instruction cache.
        code_body: usize,
        /// Bytes of B that are read again by each group of rows, so that they stay in the L1 cache, if the code of all groups does.
        code_near: usize,
        /// Bytes of B that are read again by each group of rows, so that they stay in the L2 cache; of code twice as many.
        code_shared: usize,
        /// Bytes of B or of the result that stay in the last cache.
        code_cached: usize,
        /// Bytes of lines that stay in the L1 cache from a vector of columns to the next, and lines of one of its sets.
        pub(super) code_lines: usize,
        l1_ways: usize,
        /// Pages that are translated at once.
        pub(super) code_pages: usize,
        /// Size of a line of the caches, and of a page, which has a line in each set of the L1 cache.
        pub(super) line_bytes: usize,
        pub(super) page_bytes: usize,
    }
}

impl Core {
    /// Estimated cycles of generated code for a contraction whose left operand is a random matrix with some nonzeros, by vectors of 256 bits;
    /// `None` without such code, and if the matrix is empty or very large.
    pub fn cycles(&self, c: &Contraction, nonzeros: u64) -> Option<u64> {
        let (counts, columns) = random_counts(c, nonzeros)?;
        let offsets: Vec<usize> = (0..counts.depth).map(|k| k.saturating_mul(columns)).collect();
        let (rows, columns) = (Rows::of(self, &offsets, counts.element), Columns::adjacent(columns));
        let forms = RegisterTile::all(&counts, columns, Width::Ymm);
        let costs = forms.flat_map(|form| rows.costs(form, (counts, counts.read(form.rows)), columns));
        costs.map(|cost| cost.cycles).min_by(f64::total_cmp).map(|cycles| cycles as u64)
    }

    /// The same for compressed rows.
    pub fn rows_cycles(&self, c: &Contraction, nonzeros: u64) -> Option<u64> {
        let (counts, columns) = random_counts(c, nonzeros)?;
        Some(rows_cycles(self, &counts, Columns::adjacent(columns), Width::Ymm) as u64)
    }

    /// Estimated cycles of the fetch of code that other code crowds out of the caches between two calls.
    pub(super) fn crowded_cycles(&self, bytes: usize) -> f64 {
        self.code_crowded * bytes as f64
    }
}

/// The cores for which code is generated.
#[derive(Clone, Copy)]
pub(super) struct Cores {
    wide: Core,
    narrow: Core,
}

impl Cores {
    /// Returns the cores by the machine descriptions of a context: the loaded one, or those that the target embeds for 512-bit and 256-bit vectors.
    ///
    /// # Errors
    /// There is no such target, or its machine lacks a number.
    pub fn of(ctx: &Context) -> Result<&Cores, CostError> {
        if ctx.extension::<Result<Cores, CostError>>().is_none() {
            ctx.extend(Cores::read(ctx));
        }
        ctx.extension::<Result<Cores, CostError>>().expect("it was added").as_ref().map_err(Clone::clone)
    }

    fn read(ctx: &Context) -> Result<Cores, CostError> {
        let model = CostModel::named(ctx, "cpu")?;
        let core = |width: Width| Core::of(&model.machine_with(ctx, "vector_bytes", width.bytes() as u64)?);
        Ok(Cores { wide: core(Width::Zmm)?, narrow: core(Width::Ymm)? })
    }

    /// Returns the core for vectors of a width.
    pub fn with(&self, width: Width) -> &Core {
        if width == Width::Zmm { &self.wide } else { &self.narrow }
    }
}

/// The counts of a random left operand, and the number of columns.
fn random_counts(c: &Contraction, nonzeros: u64) -> Option<(MatrixCounts, usize)> {
    let size = |n: u64| usize::try_from(n).ok();
    let elements = c.rows.checked_mul(c.depth).filter(|&n| (1..=MAX_ELEMENTS).contains(&n))?;
    (c.depth <= MAX_DEPTH && nonzeros <= elements && c.columns > 0).then_some(())?;
    let element = size(c.factors.bytes_of_sum())?;
    let counts = MatrixCounts { rows: size(c.rows)?, depth: size(c.depth)?, nonzeros: size(nonzeros)?, element };
    Some((counts, size(c.columns)?))
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
}

/// Estimated cycles of the product of a matrix by compressed rows. Chunks of the dense operand stay in the L1 cache.
pub(super) fn rows_cycles(core: &Core, counts: &MatrixCounts, columns: Columns, width: Width) -> f64 {
    let bytes = |rows: usize| rows.saturating_mul(columns.all).saturating_mul(counts.element);
    let lanes = width.bytes() / counts.element;
    // The sums of strips that fill no vector are scalars, all of which take as long as two vectors.
    let vectors = if columns.strip() < lanes { columns.strip().min(2) } else { columns.strip().div_ceil(lanes) };
    let MatrixCounts { rows, depth, nonzeros, .. } = *counts;
    let shape = SparseShape { rows, depth, nonzeros };
    let Division { blocks, chunks, .. } = shape.divide(vectors, width.bytes());
    let strip = (blocks as f64 * core.rows_nonzero + vectors as f64 * core.rows_vector) * nonzeros as f64
        + core.rows_row * rows.saturating_mul(blocks).saturating_mul(chunks) as f64;
    let (is_far, is_seldom) = (SparseShape::is_far(bytes(depth)), shape.is_streamed());
    let first = match is_far {
        true if is_seldom => core.rows_streamed_read,
        true => core.rows_far_read,
        false => core.rows_read,
    };
    let result = if bytes(counts.rows) > core.code_cached { core.rows_far_result } else { 0.0 };
    let moved = first * bytes(counts.depth) as f64 + result * bytes(counts.rows) as f64;
    strip * columns.strips as f64 + moved / 4.0
}

/// Cache lines and pages of the dense operand that code reads for one vector of columns.
pub(super) struct Rows<'c> {
    core: &'c Core,
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

impl<'c> Rows<'c> {
    /// The rows that begin at elements `offsets`, of a size in bytes.
    pub fn of(core: &'c Core, offsets: &[usize], element: usize) -> Rows<'c> {
        let (line, page) = (core.line_bytes, core.page_bytes);
        let distinct = |number: &dyn Fn(usize) -> usize| {
            let mut all: Vec<usize> = offsets.iter().map(|at| number(at.saturating_mul(element))).collect();
            all.sort_unstable();
            all.dedup();
            all.len()
        };
        let are_split = offsets.iter().any(|at| !at.saturating_mul(element).is_multiple_of(line));
        let (lines, pages) = (distinct(&|at| at / line), distinct(&|at| at / page));
        let last = offsets.iter().copied().max().unwrap_or(0);
        Rows { core, lines, pages, sets: distinct(&|at| at % page / line), are_split, last }
    }

    /// The costs of the divisions of a product with a form, whose groups of rows load `read` rows of B.
    pub fn costs(
        &self,
        form: RegisterTile,
        (counts, read): (MatrixCounts, usize),
        columns: Columns,
    ) -> impl Iterator<Item = Cost> + use<'_, 'c> {
        let depth = counts.depth;
        let chunks = CHUNKS.into_iter().filter(move |chunk| chunk + chunk / 4 < depth).chain([depth]);
        chunks.map(move |chunk| {
            // Chunks of almost equal size.
            let chunk = depth.div_ceil(depth.div_ceil(chunk.max(1)).max(1));
            let blocks = form.blocks(self.core, &counts, chunk, read);
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
        let (core, line) = (self.core, self.core.line_bytes);
        let broadcasts = if form.folds_values() { 0.0 } else { nonzeros };
        // One more line for a row that does not begin at one. A line that is not kept is read again for its other half.
        let lines = form.panel_bytes() as f64 / line as f64 + if self.are_split { 1.0 } else { 0.0 };
        let (loads, lines) = (lines.max(vectors), lines.max(1.0));
        let bytes = of_chunk(self.lines) * lines * line as f64;
        let sets = self.sets.saturating_mul(form.panel_bytes().div_ceil(line)).min(core.page_bytes / line);
        let row = (core.code_row_miss - core.code_miss).max(0.0);
        let miss = match bytes {
            _ if bytes > core.l1_ways.saturating_mul(sets).saturating_mul(line) as f64 => {
                core.code_conflict * lines + row
            }
            _ if bytes > core.code_lines as f64 => core.code_miss * lines + row,
            _ => 0.0,
        };
        let far = if of_chunk(self.pages) > core.code_pages as f64 { core.code_far_row } else { 0.0 };
        let elements = self.last.saturating_add(columns.reach().unwrap_or(usize::MAX));
        let first = if elements.saturating_mul(counts.element) > core.code_cached { core.code_first_row } else { 0.0 };
        let panel = core.code_product * nonzeros * vectors
            + core.code_broadcast * broadcasts
            + (core.code_load * loads + miss + far) * read
            + first * self.lines as f64
            + core.code_result * results * (2.0 * chunks - 1.0)
            + core.code_loop * groups * chunks;
        let strip = columns.strip();
        let panels = strip.div_ceil(form.panel(counts.element)) as f64;
        // A body that is larger than the cache is fetched for each panel.
        let is_held = blocks.code as f64 <= core.code_body as f64 * groups * chunks;
        let fetches = if is_held { strip.div_ceil(blocks.tile) as f64 } else { panels };
        let level = [2, 8].into_iter().filter(|level| blocks.code > core.code_shared.saturating_mul(*level)).count();
        let fetched = [core.code_fetch, core.code_far_fetch, core.code_large_fetch][level] * blocks.code as f64;
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
    fn blocks(self, core: &Core, counts: &MatrixCounts, chunk: usize, read: usize) -> ProductDivision {
        let MatrixCounts { rows, depth, nonzeros, element } = *counts;
        let panel = self.panel(element);
        let results = rows * self.vectors * BYTES_PER_RESULT * depth.div_ceil(chunk.max(1));
        let code = nonzeros * self.bytes_per_nonzero() + read * self.vectors * BYTES_PER_LOAD + results;
        let is_near = code <= core.code_body && chunk == depth && panel * depth * element <= core.code_near;
        let held = if is_near { core.code_near } else { core.code_shared };
        let tile = (held / (chunk * element).max(1)).max(panel) / panel * panel;
        ProductDivision { chunk, tile, code }
    }

    /// Bytes of code of a nonzero: multiply-adds, and a broadcast unless it is folded.
    fn bytes_per_nonzero(self) -> usize {
        if self.folds_values() { 8 } else { 8 + 6 * self.vectors }
    }
}
