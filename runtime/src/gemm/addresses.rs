//! Where a product finds its first factor: tables, and what is known of them before anything runs.

use super::MAX_SUMMANDS;
use super::kernel::Run;
use std::ops::Range;

/// In a table: zeros, which are nowhere.
pub(super) const HOLE: i32 = -1;

/// How runs of summands are divided: what is read of the second factor for one part stays in the first cache.
#[derive(Clone, Copy, Debug)]
pub struct Parts {
    /// So many summands at most.
    pub(super) most: usize,
    /// Parts of runs that are longer have a multiple of so many.
    multiple: usize,
}

impl Parts {
    /// Of floats.
    pub const FLOATS: Parts = Parts { most: MAX_SUMMANDS, multiple: 1 };
    /// Of bytes, four of which are multiplied at once.
    pub const BYTES: Parts = Parts { most: 4 * MAX_SUMMANDS, multiple: 4 };

    /// How long the parts of a run are. A run that cannot be divided stays whole.
    fn of(self, run: usize) -> usize {
        let is_part = |part: &usize| part.is_multiple_of(self.multiple) && run.is_multiple_of(*part);
        if run <= self.most { run } else { (1..=self.most).rev().find(is_part).unwrap_or(run) }
    }
}

/// An offset for each row of the result and each run of summands, in elements.
#[derive(Clone, Debug)]
pub struct Addresses {
    table: Vec<i32>,
    rows: usize,
    /// From row to row of the table.
    stride: usize,
    runs: Vec<Run>,
    /// How many summands a run has.
    run: usize,
    /// The first element that is read and the one after the last, if there are any.
    span: Option<[i64; 2]>,
    holes: bool,
}

impl Addresses {
    /// An offset for each row, and one from there for each run of so many summands.
    ///
    /// # Errors
    /// When offsets are too large.
    pub fn sums(base: Vec<i32>, relative: &[i32], run: usize, parts: Parts) -> Result<Addresses, String> {
        let span = |table: &[i32]| Some([*table.iter().min()?, *table.iter().max()?].map(i64::from));
        let spans = span(&base).zip(span(relative));
        let span = spans.map(|([low, high], [first, last])| [low + first, high + last + run as i64]);
        let starts = relative.iter().map(|&offset| Run { column: 0, offset });
        let runs = short(starts, run, parts.of(run))?;
        Ok(Addresses { rows: base.len(), table: base, stride: 1, runs: runs.0, run: runs.1, span, holes: false })
    }

    /// An offset for each row and each of so many runs, a row after the other; -1 for zeros.
    ///
    /// # Errors
    /// When offsets are too large, or the last row is not whole.
    pub fn each(bases: Vec<i32>, runs: usize, run: usize, parts: Parts) -> Result<Addresses, String> {
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

    /// How many rows the result has.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many summands there are for each element of the result.
    pub fn summands(&self) -> usize {
        self.runs.len() * self.run
    }

    /// Whether all that is read is in a buffer of so many elements.
    pub fn are_in(&self, elements: usize) -> bool {
        self.span.is_none_or(|[first, end]| first >= 0 && end <= elements as i64)
    }

    /// The table, and how far its rows are apart.
    pub(super) fn table(&self) -> (&[i32], usize) {
        (&self.table, self.stride)
    }

    pub(super) fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Some runs without those before the first and behind the last that are somewhere for one of these rows, and how many
    /// are left out at the beginning.
    pub(super) fn there<'a>(&self, rows: Range<usize>, runs: &'a [Run]) -> (usize, &'a [Run]) {
        let table = &self.table[rows.start * self.stride..rows.end * self.stride];
        let is_there = |run: &Run| table.chunks_exact(self.stride).any(|row| row[run.column] != HOLE);
        let Some(first) = runs.iter().position(is_there) else { return (0, &[]) };
        let end = runs.iter().rposition(is_there).map_or(first, |last| last + 1);
        (first, &runs[first..end])
    }

    /// How many summands a part of a run has.
    pub fn run(&self) -> usize {
        self.run
    }

    /// Whether -1 stands for zeros.
    pub(super) fn has_holes(&self) -> bool {
        self.holes
    }
}

/// Runs in parts of some length, and that length.
fn short(runs: impl Iterator<Item = Run>, run: usize, part: usize) -> Result<(Vec<Run>, usize), String> {
    let of = |start: Run| {
        (0..run / part)
            .map(move |i| Some(Run { offset: start.offset.checked_add(i32::try_from(i * part).ok()?)?, ..start }))
    };
    let all: Option<Vec<Run>> = runs.flat_map(of).collect();
    Ok((all.ok_or("an offset is too large")?, part))
}
