//! The choice of the form of the code.

use super::cost::{Cores, Cost, MatrixCounts, Rows};
use super::form::RegisterTile;
use crate::sparse_product::Matrix;
use gradus_machines::x64::Width;
use gradus_networks::Columns;
use rustc_hash::FxHashMap;

/// Number of nonzeros from which on code, of about 9 bytes each, is prefetched: if it is crowded out of the L2 cache by other code, and if
/// it does not fit there itself.
const PREFETCHED: [usize; 2] = [2048, 96 << 10];
/// Number of panels up to which it is; more of them repay the loads of the code.
const MAX_PANELS: usize = 64;

/// Where values are in the pool.
pub(super) enum PoolValues {
    /// Distinct magnitudes, or words, by their bits, with their indices; signs are those of the instructions.
    Magnitudes(FxHashMap<u64, usize>),
    /// All values in the order of their use.
    Sequence,
}

/// The plan of the code for a product.
pub(super) struct CodePlan {
    pub form: RegisterTile,
    pub columns: Columns,
    /// Rows of B per loop over columns.
    pub chunk: usize,
    /// Columns per call.
    pub tile: usize,
    /// Whether columns are computed under a mask.
    pub masked: bool,
    pub values: PoolValues,
    /// Estimated bytes of code, without prefetches, and cycles; of a part, those of the whole.
    pub num_bytes: usize,
    cycles: f64,
    /// Estimated cycles of the fetch of code that other code crowds out of the caches.
    crowded_cycles: f64,
    /// Whether code is prefetched ahead of its execution: hardware does not prefetch code from beyond the L2 cache.
    pub prefetches: bool,
}

impl CodePlan {
    /// Plans the code with vectors up to a width, where row `k` of B begins at element `offsets[k]`; `None` if there are fewer columns
    /// than a vector has without masks.
    pub fn of(cores: &Cores, matrix: &Matrix, columns: Columns, offsets: &[usize], width: Width) -> Option<CodePlan> {
        let cost = CodePlan::cost(cores, matrix, columns, offsets, width)?;
        let panel = cost.form.panel(matrix.element());
        Some(CodePlan {
            form: cost.form,
            columns,
            chunk: cost.blocks.chunk,
            tile: cost.blocks.tile,
            masked: width == Width::Zmm && !columns.strip().is_multiple_of(panel),
            values: PoolValues::of(matrix, cost.form),
            num_bytes: cost.blocks.code,
            cycles: cost.cycles,
            crowded_cycles: cores.with(width).crowded_cycles(cost.blocks.code),
            prefetches: false,
        })
    }

    /// The cost of the form and the division with the fewest estimated cycles.
    pub fn cost(cores: &Cores, matrix: &Matrix, columns: Columns, offsets: &[usize], width: Width) -> Option<Cost> {
        let (counts, rows) = (MatrixCounts::of(matrix), Rows::of(cores.with(width), offsets, matrix.element()));
        let costs = |form: RegisterTile| rows.costs(form, (counts, matrix.distinct_columns(form.rows)), columns);
        RegisterTile::all(&counts, columns, width).flat_map(costs).min_by(|a, b| a.cycles.total_cmp(&b.cycles))
    }

    /// Estimated cycles. Other code may crowd the code out of the caches between two calls.
    pub fn cycles(&self, is_crowded: bool) -> f64 {
        self.cycles + if is_crowded { self.crowded_cycles } else { 0.0 }
    }

    /// Prefetches code if it is large for the number of columns. Other code may crowd it out of the L2 cache between two calls.
    pub fn prefetching(self, matrix: &Matrix, is_crowded: bool) -> CodePlan {
        let panels = self.columns.all.div_ceil(self.form.panel(matrix.element()));
        let is_large = matrix.values().len() > PREFETCHED[usize::from(!is_crowded)];
        CodePlan { prefetches: is_large && panels <= MAX_PANELS, ..self }
    }

    /// The plan of the same code for some of the rows.
    pub fn of_part(&self, part: &Matrix) -> CodePlan {
        CodePlan { form: self.form.balanced(part.rows), values: PoolValues::of(part, self.form), ..*self }
    }
}

impl PoolValues {
    /// Maximum number of magnitudes.
    const MAX: usize = 63;

    /// Shares magnitudes if short displacements of a form reach all of them. Words have no signs.
    fn of(matrix: &Matrix, form: RegisterTile) -> PoolValues {
        let reached = 2 * form.reach(matrix.element());
        let mut all = FxHashMap::default();
        for &value in matrix.values().iter().filter(|value| matrix.packing.is_some() || value.abs() != 1.0) {
            let magnitude = if matrix.packing.is_some() { value } else { value.abs() }.to_bits();
            let next = all.len();
            all.entry(magnitude).or_insert(next);
            if all.len() > PoolValues::MAX.min(reached - 1) {
                return PoolValues::Sequence;
            }
        }
        PoolValues::Magnitudes(all)
    }
}

#[cfg(test)]
mod tests {
    use super::{CodePlan, Cores};
    use crate::sparse_product::Matrix;
    use gradus_cost::{CostModel, register};
    use gradus_ir::random::Random;
    use gradus_ir::{Context, Tensor};
    use gradus_machines::x64::Width;
    use gradus_networks::Columns;

    /// A matrix with a nonzero in about one of `every` elements.
    fn matrix(rows: usize, depth: usize, every: usize) -> Matrix {
        let mut random = Random::of("matrix");
        let mut value = |i: usize| if random.below(every as u64) == 0 { 1.5 + (i % 200) as f32 } else { 0.0 };
        let values: Vec<f32> = (0..rows * depth).map(&mut value).collect();
        Matrix::of(&Tensor::from_vec(&[rows, depth], values), false).expect("a matrix")
    }

    /// The cores of a machine with the numbers of the embedded description for 512-bit vectors.
    fn cores() -> Cores {
        static MODEL: CostModel = CostModel {
            name: "cpu",
            machine: include_str!("../../../targets/machines/cpu-avx512.toml"),
            ..CostModel::DEFAULT
        };
        let ctx = Context::new(gradus_dialects::DIALECTS);
        register(&ctx, vec![&MODEL]);
        *Cores::of(&ctx).expect("the machine has the numbers")
    }

    fn plan(matrix: &Matrix, columns: usize) -> CodePlan {
        let offsets: Vec<usize> = (0..matrix.depth).map(|k| k * columns).collect();
        CodePlan::of(&cores(), matrix, Columns::adjacent(columns), &offsets, Width::Zmm).expect("a plan")
    }

    #[test]
    fn lines_of_chunks_stay_in_the_l1_cache() {
        let cores = cores();
        let core = cores.with(Width::Zmm);
        for columns in [196, 784] {
            for every in [5, 10] {
                let plan = plan(&matrix(256, 2048, every), columns);
                let pages = plan.chunk as f64 * (columns as f64 * 4.0 / core.page_bytes as f64).min(1.0);
                let what = format!("{} rows of {columns} columns, one of {every}", plan.chunk);
                assert!(plan.chunk * plan.form.vectors * core.line_bytes <= core.code_lines, "{what}");
                assert!(pages <= core.code_pages as f64, "{what}: {pages} pages");
            }
        }
    }

    #[test]
    fn short_sums_are_not_divided() {
        assert_eq!(plan(&matrix(256, 64, 10), 196).chunk, 64);
    }

    #[test]
    fn parts_have_the_form_and_the_chunks_of_the_whole() {
        let (whole, half) = (plan(&matrix(256, 1024, 5), 196), matrix(128, 1024, 5));
        let part = whole.of_part(&half);
        assert_eq!((part.form.vectors, part.chunk, part.tile), (whole.form.vectors, whole.chunk, whole.tile));
        assert!(part.form.rows <= whole.form.rows);
    }
}
