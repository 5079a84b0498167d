//! The packed 8-bit right operand: panels of columns, each with four bytes of every column contiguous.

use super::kernel::{first, steps};
use super::{ByteIsa, MAX_SPREAD};
use crate::KernelError;
use crate::aligned_bytes::AlignedBytes;
use crate::gemm::check_packed;
use crate::gemm::tile_rows::{ROW_BYTES, packed_bytes};

/// A matrix of integers from -255 to 255 in panels. Each column is stored as signed bytes plus a constant per column,
/// which is multiplied with the row sum of A.
#[derive(Clone)]
pub struct BytePanels {
    isa: ByteIsa,
    width: usize,
    tile_rows: usize,
    summands: usize,
    run: usize,
    columns: usize,
    lines: AlignedBytes,
    /// Bias per column.
    bias: Vec<i32>,
    /// Sum of each column.
    totals: Vec<i32>,
    /// The constant subtracted from each column, unless all are zero.
    missing: Option<Vec<i32>>,
}

impl ByteIsa {
    /// Returns the number of steps of four summands in some runs; with tiles, in whole tiles.
    fn depth(self, runs: usize, run: usize) -> Option<usize> {
        match self.has_tiles() {
            true => Some(packed_bytes(runs, run)?.checked_next_multiple_of(ROW_BYTES)? / 4),
            false => runs.checked_mul(steps(run)),
        }
    }
}

impl BytePanels {
    /// Packs a matrix, where `at(n, k)` is element (k, n), a difference of two bytes of one type; `run` is the run
    /// length of the addresses.
    ///
    /// # Errors
    /// The machine lacks the vectors, the panels exceed the address space, or elements of a column differ by more than
    /// 255.
    pub fn new(
        isa: ByteIsa,
        [columns, summands]: [usize; 2],
        run: usize,
        at: impl Fn(usize, usize) -> i32,
        bias: Option<&[i32]>,
    ) -> Result<BytePanels, KernelError> {
        let mut panels = BytePanels::empty(isa, [columns, summands], run, bias)?;
        let mut missing = Vec::with_capacity(columns);
        for n in 0..columns {
            let numbers: Vec<i32> = (0..summands).map(|k| at(n, k)).collect();
            missing.push(panels.column(n, &numbers)?);
        }
        panels.missing = missing.iter().any(|&more| more != 0).then_some(missing);
        Ok(panels)
    }

    /// Packs a row-major matrix of bytes minus their zero point, one for all columns or one per column.
    ///
    /// # Errors
    /// As for [`new`](BytePanels::new), or the matrix or its zero points have another size.
    pub fn of_matrix(
        isa: ByteIsa,
        [columns, summands]: [usize; 2],
        run: usize,
        matrix: &[u8],
        (signed, zeros): (bool, &[u8]),
    ) -> Result<BytePanels, KernelError> {
        let mut panels = BytePanels::empty(isa, [columns, summands], run, None)?;
        if columns.checked_mul(summands) != Some(matrix.len()) || ![1, columns].contains(&zeros.len()) {
            return Err(
                format!("a matrix is not of {summands} rows and {columns} columns with a zero point each").into()
            );
        }
        let flip = if signed { 0 } else { 0x80 };
        // Bytes are stored as signed ones: elements minus this.
        let missing = |&zero: &u8| -i32::from((zero ^ flip).cast_signed());
        let missing: Vec<i32> = zeros.iter().map(missing).cycle().take(columns).collect();
        panels.totals.extend(missing.iter().map(|more| more.wrapping_mul(summands as i32)));
        panels.rows(matrix, flip);
        panels.missing = missing.iter().any(|&more| more != 0).then_some(missing);
        Ok(panels)
    }

    /// Creates panels of zeros.
    fn empty(
        isa: ByteIsa,
        [columns, summands]: [usize; 2],
        run: usize,
        bias: Option<&[i32]>,
    ) -> Result<BytePanels, KernelError> {
        check_packed((isa, isa.is_supported()), [columns, summands], run, bias.map(<[i32]>::len))?;
        let waste = |&&(width, _): &&(usize, usize)| columns.next_multiple_of(width);
        let &(width, tile_rows) = isa.panels().iter().min_by_key(waste).expect("there are panels");
        let depth = isa.depth(summands / run, run).ok_or("a matrix is too large")?;
        let size = columns.next_multiple_of(width).checked_mul(4).and_then(|four| four.checked_mul(depth));
        let lines = AlignedBytes::zeros(size.ok_or("a matrix is too large")?);
        let bias = bias.map_or_else(|| vec![0; columns], <[i32]>::to_vec);
        Ok(BytePanels {
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
        })
    }

    /// Stores the rows of a matrix with some of the bits flipped, and adds them to the totals.
    fn rows(&mut self, matrix: &[u8], flip: u8) {
        let (width, depth, run, columns) = (self.width, self.depth(), self.run, self.columns);
        let bytes: &mut [[i8; 4]] = bytemuck::cast_slice_mut(self.lines.as_mut());
        let none = vec![flip; columns];
        for (i, step) in (0..self.summands / run).flat_map(|i| (0..steps(run)).map(move |step| (i, step))) {
            // Elements shared with the previous step are zero here.
            let (first, own) = (if self.isa.has_tiles() { 4 * step } else { first(step, run) }, 4 * step..run);
            let rows: [&[u8]; 4] = std::array::from_fn(|j| match own.contains(&(first + j)) {
                true => &matrix[(i * run + first + j) * columns..][..columns],
                false => &none[..],
            });
            for (panel, totals) in self.totals.chunks_mut(width).enumerate() {
                let at = panel * width * depth + (i * steps(run) + step) * width;
                let [a, b, c, d] = rows.map(|row| &row[panel * width..][..totals.len()]);
                let fours = &mut bytes[at..][..totals.len()];
                for (i, four) in fours.iter_mut().enumerate() {
                    *four = [a[i], b[i], c[i], d[i]].map(|byte| (byte ^ flip).cast_signed());
                }
                for (total, four) in totals.iter_mut().zip(fours) {
                    *total = four.iter().fold(*total, |sum, &x| sum.wrapping_add(x.into()));
                }
            }
        }
    }

    /// Stores a column and returns the constant subtracted from it.
    fn column(&mut self, n: usize, numbers: &[i32]) -> Result<i32, KernelError> {
        let (low, high) = (numbers.iter().min().copied().unwrap_or(0), numbers.iter().max().copied().unwrap_or(0));
        if low < -MAX_SPREAD || high > MAX_SPREAD || high - low > MAX_SPREAD {
            return Err(format!("elements from {low} to {high} are not differences of two 8-bit integers").into());
        }
        let missing = if low >= -128 && high <= 127 { 0 } else { low + 128 };
        self.totals.push(numbers.iter().fold(0, |sum, &x| sum.wrapping_add(x)));
        let (width, depth, run) = (self.width, self.depth(), self.run);
        let start = n / width * width * depth + n % width;
        let bytes: &mut [[i8; 4]] = bytemuck::cast_slice_mut(self.lines.as_mut());
        for (i, numbers) in numbers.chunks_exact(run).enumerate() {
            for step in 0..steps(run) {
                let four = &mut bytes[start + (i * steps(run) + step) * width];
                // Elements shared with the previous step are zero here.
                let first = if self.isa.has_tiles() { 4 * step } else { first(step, run) };
                for k in 4 * step..run.min(4 * step + 4) {
                    four[k - first] = (numbers[k] - missing) as i8;
                }
            }
        }
        Ok(missing)
    }

    /// Returns the number of steps of four summands per column.
    fn depth(&self) -> usize {
        self.isa.depth(self.summands / self.run, self.run).expect("the panels exist")
    }

    /// Returns the number of columns N.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Returns the number of summands K.
    pub fn summands(&self) -> usize {
        self.summands
    }

    /// Returns the length of the runs of summands.
    pub(super) fn run(&self) -> usize {
        self.run
    }

    /// Returns the vector extension of the panels.
    pub(super) fn isa(&self) -> ByteIsa {
        self.isa
    }

    /// Returns the number of panels.
    pub(super) fn count(&self) -> usize {
        self.columns.div_ceil(self.width)
    }

    /// Returns the number of columns per panel, `nr`.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Returns the number of rows per register tile, `mr`.
    pub(super) fn tile_rows(&self) -> usize {
        self.tile_rows
    }

    /// Returns the bytes of a panel.
    pub(super) fn panel(&self, i: usize) -> &[i8] {
        let size = self.depth() * self.width * 4;
        &bytemuck::cast_slice(self.lines.as_ref())[i * size..][..size]
    }

    /// Returns the bias per column, corrected for a zero point of A, and zeros up to a whole panel.
    pub(super) fn bias(&self, zero: i32) -> Vec<i32> {
        let mut bias = Vec::with_capacity(self.count() * self.width);
        let each = self.bias.iter().zip(&self.totals);
        bias.extend(each.map(|(bias, total)| bias.wrapping_sub(zero.wrapping_mul(*total))));
        bias.resize(self.count() * self.width, 0);
        bias
    }

    /// Returns the constant subtracted from each column.
    pub(super) fn missing(&self) -> Option<&[i32]> {
        self.missing.as_deref()
    }

    /// Returns the constant subtracted from each column, if it is the same for all and not zero.
    pub(super) fn common_missing(&self) -> Option<i32> {
        let missing = self.missing.as_deref()?;
        missing.first().copied().filter(|first| missing.iter().all(|more| more == first))
    }
}
