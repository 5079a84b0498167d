//! The choice of the form of the code, by counts of its instructions.

use super::matrix::Matrix;
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
const FORMS: [Form; 5] = [
    Form { rows: 28, vectors: 1, width: Width::Zmm },
    Form { rows: 14, vectors: 2, width: Width::Zmm },
    Form { rows: 6, vectors: 4, width: Width::Zmm },
    Form { rows: 12, vectors: 1, width: Width::Ymm },
    Form { rows: 6, vectors: 2, width: Width::Ymm },
];

/// Size in bytes of an f32.
pub(super) const ELEMENT: usize = 4;
/// Bytes of code of a loop body, so that it stays in the L1 instruction cache.
const BODY: usize = 24 << 10;
/// Bytes of B that are read again by each group of rows, so that they stay in the L2 cache.
const SHARED: usize = 512 << 10;

/// Number of nonzeros from which on code, of about 9 bytes each, is prefetched.
const PREFETCHED: usize = 2048;
/// Number of panels up to which it is; more of them repay the loads of the code.
const MAX_PANELS: usize = 64;

/// Bytes of code of a load of B.
const BYTES_PER_LOAD: usize = 10;
/// Bytes of code that are fetched per cycle from beyond the L2 cache, with prefetches.
const FETCHED: usize = 4;

/// Where values are in the pool.
pub(super) enum Values {
    /// Distinct magnitudes with their indices; signs are those of the instructions.
    Magnitudes(FxHashMap<u32, usize>),
    /// All values in the order of their use.
    Sequence,
}

/// The plan of the code for a product with `columns` columns.
pub(super) struct Plan {
    pub form: Form,
    pub columns: usize,
    /// Rows of B per loop over columns.
    pub chunk: usize,
    /// Columns per call.
    pub tile: usize,
    /// Whether columns are computed under a mask.
    pub masked: bool,
    pub values: Values,
    /// Whether code is prefetched ahead of its execution: hardware does not prefetch code from beyond the L2 cache.
    pub prefetches: bool,
}

impl Form {
    /// Columns per step.
    pub fn panel(self) -> usize {
        self.vectors * self.width.bytes() / ELEMENT
    }

    /// Bytes of code of a nonzero: multiply-adds, and a broadcast unless it is folded.
    fn bytes_per_nonzero(self) -> usize {
        if self.folds_values() { 8 } else { 8 + 6 * self.vectors }
    }

    /// Whether values are operands in memory, broadcast by the multiply-add.
    pub fn folds_values(self) -> bool {
        self.width == Width::Zmm && self.vectors == 1
    }

    /// Estimated cycles for all columns: bound by two multiply-adds, two loads or four instructions per cycle; and the first fetch of
    /// the code.
    fn cycles(self, matrix: &Matrix, columns: usize) -> usize {
        let nonzeros = matrix.values().len();
        let rows_of_b = matrix.distinct_columns(self.rows) * self.vectors;
        let (products, results) = (nonzeros * self.vectors, matrix.rows * self.vectors);
        let loads = rows_of_b + nonzeros;
        let broadcasts = if self.folds_values() { 0 } else { nonzeros };
        let instructions = products + rows_of_b + broadcasts + 3 * results;
        let cycles = (products / 2).max(loads / 2).max(instructions / 4) + results;
        let code = nonzeros * self.bytes_per_nonzero() + rows_of_b * BYTES_PER_LOAD;
        columns.div_ceil(self.panel()) * (cycles + 16) + code / FETCHED
    }
}

impl Plan {
    /// Plans the code with vectors up to a width; `None` if there are fewer columns than a vector has without masks.
    pub fn of(matrix: &Matrix, columns: usize, width: Width) -> Option<Plan> {
        let fits = |form: &&Form| form.width == width && (width == Width::Zmm || columns >= form.panel());
        let form = *FORMS.iter().filter(fits).min_by_key(|form| form.cycles(matrix, columns))?;
        let panel = form.panel();
        let density = matrix.values().len() as f64 / (matrix.rows * matrix.depth) as f64;
        let bytes_per_column =
            density * (form.rows * form.bytes_per_nonzero()) as f64 + (form.vectors * BYTES_PER_LOAD) as f64;
        let chunk = ((BODY as f64 / bytes_per_column) as usize).clamp(32, 256);
        // Results are loaded and stored again for each chunk, which pays only where code is read again, or B from beyond the L2 cache.
        let is_read_once = columns <= 2 * panel && matrix.depth * columns * ELEMENT <= SHARED;
        let chunk = if is_read_once || matrix.depth <= chunk + chunk / 4 { matrix.depth } else { chunk };
        let tile = (SHARED / (chunk * ELEMENT)).max(panel) / panel * panel;
        Some(Plan {
            form,
            columns,
            chunk,
            tile,
            masked: width == Width::Zmm && !columns.is_multiple_of(panel),
            values: Values::of(matrix.values()),
            prefetches: matrix.values().len() > PREFETCHED && columns.div_ceil(panel) <= MAX_PANELS,
        })
    }
}

impl Values {
    /// Maximum number of magnitudes, which short displacements reach with 256-bit vectors too.
    const MAX: usize = 63;

    fn of(values: &[f32]) -> Values {
        let mut all = FxHashMap::default();
        for magnitude in values.iter().map(|value| value.abs().to_bits()).filter(|&bits| bits != 1f32.to_bits()) {
            let next = all.len();
            all.entry(magnitude).or_insert(next);
            if all.len() > Values::MAX {
                return Values::Sequence;
            }
        }
        Values::Magnitudes(all)
    }
}
