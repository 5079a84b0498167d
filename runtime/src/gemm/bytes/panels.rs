//! The second factor as kernels read it: panels of columns, and in each four bytes of all columns side by side.

use super::kernel::{first, steps};
use super::{ByteIsa, MAX_SPREAD};
use crate::lines::Lines;

/// A matrix of numbers from -255 to 255 in panels, so that for each column what is stored is a byte with a sign, and a
/// multiple of the sum of a row is added.
#[derive(Clone)]
pub struct BytePanels {
    isa: ByteIsa,
    width: usize,
    tile_rows: usize,
    summands: usize,
    run: usize,
    columns: usize,
    lines: Lines,
    /// What is added to each column.
    bias: Vec<i32>,
    /// The sum of each column.
    totals: Vec<i32>,
    /// For each column what is missing in all of its numbers, unless that is nothing.
    missing: Option<Vec<i32>>,
}

impl BytePanels {
    /// The panels of a matrix: `at(n, k)` is what summand k is multiplied with for column n, the difference of two bytes of
    /// one kind; `run` is that of the addresses.
    ///
    /// # Errors
    /// When the machine has no such vectors, the panels are larger than memory, or numbers of a column are too far apart.
    pub fn new(
        isa: ByteIsa,
        [columns, summands]: [usize; 2],
        run: usize,
        at: impl Fn(usize, usize) -> i32,
        bias: Option<&[i32]>,
    ) -> Result<BytePanels, String> {
        if !isa.is_there() || run == 0 || !summands.is_multiple_of(run) {
            return Err(format!("this machine has no {isa:?}, or {summands} are no runs of {run}"));
        }
        if bias.is_some_and(|bias| bias.len() != columns) {
            return Err(format!("a bias that does not have {columns} numbers"));
        }
        let waste = |&&(width, _): &&(usize, usize)| columns.next_multiple_of(width);
        let &(width, tile_rows) = isa.panels().iter().min_by_key(waste).expect("there are panels");
        let depth = (summands / run).checked_mul(steps(run)).ok_or("a matrix is too large")?;
        let size = columns.next_multiple_of(width).checked_mul(4).and_then(|four| four.checked_mul(depth));
        let lines = Lines::zeros(size.ok_or("a matrix is too large")?);
        let bias = bias.map_or_else(|| vec![0; columns], <[i32]>::to_vec);
        let mut panels = BytePanels {
            isa,
            width,
            tile_rows,
            summands,
            run,
            columns,
            lines,
            bias,
            totals: Vec::with_capacity(columns),
            missing: None,
        };
        let mut missing = Vec::with_capacity(columns);
        for n in 0..columns {
            let numbers: Vec<i32> = (0..summands).map(|k| at(n, k)).collect();
            missing.push(panels.column(n, &numbers)?);
        }
        panels.missing = missing.iter().any(|&more| more != 0).then_some(missing);
        Ok(panels)
    }

    /// Stores a column, and says what is missing in all of its numbers.
    fn column(&mut self, n: usize, numbers: &[i32]) -> Result<i32, String> {
        let (low, high) = (numbers.iter().min().copied().unwrap_or(0), numbers.iter().max().copied().unwrap_or(0));
        if low < -MAX_SPREAD || high > MAX_SPREAD || high - low > MAX_SPREAD {
            return Err(format!("numbers from {low} to {high} are no differences of bytes"));
        }
        let missing = if low >= -128 && high <= 127 { 0 } else { low + 128 };
        self.totals.push(numbers.iter().fold(0, |sum, &x| sum.wrapping_add(x)));
        let (width, depth, run) = (self.width, self.depth(), self.run);
        let start = n / width * width * depth + n % width;
        let bytes: &mut [[i8; 4]] = bytemuck::cast_slice_mut(self.lines.as_mut());
        for (i, numbers) in numbers.chunks_exact(run).enumerate() {
            for step in 0..steps(run) {
                let four = &mut bytes[start + (i * steps(run) + step) * width];
                // What the step before has already is not counted again.
                for k in 4 * step..run.min(4 * step + 4) {
                    four[k - first(step, run)] = (numbers[k] - missing) as i8;
                }
            }
        }
        Ok(missing)
    }

    /// How many steps of four summands there are.
    fn depth(&self) -> usize {
        self.summands / self.run * steps(self.run)
    }

    /// How many columns the matrix has.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// How many summands each has.
    pub fn summands(&self) -> usize {
        self.summands
    }

    /// How long the runs of summands are.
    pub(super) fn run(&self) -> usize {
        self.run
    }

    /// The vectors that they are for.
    pub(super) fn isa(&self) -> ByteIsa {
        self.isa
    }

    /// How many panels there are.
    pub(super) fn count(&self) -> usize {
        self.columns.div_ceil(self.width)
    }

    /// How many columns a panel has.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// How many rows of the result are computed with a panel at once.
    pub(super) fn tile_rows(&self) -> usize {
        self.tile_rows
    }

    /// A panel from some step on.
    pub(super) fn panel(&self, i: usize, step: usize) -> &[i8] {
        let size = self.depth() * self.width * 4;
        &bytemuck::cast_slice(self.lines.as_ref())[i * size..][..size][step * self.width * 4..]
    }

    /// What is added to each column if `zero` is subtracted from all that it is multiplied with.
    pub(super) fn bias(&self, zero: i32) -> Vec<i32> {
        let each = self.bias.iter().zip(&self.totals);
        each.map(|(bias, total)| bias.wrapping_sub(zero.wrapping_mul(*total))).collect()
    }

    /// What is missing in each column.
    pub(super) fn missing(&self) -> Option<&[i32]> {
        self.missing.as_deref()
    }
}
