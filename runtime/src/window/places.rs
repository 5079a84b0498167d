//! The compiled form of the address tables of windows.
//!
//! Neighboring windows read the same pattern of addresses, shifted by a step. Rows are grouped by pattern, so that
//! several windows are computed at once and shared elements are loaded once.

use crate::KernelError;
use gradus_networks::layout::{AddressTable, Addressing, ZERO_PAGE};
use rustc_hash::FxHashMap;

/// An [`AddressTable`], compiled for windows: patterns of positions, and runs of windows that share one. A run of the
/// address table is a window position with all its channels.
#[derive(Clone, Debug)]
pub struct WindowTable {
    rows: usize,
    /// Number of channels.
    channels: usize,
    /// Number of positions per window.
    positions: usize,
    /// The least and greatest base other than padding, if there is one.
    span: Option<[i32; 2]>,
    looks: Vec<WindowPattern>,
    series: Vec<WindowRun>,
}

/// The offsets that several windows have in common.
#[derive(Clone, Debug)]
pub(super) struct WindowPattern {
    pub taps: Vec<Tap>,
}

/// A tap: one window position, or three at equal distances.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tap {
    /// Index of its first position.
    pub position: usize,
    /// Offset from the window's base.
    pub offset: i32,
    /// Distance between the three positions; `None` for a single one.
    pub gap: Option<i32>,
}

/// Windows with the same pattern at constant steps.
#[derive(Clone, Copy, Debug)]
pub(super) struct WindowRun {
    pub look: usize,
    /// First output row, and step to the next.
    pub row: usize,
    pub row_step: usize,
    /// Base of the first window, and step to the next.
    pub base: i32,
    pub step: i32,
    pub count: usize,
}

impl WindowTable {
    /// Compiles a table.
    ///
    /// # Errors
    /// The addresses are not indirect, or windows have no positions.
    pub fn new(of: &AddressTable<'_>) -> Result<WindowTable, KernelError> {
        let &Addressing::Indirect { ref bases, rows, runs: positions @ 1.. } = of.addressing() else {
            return Err("windows need indirect addresses of at least one position".into());
        };
        // Copied before bounds are computed: constants may be in a mapped file, which changes under a hostile writer.
        let bases = bases.to_vec();
        let there = || bases.iter().copied().filter(|&base| base != ZERO_PAGE);
        let span = there().min().zip(there().max()).map(|(least, greatest)| [least, greatest]);
        let (looks, series) = (Vec::new(), Vec::new());
        let mut places = WindowTable { rows, channels: of.run(), positions, span, looks, series };
        places.sort(&bases);
        Ok(places)
    }

    /// Groups rows by pattern.
    fn sort(&mut self, bases: &[i32]) {
        let mut known: FxHashMap<Vec<i32>, usize> = FxHashMap::default();
        // For each pattern, the run that may continue.
        let mut open: Vec<Option<usize>> = Vec::new();
        let (mut before, mut look) = (&bases[..0], 0);
        for (row, places) in bases.chunks_exact(self.positions).enumerate() {
            let base = places.iter().copied().find(|&base| base != ZERO_PAGE).unwrap_or(0);
            if !has_same_pattern(before, places) {
                let next = known.len();
                look = *known.entry(offsets(places, base)).or_insert_with_key(|offsets| {
                    self.looks.push(WindowPattern { taps: taps(offsets) });
                    open.push(None);
                    next
                });
            }
            before = places;
            match open[look] {
                Some(i) if self.series[i].takes(row, base) => {}
                _ => {
                    open[look] = Some(self.series.len());
                    self.series.push(WindowRun { look, row, row_step: 1, base, step: 0, count: 1 });
                }
            }
        }
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    pub(super) fn positions(&self) -> usize {
        self.positions
    }

    #[inline]
    pub(super) fn channels(&self) -> usize {
        self.channels
    }

    /// Returns the runs of part `i` of `parts`; each run belongs to one part.
    pub(super) fn part(&self, [i, parts]: [usize; 2]) -> impl Iterator<Item = (&WindowRun, &WindowPattern)> {
        let [start, end] = [i, i + 1].map(|i| i * self.series.len() / parts);
        self.series[start..end].iter().map(|series| (series, &self.looks[series.look]))
    }

    pub(super) fn patterns(&self) -> impl Iterator<Item = &WindowPattern> {
        self.looks.iter()
    }

    /// Whether all channels at all addresses are inside a buffer of `elements` elements.
    pub(super) fn are_in(&self, elements: usize) -> bool {
        let end = |base: i32| usize::try_from(base).ok().and_then(|base| base.checked_add(self.channels));
        self.span.is_none_or(|[least, greatest]| least >= 0 && end(greatest).is_some_and(|end| end <= elements))
    }
}

impl WindowRun {
    /// Appends the row if it continues the run; returns whether it does.
    fn takes(&mut self, row: usize, base: i32) -> bool {
        let last = self.count - 1;
        let steps = (row - self.row - last * self.row_step, i64::from(base) - self.at(last));
        let fits = match self.count {
            1 => i32::try_from(steps.1).is_ok_and(|step| {
                (self.row_step, self.step) = (steps.0, step);
                true
            }),
            _ => steps == (self.row_step, i64::from(self.step)),
        };
        self.count += usize::from(fits);
        fits
    }

    /// Returns the base address of window `i`.
    fn at(&self, i: usize) -> i64 {
        i64::from(self.base) + i as i64 * i64::from(self.step)
    }
}

/// Whether two windows differ only by a constant offset.
fn has_same_pattern(a: &[i32], b: &[i32]) -> bool {
    let mut steps = a.iter().zip(b).filter(|(x, y)| (**x, **y) != (ZERO_PAGE, ZERO_PAGE));
    let Some((x, y)) = steps.next() else { return a.len() == b.len() && a.iter().all(|&x| x == ZERO_PAGE) };
    let step = y.wrapping_sub(*x);
    a.len() == b.len()
        && *x != ZERO_PAGE
        && *y != ZERO_PAGE
        && steps.all(|(x, y)| *x != ZERO_PAGE && *y != ZERO_PAGE && y.wrapping_sub(*x) == step)
}

/// Offsets relative to the window's base; `i32::MIN` for padding.
fn offsets(places: &[i32], base: i32) -> Vec<i32> {
    places.iter().map(|&place| if place == ZERO_PAGE { i32::MIN } else { place.wrapping_sub(base) }).collect()
}

/// Returns the taps other than padding, three at a time where they are equidistant.
fn taps(offsets: &[i32]) -> Vec<Tap> {
    let (mut taps, mut position) = (Vec::new(), 0);
    while let Some(&offset) = offsets.get(position) {
        let gap = match offsets[position..] {
            [a, b, c, ..] if ![a, b, c].contains(&i32::MIN) => {
                (b.checked_sub(a) == c.checked_sub(b)).then(|| b.checked_sub(a)).flatten()
            }
            _ => None,
        };
        if offset != i32::MIN {
            taps.push(Tap { position, offset, gap });
        }
        position += if gap.is_some() { 3 } else { 1 };
    }
    taps
}
