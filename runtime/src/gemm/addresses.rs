//! The compiled form of the left operand's address table, as micro-kernels read it.

use super::LONGEST_RUN;
use super::kernel::{OffsetWalk, SummandRun};
use crate::KernelError;
use gradus_networks::layout::{AddressTable, Addressing, Encoding, ZERO_PAGE};
use std::ops::Range;

/// The split of runs into parts of the reduction dimension whose slice of B fits in the L1 cache.
#[derive(Clone, Copy, Debug)]
pub struct RunSplit {
    /// Maximum length of a part.
    pub(super) most: usize,
}

impl RunSplit {
    /// The split for f32.
    pub const FLOATS: RunSplit = RunSplit { most: LONGEST_RUN };
    /// None for 8-bit integers, whose slices of B are a quarter of the size and stay in the L2 cache.
    pub const BYTES: RunSplit = RunSplit { most: usize::MAX };

    /// Returns the length of parts of a run. A run without a suitable divisor stays whole.
    fn of(self, run: usize) -> usize {
        if run <= self.most { run } else { (1..=self.most).rev().find(|&part| run.is_multiple_of(part)).unwrap_or(run) }
    }
}

/// An [`AddressTable`], compiled for a product: element (m, r, j) is at `table[m, column of r] + offset of r + j`, for
/// parts r of runs, whose slices of B fit in the L1 cache. In the encoding [`Encoding::Running`], the offset of r is the sum
/// of those of all runs up to r, which an [`OffsetWalk`] adds up.
///
/// It is a copy, and its bounds are those of the copy: kernels read it without checks, while constants may be in a mapped
/// file, which changes under a hostile writer.
#[derive(Clone, Debug)]
pub struct Addresses {
    table: Vec<i32>,
    rows: usize,
    /// Row stride of the table.
    stride: usize,
    runs: Vec<SummandRun>,
    encoding: Encoding,
    /// Number of summands per run.
    run: usize,
    /// The range of elements that are read: first, and one past the last. `None` if nothing is read.
    span: Option<[i64; 2]>,
    holes: bool,
}

impl Addresses {
    /// Compiles a table.
    ///
    /// # Errors
    /// An offset overflows, or runs are empty.
    pub fn new(of: &AddressTable<'_>, parts: RunSplit) -> Result<Addresses, KernelError> {
        let run = of.run();
        let (table, stride, starts, holes) = match of.addressing() {
            _ if run == 0 => return Err("the runs of a product are empty".into()),
            Addressing::Separable { base, relative } => {
                let starts = relative.iter().step_by(run).map(|&offset| SummandRun { column: 0, offset });
                (base.to_vec(), 1, starts.collect::<Vec<_>>(), false)
            }
            &Addressing::Indirect { ref bases, runs, .. } => {
                (bases.to_vec(), runs, (0..runs).map(|column| SummandRun { column, offset: 0 }).collect(), true)
            }
        };
        let bases = span(table.iter().copied().filter(|&base| !holes || base != ZERO_PAGE));
        let spans = bases.zip(span(starts.iter().map(|start| start.offset)));
        let span =
            spans.map(|([low, high], [first, last])| [low + first, (high + last).saturating_add_unsigned(run as u64)]);
        let (mut runs, run) = split(&starts, run, parts.of(run))?;
        if of.encoding() == Encoding::Running {
            encode(&mut runs)?;
        }
        Ok(Addresses { table, rows: of.rows(), stride, runs, encoding: of.encoding(), run, span, holes })
    }

    /// Returns the number of rows M of the result.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of summands K.
    pub fn summands(&self) -> usize {
        self.runs.len() * self.run
    }

    /// Whether all reads are inside a buffer of `elements` elements.
    pub fn are_in(&self, elements: usize) -> bool {
        self.span.is_none_or(|[first, end]| first >= 0 && end <= elements as i64)
    }

    /// Checks that rows have the summands of a right operand that is packed in runs of some length, and that all reads are inside a
    /// buffer of `elements` elements.
    pub(super) fn check(&self, summands: usize, run: usize, elements: usize) -> Result<(), KernelError> {
        if self.summands() != summands || self.run != run {
            return Err(
                format!("the addresses have {} summands, the right operand has {summands}", self.summands()).into()
            );
        }
        if !self.are_in(elements) {
            return Err(format!("an address is outside a buffer of {elements} elements").into());
        }
        Ok(())
    }

    /// Returns the first element of each run of a row; `None` for padding.
    pub(crate) fn starts(&self, row: usize) -> impl Iterator<Item = Option<usize>> {
        let mut walk = self.walk(0);
        self.runs.iter().map(move |run| {
            let (base, offset) = (self.table[row * self.stride + run.column], walk.next(run));
            let is_there = !self.holes || base != ZERO_PAGE;
            is_there.then(|| usize::try_from(base as isize + offset).unwrap_or(usize::MAX))
        })
    }

    /// Returns the walk over the runs from number `first` on.
    pub(super) fn walk(&self, first: usize) -> OffsetWalk {
        match self.encoding {
            Encoding::Absolute => OffsetWalk { at: 0, keep: 0 },
            Encoding::Running => {
                OffsetWalk { at: self.runs[..first].iter().map(|run| run.offset as isize).sum(), keep: -1 }
            }
        }
    }

    /// Returns the table and its row stride.
    pub(super) fn table(&self) -> (&[i32], usize) {
        (&self.table, self.stride)
    }

    pub(super) fn runs(&self) -> &[SummandRun] {
        &self.runs
    }

    /// Returns the runs without leading and trailing ones that are padding for all of these rows.
    pub(super) fn there(&self, rows: Range<usize>, runs: &[SummandRun]) -> Range<usize> {
        let table = &self.table[rows.start * self.stride..rows.end * self.stride];
        let is_there = |run: &SummandRun| table.chunks_exact(self.stride).any(|row| row[run.column] != ZERO_PAGE);
        let Some(first) = runs.iter().position(is_there) else { return 0..0 };
        first..runs.iter().rposition(is_there).map_or(first, |last| last + 1)
    }

    /// Returns the number of summands of a part of a run.
    pub fn run(&self) -> usize {
        self.run
    }

    /// Whether the table may contain [`ZERO_PAGE`].
    pub(super) fn has_holes(&self) -> bool {
        self.holes
    }
}

/// Replaces the offset of each run by its difference from the previous one.
fn encode(runs: &mut [SummandRun]) -> Result<(), KernelError> {
    let mut last = 0;
    for run in runs {
        let offset = std::mem::replace(&mut last, run.offset);
        run.offset = run.offset.checked_sub(offset).ok_or("a difference of offsets is too large")?;
    }
    Ok(())
}

/// Returns the minimum and maximum.
fn span(offsets: impl Iterator<Item = i32> + Clone) -> Option<[i64; 2]> {
    Some([offsets.clone().min()?, offsets.max()?].map(i64::from))
}

/// Splits runs into parts; returns the parts and their length.
fn split(runs: &[SummandRun], run: usize, part: usize) -> Result<(Vec<SummandRun>, usize), KernelError> {
    let of = |start: &SummandRun| {
        let start = *start;
        (0..run / part).map(move |i| {
            Some(SummandRun { offset: start.offset.checked_add(i32::try_from(i * part).ok()?)?, ..start })
        })
    };
    let all: Option<Vec<SummandRun>> = runs.iter().flat_map(of).collect();
    Ok((all.ok_or("an offset is too large")?, part))
}
