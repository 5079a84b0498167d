//! The choice of the form of the code, by counts of its instructions.

use crate::sparse_product::Matrix;
use gradus_dialects::x64::Width;
use rustc_hash::FxHashMap;

/// The register tile of the code: accumulators for `rows` rows of A and `vectors` vectors of columns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Form {
    pub rows: usize,
    pub vectors: usize,
    pub width: Width,
}

/// The forms, each with as many accumulators as leave registers for B and a broadcast value.
const FORMS: [Form; 6] = [
    Form { rows: 28, vectors: 1, width: Width::Zmm },
    Form { rows: 14, vectors: 2, width: Width::Zmm },
    Form { rows: 9, vectors: 3, width: Width::Zmm },
    Form { rows: 6, vectors: 4, width: Width::Zmm },
    Form { rows: 12, vectors: 1, width: Width::Ymm },
    Form { rows: 6, vectors: 2, width: Width::Ymm },
];

/// Bytes of code of a loop body, so that it stays in the L1 instruction cache.
const BODY: usize = 24 << 10;
/// Bytes of B that are read again by each group of rows, so that they stay in the L2 cache.
const SHARED: usize = 512 << 10;
/// Bytes of B that are read again by each group of rows, so that they stay in the L1 cache, if the code of all groups does.
const NEAR: usize = 16 << 10;
/// Rows of B per loop over columns, at most: results are loaded and stored for each chunk.
const MAX_CHUNK: usize = 512;

/// Number of nonzeros from which on code, of about 9 bytes each, is prefetched.
const PREFETCHED: usize = 2048;
/// Number of panels up to which it is; more of them repay the loads of the code.
const MAX_PANELS: usize = 64;

/// Bytes of code of a load of B.
const BYTES_PER_LOAD: usize = 11;
/// Bytes of code that begin and store a sum.
const BYTES_PER_RESULT: usize = 20;
/// Bytes of code that are fetched per cycle from beyond the L2 cache, with prefetches, and from the L2 cache.
const FETCHED: [f64; 2] = [4.0, 16.0];

/// Cycles of a load from the L1 cache, of a line of B from the L2 cache, and of each change to another row of B, whose line is not
/// prefetched. Fitted to products of the README of benches/ with 70 to 99 % zeros in all forms, on Zen 4.
const NEAR_LINE: f64 = 0.5;
const LINE: f64 = 1.4;
const SEGMENT: f64 = 2.0;
/// Cycles of a change to a row in another page, or in the same set of the L1 cache as many others.
const FAR_SEGMENT: f64 = 4.0;
/// Size of a page. Multiples of half of it are in two sets of the L1 cache.
const PAGE: usize = 4096;
/// Cycles of a result's load or store, of rows that are pages apart.
const RESULT: f64 = 3.0;
/// Cycles until a dependent multiply-add starts.
const LATENCY: f64 = 4.0;

/// Where values are in the pool.
pub(super) enum Values {
    /// Distinct magnitudes, or words, by their bits, with their indices; signs are those of the instructions.
    Magnitudes(FxHashMap<u64, usize>),
    /// All values in the order of their use.
    Sequence,
}

/// The columns of a product.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Columns {
    /// Columns of the result.
    pub all: usize,
    /// Number of bands, matrices of as many columns each.
    pub bands: usize,
    /// Number of strips of equal width, the rows of an image, that are computed one by one.
    pub strips: usize,
    /// Elements of the dense operand from a strip to the next.
    pub pitch: usize,
}

impl Columns {
    /// Columns that follow each other in the dense operand too.
    pub fn adjacent(all: usize) -> Columns {
        Columns { all, bands: 1, strips: 1, pitch: 0 }
    }

    /// Columns of a band.
    pub fn band(self) -> usize {
        self.all / self.bands
    }

    /// Columns of a strip.
    pub fn strip(self) -> usize {
        self.all / self.strips
    }

    /// Elements of the dense operand from the first column to behind the last.
    pub fn reach(self) -> Option<usize> {
        (self.strips - 1).checked_mul(self.pitch)?.checked_add(self.strip())
    }
}

/// The plan of the code for a product.
pub(super) struct Plan {
    pub form: Form,
    pub columns: Columns,
    /// Rows of B per loop over columns.
    pub chunk: usize,
    /// Columns per call.
    pub tile: usize,
    /// Whether columns are computed under a mask.
    pub masked: bool,
    pub values: Values,
    /// Estimated bytes of code, without prefetches.
    pub num_bytes: usize,
    /// Whether code is prefetched ahead of its execution: hardware does not prefetch code from beyond the L2 cache.
    pub prefetches: bool,
}

impl Form {
    /// Bytes of a row per step.
    pub fn panel_bytes(self) -> usize {
        self.vectors * self.width.bytes()
    }

    /// Columns of elements of a size per step.
    pub fn panel(self, element: usize) -> usize {
        self.panel_bytes() / element
    }

    /// Number of elements of a size that short displacements reach, on either side.
    pub fn reach(self, element: usize) -> usize {
        // Of EVEX, they count elements.
        if self.width == Width::Zmm { 128 } else { 128 / element }
    }

    /// The form with the same number of groups for `rows` rows, which have almost equal sizes.
    fn balanced(self, rows: usize) -> Form {
        Form { rows: rows.div_ceil(rows.div_ceil(self.rows)), ..self }
    }

    /// Bytes of code of a nonzero: multiply-adds, and a broadcast unless it is folded.
    fn bytes_per_nonzero(self) -> usize {
        if self.folds_values() { 8 } else { 8 + 6 * self.vectors }
    }

    /// Whether values are operands in memory, broadcast by the multiply-add.
    pub fn folds_values(self) -> bool {
        self.width == Width::Zmm && self.vectors == 1
    }

    /// Estimated cycles for all columns. A panel is bound by one multiply-add, one load or four instructions per cycle, by the lines of
    /// B, or by the latency of sums; the code of each tile is fetched once.
    fn cycles(self, matrix: &Matrix, columns: Columns) -> f64 {
        let (nonzeros, vectors) = (matrix.values().len() as f64, self.vectors as f64);
        let read = matrix.distinct_columns(self.rows);
        let Blocks { chunk, tile, code, is_near } = self.blocks(matrix, columns.all, read);
        let read = read as f64;
        let (products, lines, results) = (nonzeros * vectors, read * vectors, matrix.rows as f64 * vectors);
        let chunks = matrix.depth.div_ceil(chunk) as f64;
        let broadcasts = if self.folds_values() { 0.0 } else { nonzeros };
        let instructions = products + lines + broadcasts + 3.0 * results;
        let pitch = columns.band() * matrix.element();
        let is_far = pitch >= PAGE || pitch.is_multiple_of(PAGE / 2);
        let line = LINE + if is_far { FAR_SEGMENT } else { SEGMENT } / vectors;
        let fetches = if is_near { matrix.depth as f64 * vectors * line + lines * NEAR_LINE } else { lines * line };
        let sums = products * (LATENCY / (self.rows as f64 * vectors)).max(1.0);
        let panel = sums.max(lines + nonzeros).max(instructions / 4.0).max(fetches);
        let panel = panel + results * (2.0 * chunks - 1.0) * RESULT + 16.0;
        let fetched = FETCHED[usize::from(code <= 2 * SHARED)];
        let panels = columns.strip().div_ceil(self.panel(matrix.element())) as f64;
        let fetches = columns.strip().div_ceil(tile) as f64 * code as f64 / fetched;
        columns.strips as f64 * (panels * panel + fetches)
    }

    /// The division of the matrix and of the columns; groups load `read` rows of B.
    fn blocks(self, matrix: &Matrix, columns: usize, read: usize) -> Blocks {
        let (panel, depth, element) = (self.panel(matrix.element()), matrix.depth, matrix.element());
        let results = matrix.rows * self.vectors * BYTES_PER_RESULT;
        let code = matrix.values().len() * self.bytes_per_nonzero() + read * self.vectors * BYTES_PER_LOAD;
        let body = (code / matrix.rows.div_ceil(self.rows)).max(1);
        let chunk = (BODY.saturating_mul(depth) / body).clamp(32, MAX_CHUNK);
        // Results are loaded and stored again for each chunk, which pays only where code is read again, or B from beyond the L2 cache.
        let is_read_once = columns <= 2 * panel && depth * columns * element <= SHARED;
        let chunk = if is_read_once || depth <= chunk + chunk / 4 { depth } else { chunk };
        let code = code + results * depth.div_ceil(chunk);
        let is_near = code <= BODY && chunk == depth && panel * depth * element <= NEAR;
        let held = if is_near { NEAR } else { SHARED };
        let tile = (held / (chunk * element)).max(panel) / panel * panel;
        Blocks { chunk, tile, code, is_near }
    }
}

/// The division of a product.
struct Blocks {
    /// Rows of B per loop over columns.
    chunk: usize,
    /// Columns per call.
    tile: usize,
    /// Estimated bytes of code.
    code: usize,
    /// Whether the code and a tile of B stay in the L1 caches.
    is_near: bool,
}

impl Plan {
    /// Plans the code with vectors up to a width; `None` if there are fewer columns than a vector has without masks.
    pub fn of(matrix: &Matrix, columns: Columns, width: Width) -> Option<Plan> {
        let element = matrix.element();
        let (form, _) = Plan::form(matrix, columns, width)?;
        let panel = form.panel(element);
        let Blocks { chunk, tile, code, .. } = form.blocks(matrix, columns.all, matrix.distinct_columns(form.rows));
        Some(Plan {
            form,
            columns,
            chunk,
            tile,
            masked: width == Width::Zmm && !columns.strip().is_multiple_of(panel),
            values: Values::of(matrix, 2 * form.reach(element)),
            num_bytes: code,
            prefetches: matrix.values().len() > PREFETCHED && columns.all.div_ceil(panel) <= MAX_PANELS,
        })
    }

    /// The form with the fewest estimated cycles, with them.
    pub fn form(matrix: &Matrix, columns: Columns, width: Width) -> Option<(Form, f64)> {
        let element = matrix.element();
        let fits = |form: &Form| form.width == width && (width == Width::Zmm || columns.strip() >= form.panel(element));
        let forms = FORMS.into_iter().filter(fits).map(|form| form.balanced(matrix.rows));
        forms.map(|form| (form, form.cycles(matrix, columns))).min_by(|a, b| a.1.total_cmp(&b.1))
    }
}

impl Values {
    /// Maximum number of magnitudes.
    const MAX: usize = 63;

    /// Shares magnitudes if there are fewer than `reached`, which short displacements reach. Words have no signs.
    fn of(matrix: &Matrix, reached: usize) -> Values {
        let mut all = FxHashMap::default();
        for &value in matrix.values().iter().filter(|value| matrix.packing.is_some() || value.abs() != 1.0) {
            let magnitude = if matrix.packing.is_some() { value } else { value.abs() }.to_bits();
            let next = all.len();
            all.entry(magnitude).or_insert(next);
            if all.len() > Values::MAX.min(reached - 1) {
                return Values::Sequence;
            }
        }
        Values::Magnitudes(all)
    }
}
