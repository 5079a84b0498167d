//! Where the positions of windows are, and how that repeats.
//!
//! Neighbouring windows of an image look alike: the same places, all a step further. Rows are sorted by how they look, so that
//! several are computed at once and what they share is read once.

use rustc_hash::FxHashMap;

/// Where the positions of windows are, and what is known of that before anything runs.
#[derive(Clone, Debug)]
pub struct Places {
    rows: usize,
    /// How many positions a window has.
    positions: usize,
    /// The least and the greatest base, but for -1, if there is one.
    span: Option<[i32; 2]>,
    looks: Vec<Look>,
    series: Vec<Series>,
}

/// What some windows have in common.
#[derive(Clone, Debug)]
pub(super) struct Look {
    pub links: Vec<Link>,
}

/// One position of a window, or three as far apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    /// The first of them.
    pub position: usize,
    /// How far it is from where the window is.
    pub offset: i32,
    /// How far the others are apart, if there are three.
    pub gap: Option<i32>,
}

/// Windows of the same look, each a step further than the one before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Series {
    pub look: usize,
    /// The first row of the result, and how far the next is.
    pub row: usize,
    pub row_step: usize,
    /// Where the first window is, and how far the next is.
    pub base: i32,
    pub step: i32,
    pub count: usize,
}

impl Places {
    /// So many positions for each row: a base for each, or -1.
    ///
    /// # Errors
    /// When the last row is not whole, or windows have no position.
    pub fn new(bases: &[i32], positions: usize) -> Result<Places, String> {
        if positions == 0 || !bases.len().is_multiple_of(positions) {
            return Err(format!("{} bases are not rows of {positions}", bases.len()));
        }
        let there = || bases.iter().copied().filter(|&base| base != -1);
        let span = there().min().zip(there().max()).map(|(least, greatest)| [least, greatest]);
        let mut places =
            Places { rows: bases.len() / positions, positions, span, looks: Vec::new(), series: Vec::new() };
        places.sort(bases);
        Ok(places)
    }

    /// Sorts rows by how they look.
    fn sort(&mut self, bases: &[i32]) {
        let mut known: FxHashMap<Vec<i32>, usize> = FxHashMap::default();
        // Of each look, the series that may go on.
        let mut open: Vec<Option<usize>> = Vec::new();
        let (mut before, mut look) = (&bases[..0], 0);
        for (row, places) in bases.chunks_exact(self.positions).enumerate() {
            let base = places.iter().copied().find(|&base| base != -1).unwrap_or(0);
            if !looks_like(before, places) {
                let next = known.len();
                look = *known.entry(offsets(places, base)).or_insert_with_key(|offsets| {
                    self.looks.push(Look { links: links(offsets) });
                    open.push(None);
                    next
                });
            }
            before = places;
            match open[look] {
                Some(i) if self.series[i].takes(row, base) => {}
                _ => {
                    open[look] = Some(self.series.len());
                    self.series.push(Series { look, row, row_step: 1, base, step: 0, count: 1 });
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

    /// One of so many parts of all windows, each in one of them.
    pub(super) fn part(&self, [i, parts]: [usize; 2]) -> impl Iterator<Item = (&Series, &Look)> {
        let [start, end] = [i, i + 1].map(|i| i * self.series.len() / parts);
        self.series[start..end].iter().map(|series| (series, &self.looks[series.look]))
    }

    /// Whether so many channels of all places are in a buffer of so many elements.
    pub(super) fn are_in(&self, elements: usize, channels: usize) -> bool {
        let end = |base: i32| usize::try_from(base).ok().and_then(|base| base.checked_add(channels));
        self.span.is_none_or(|[least, greatest]| least >= 0 && end(greatest).is_some_and(|end| end <= elements))
    }
}

impl Series {
    /// Whether this row is the next one; then it is in.
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

    /// Where a window is.
    fn at(&self, i: usize) -> i64 {
        i64::from(self.base) + i as i64 * i64::from(self.step)
    }
}

/// Whether windows have the same places but for a step.
fn looks_like(a: &[i32], b: &[i32]) -> bool {
    let mut steps = a.iter().zip(b).filter(|(x, y)| (**x, **y) != (-1, -1));
    let Some((x, y)) = steps.next() else { return a.len() == b.len() && a.iter().all(|&x| x == -1) };
    let step = y.wrapping_sub(*x);
    a.len() == b.len() && *x != -1 && *y != -1 && steps.all(|(x, y)| *x != -1 && *y != -1 && y.wrapping_sub(*x) == step)
}

/// Places from where the window is; what is nowhere stays so.
fn offsets(places: &[i32], base: i32) -> Vec<i32> {
    places.iter().map(|&place| if place == -1 { i32::MIN } else { place.wrapping_sub(base) }).collect()
}

/// The positions that are somewhere, three at a time where these are as far apart.
fn links(offsets: &[i32]) -> Vec<Link> {
    let (mut links, mut position) = (Vec::new(), 0);
    while let Some(&offset) = offsets.get(position) {
        let gap = match offsets[position..] {
            [a, b, c, ..] if ![a, b, c].contains(&i32::MIN) => {
                (b.checked_sub(a) == c.checked_sub(b)).then(|| b.checked_sub(a)).flatten()
            }
            _ => None,
        };
        if offset != i32::MIN {
            links.push(Link { position, offset, gap });
        }
        position += if gap.is_some() { 3 } else { 1 };
    }
    links
}
