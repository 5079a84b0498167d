//! The choice of the form of the code.

use super::cost::{Cost, Rows};
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

/// Number of nonzeros from which on code, of about 9 bytes each, is prefetched: if it is crowded out of the L2 cache by other code, and if
/// it does not fit there itself.
const PREFETCHED: [usize; 2] = [2048, 96 << 10];
/// Number of panels up to which it is; more of them repay the loads of the code.
const MAX_PANELS: usize = 64;

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
    /// Estimated bytes of code, without prefetches; of a part, those of the whole.
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
    pub fn balanced(self, rows: usize) -> Form {
        Form { rows: rows.div_ceil(rows.div_ceil(self.rows)), ..self }
    }

    /// Whether values are operands in memory, broadcast by the multiply-add.
    pub fn folds_values(self) -> bool {
        self.width == Width::Zmm && self.vectors == 1
    }
}

impl Plan {
    /// Plans the code with vectors up to a width, where row `k` of B begins at element `offsets[k]`; `None` if there are fewer columns
    /// than a vector has without masks.
    pub fn of(matrix: &Matrix, columns: Columns, offsets: &[usize], width: Width) -> Option<Plan> {
        let cost = Plan::cost(matrix, columns, offsets, width)?;
        let panel = cost.form.panel(matrix.element());
        let mut plan = Plan {
            form: cost.form,
            columns,
            chunk: cost.blocks.chunk,
            tile: cost.blocks.tile,
            masked: width == Width::Zmm && !columns.strip().is_multiple_of(panel),
            values: Values::Sequence,
            num_bytes: cost.blocks.code,
            prefetches: false,
        };
        plan.values = plan.values_of(matrix);
        Some(plan)
    }

    /// The cost of the form and the division with the fewest estimated cycles.
    pub fn cost(matrix: &Matrix, columns: Columns, offsets: &[usize], width: Width) -> Option<Cost> {
        let element = matrix.element();
        let fits = |form: &Form| form.width == width && (width == Width::Zmm || columns.strip() >= form.panel(element));
        let rows = Rows::of(offsets, matrix);
        let forms = FORMS.into_iter().filter(fits).map(|form| form.balanced(matrix.rows));
        forms.flat_map(|form| rows.costs(form, matrix, columns)).min_by(|a, b| a.cycles.total_cmp(&b.cycles))
    }

    /// Prefetches code if it is large for the number of columns. Other code may crowd it out of the L2 cache between two calls.
    pub fn prefetching(self, matrix: &Matrix, is_crowded: bool) -> Plan {
        let panels = self.columns.all.div_ceil(self.form.panel(matrix.element()));
        let is_large = matrix.values().len() > PREFETCHED[usize::from(!is_crowded)];
        Plan { prefetches: is_large && panels <= MAX_PANELS, ..self }
    }

    /// The plan of the same code for some of the rows.
    pub fn of_part(&self, part: &Matrix) -> Plan {
        Plan { form: self.form.balanced(part.rows), values: self.values_of(part), ..*self }
    }

    fn values_of(&self, matrix: &Matrix) -> Values {
        Values::of(matrix, 2 * self.form.reach(matrix.element()))
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
