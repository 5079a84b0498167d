//! Address tables of the left operand, with the facts that are checked before execution.

use super::MAX_SUMMANDS;
use super::kernel::Run;
use std::ops::Range;

/// Table entry for a run of zeros (padding).
pub(super) const HOLE: i32 = -1;

/// The split of runs into parts of the reduction dimension whose slice of B fits in the L1 cache.
#[derive(Clone, Copy, Debug)]
pub struct RunSplit {
    /// Maximum length of a part.
    pub(super) most: usize,
    /// Divisor of the length of parts of longer runs.
    multiple: usize,
}

impl RunSplit {
    /// The split for f32.
    pub const FLOATS: RunSplit = RunSplit { most: MAX_SUMMANDS, multiple: 1 };
    /// The split for 8-bit integers, which are multiplied in groups of four.
    pub const BYTES: RunSplit = RunSplit { most: 4 * MAX_SUMMANDS, multiple: 4 };

    /// The length of parts of a run. A run without a suitable divisor stays whole.
    fn of(self, run: usize) -> usize {
        let is_part = |part: &usize| part.is_multiple_of(self.multiple) && run.is_multiple_of(*part);
        if run <= self.most { run } else { (1..=self.most).rev().find(is_part).unwrap_or(run) }
    }
}

/// The offset in elements of each (row of the result, run of summands).
#[derive(Clone, Debug)]
pub struct Addresses {
    table: Vec<i32>,
    rows: usize,
    /// Row stride of the table.
    stride: usize,
    runs: Vec<Run>,
    /// Number of summands per run.
    run: usize,
    /// The range of elements that are read: first, and one past the last. `None` if nothing is read.
    span: Option<[i64; 2]>,
    holes: bool,
}

impl Addresses {
    /// Separable addresses: `base[m] + relative[r]`, for runs of `run` summands.
    ///
    /// # Errors
    /// An offset overflows.
    pub fn sums(base: Vec<i32>, relative: &[i32], run: usize, parts: RunSplit) -> Result<Addresses, String> {
        let span = |table: &[i32]| Some([*table.iter().min()?, *table.iter().max()?].map(i64::from));
        let spans = span(&base).zip(span(relative));
        let span = spans.map(|([low, high], [first, last])| [low + first, high + last + run as i64]);
        let starts = relative.iter().map(|&offset| Run { column: 0, offset });
        let runs = short(starts, run, parts.of(run))?;
        Ok(Addresses { rows: base.len(), table: base, stride: 1, runs: runs.0, run: runs.1, span, holes: false })
    }

    /// Indirect addresses: one offset per row and run, row-major; -1 for a run of zeros.
    ///
    /// # Errors
    /// An offset overflows, or the last row is incomplete.
    pub fn each(bases: Vec<i32>, runs: usize, run: usize, parts: RunSplit) -> Result<Addresses, String> {
        let rows = bases.len().checked_div(runs).unwrap_or(0);
        if rows * runs != bases.len() {
            return Err(format!("{} offsets are not rows of {runs}", bases.len()));
        }
        let there = || bases.iter().copied().filter(|&base| base != HOLE).map(i64::from);
        let span = there().min().zip(there().max()).map(|(first, last)| [first, last + run as i64]);
        let starts = (0..runs).map(|column| Run { column, offset: 0 });
        let short = short(starts, run, parts.of(run))?;
        Ok(Addresses { table: bases, rows, stride: runs, runs: short.0, run: short.1, span, holes: true })
    }

    /// Number of rows M of the result.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of summands K.
    pub fn summands(&self) -> usize {
        self.runs.len() * self.run
    }

    /// Whether all reads are inside a buffer of `elements` elements.
    pub fn are_in(&self, elements: usize) -> bool {
        self.span.is_none_or(|[first, end]| first >= 0 && end <= elements as i64)
    }

    /// The table and its row stride.
    pub(super) fn table(&self) -> (&[i32], usize) {
        (&self.table, self.stride)
    }

    pub(super) fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Trims leading and trailing runs that are padding for all of these rows. Returns the number of trimmed leading
    /// runs and the rest.
    pub(super) fn there<'a>(&self, rows: Range<usize>, runs: &'a [Run]) -> (usize, &'a [Run]) {
        let table = &self.table[rows.start * self.stride..rows.end * self.stride];
        let is_supported = |run: &Run| table.chunks_exact(self.stride).any(|row| row[run.column] != HOLE);
        let Some(first) = runs.iter().position(is_supported) else { return (0, &[]) };
        let end = runs.iter().rposition(is_supported).map_or(first, |last| last + 1);
        (first, &runs[first..end])
    }

    /// Number of summands of a part of a run.
    pub fn run(&self) -> usize {
        self.run
    }

    /// Whether the table may contain -1.
    pub(super) fn has_holes(&self) -> bool {
        self.holes
    }
}

/// Splits runs into parts; returns the parts and their length.
fn short(runs: impl Iterator<Item = Run>, run: usize, part: usize) -> Result<(Vec<Run>, usize), String> {
    let of = |start: Run| {
        (0..run / part)
            .map(move |i| Some(Run { offset: start.offset.checked_add(i32::try_from(i * part).ok()?)?, ..start }))
    };
    let all: Option<Vec<Run>> = runs.flat_map(of).collect();
    Ok((all.ok_or("an offset is too large")?, part))
}
