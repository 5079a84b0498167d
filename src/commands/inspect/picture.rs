//! A picture of the elements that one row reads: the buffer as cells in memory order, with element numbers.

use super::TableUser;
use super::cells::{CELL, Cells, LETTER, colour};
use gradus_ir::Module;
use gradus_ir::svg::{document, escape};
use gradus_networks::addr::StaticAccess;
use gradus_networks::layout::{AddressTable, Addressing};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Maximum number of lines, and of cells per line.
const MOST: [usize; 2] = [48, 64];

/// Maximum number of cells of an image row that is drawn as one line; longer rows are split by the innermost extents.
const WIDE: usize = 32;

/// Maximum width in pixels of planes drawn side by side.
const WIDTH: usize = 640;

/// Maximum number of elements of a row that are examined.
const MOST_READ: usize = 1 << 20;

/// Sizes in pixels: gap between groups, line of text, margin.
const GAP: usize = 6;
const LINE: usize = 16;
const MARGIN: usize = 16;

/// The arrangement of buffer elements in lines.
#[derive(Clone, Copy)]
struct Grid {
    /// Number of cells per line.
    columns: usize,
    /// Number of cells between gaps.
    group: usize,
    /// Number of lines between gaps.
    plane: usize,
    /// Number of planes in a group.
    planes: usize,
    /// Number of lines of the buffer.
    lines: usize,
}

impl Grid {
    /// Chooses lines that are image rows where these are known and short enough, otherwise the innermost extents that
    /// give more than a few cells.
    fn new(extents: &[usize], one: &TableUser) -> Grid {
        let all: usize = extents.iter().product();
        let width = one.layout.as_ref().filter(|layout| layout.levels().len() == extents.len()).and_then(|layout| {
            let at = layout.levels().iter().rposition(|level| level.axis == 'W' && level.tile.is_none())?;
            let is_row = layout.levels()[at..].iter().all(|level| level.axis != 'H');
            let columns: usize = extents[at..].iter().product();
            (is_row && columns <= WIDE).then_some(at)
        });
        let few = |at: &usize| extents[*at..].iter().product::<usize>() < 4;
        let at = width.unwrap_or_else(|| (1..extents.len()).rev().find(|at| !few(at)).unwrap_or(0));
        let columns = extents[at..].iter().product::<usize>().max(1);
        let from_inside = |extents: &'_ [usize]| extents.iter().rev().copied().filter(|&d| d > 1).collect::<Vec<_>>();
        let (lines, outer) = (all / columns, from_inside(&extents[..at]));
        let group = from_inside(&extents[at..]).first().copied().unwrap_or(columns);
        let plane = outer.first().copied().unwrap_or(lines);
        Grid { columns, group, plane, planes: outer.get(1).copied().unwrap_or(1), lines }
    }
}

/// A row of an op and the elements that it reads.
struct Picture<'a> {
    one: &'a TableUser,
    table: &'a AddressTable<'a>,
    row: usize,
    grid: Grid,
    /// The first element of the row that reads each address.
    read: BTreeMap<usize, usize>,
    /// The base address, or the address of each run.
    bases: BTreeSet<usize>,
    /// Number of elements of the row, and number of padding elements among them.
    count: [usize; 2],
}

/// Draws the buffer of an op with the elements that a row reads. The error states why there is no picture.
pub(super) fn draw(m: &Module, one: &TableUser, reads: &StaticAccess<'_>, row: usize) -> Result<String, String> {
    let extents = m.ctx.static_shape(one.buffer).ok_or("the extents of the buffer are not known")?;
    let extents: Vec<usize> = extents.iter().map(|&d| d as usize).collect();
    let elements = extents.iter().try_fold(1_usize, |n, &d| n.checked_mul(d)).ok_or("the buffer is too large")?;
    reads.check()?;
    let table = &reads.table;
    if elements == 0 || table.rows() == 0 {
        return Err("the op reads nothing".into());
    }
    let (mut read, mut count) = (BTreeMap::new(), [0; 2]);
    for (k, at) in table.row(row).enumerate().take(MOST_READ) {
        count[0] += 1;
        match at {
            Some(at) => _ = read.entry(at as usize).or_insert(k),
            None => count[1] += 1,
        }
    }
    let bases: Vec<Option<i64>> = match table.addressing() {
        Addressing::Separable { base, .. } => base.get(row).map(|&base| Some(base.into())).into_iter().collect(),
        Addressing::Indirect { runs, .. } => (0..*runs).map(|run| table.run_start(row, run)).collect(),
    };
    let bases = bases.into_iter().flatten().filter_map(|base| usize::try_from(base).ok()).collect();
    let picture = Picture { one, table, row, grid: Grid::new(&extents, one), read, bases, count };
    Ok(picture.svg(m))
}

impl Picture<'_> {
    /// Returns the lines to draw: all, or those that are read and their neighbors.
    fn lines(&self) -> Vec<usize> {
        if self.grid.lines <= MOST[0] {
            return (0..self.grid.lines).collect();
        }
        let around = |&at: &usize| {
            let line = at / self.grid.columns;
            line.saturating_sub(1)..(line + 2).min(self.grid.lines)
        };
        let mut lines: Vec<usize> = self.read.keys().flat_map(around).collect();
        lines.sort_unstable();
        lines.dedup();
        lines.truncate(MOST[0]);
        lines
    }

    /// Returns the range of cells to draw in each line.
    fn columns(&self) -> std::ops::Range<usize> {
        let Grid { columns, group, .. } = self.grid;
        if columns <= MOST[1] {
            return 0..columns;
        }
        let first = self.read.keys().map(|at| at % columns).min().unwrap_or(0);
        let aligned = if group <= MOST[1] { first / group * group } else { first.saturating_sub(1) };
        let start = aligned.min(columns - MOST[1]);
        start..start + MOST[1]
    }

    /// Returns the positions of lines: one below the other, with grouped planes side by side where they fit.
    fn places(&self, lines: &[usize], [label, top]: [usize; 2]) -> Vec<[usize; 2]> {
        let Grid { columns, group, plane, planes, lines: all } = self.grid;
        let width = label + columns * CELL + (columns - 1) / group * GAP;
        let fits = |n: &usize| planes.is_multiple_of(*n) && n * width <= WIDTH;
        let beside = (1..=planes.min(WIDTH / width)).rev().find(fits).unwrap_or(1);
        if lines.len() == all && beside > 1 {
            let height = plane * CELL + GAP;
            let place = |at: usize| [at % beside * width + label, top + at / beside * height];
            return lines
                .iter()
                .map(|line| (place(line / plane), line % plane))
                .map(|([x, y], i)| [x, y + i * CELL])
                .collect();
        }
        let (mut y, mut before) = (top, None);
        let below = |&line: &usize| {
            let gap = match before {
                None => 0,
                Some(before) if before + 1 != line => LINE,
                Some(_) if line.is_multiple_of(plane) => GAP,
                Some(_) => 0,
            };
            y += gap + if before.is_some() { CELL } else { 0 };
            before = Some(line);
            [label, y]
        };
        lines.iter().map(below).collect()
    }

    fn svg(&self, m: &Module) -> String {
        let (lines, columns) = (self.lines(), self.columns());
        let label = MARGIN + LETTER * (self.grid.lines * self.grid.columns).to_string().len() + 4;
        let captions = self.captions(m, lines.len() * columns.len());
        let (mut cells, top) = (Cells::default(), MARGIN + captions.len() * LINE + LINE / 2);
        let mut bottom = top;
        for (i, place) in self.places(&lines, [label, top]).into_iter().enumerate() {
            if i > 0 && lines[i - 1] + 1 != lines[i] {
                cells.text(label + 4, place[1] - LINE / 3, "fill=\"gray\"", "...");
            }
            self.line(&mut cells, lines[i], columns.clone(), place);
            bottom = bottom.max(place[1] + CELL);
        }
        let longest = captions.iter().map(|text| text.chars().count()).max().unwrap_or(0);
        let width = cells.width().max(longest * LETTER + MARGIN) + MARGIN;
        let mut body = String::new();
        for (i, text) in captions.iter().enumerate() {
            let style = if i == 0 { " font-weight=\"bold\"" } else { "" };
            let _ =
                writeln!(body, "<text x=\"{MARGIN}\" y=\"{}\"{style}>{}</text>", MARGIN + 8 + i * LINE, escape(text));
        }
        document([width, bottom + MARGIN], "", &(body + &cells.drawn()))
    }

    /// Draws a range of cells of a line.
    fn line(&self, cells: &mut Cells, line: usize, columns: std::ops::Range<usize>, [label, y]: [usize; 2]) {
        let Grid { columns: all, group, .. } = self.grid;
        cells.text(label - 4, y + CELL / 2 + 4, "text-anchor=\"end\" fill=\"gray\"", &(line * all).to_string());
        let first = columns.start;
        for column in columns {
            let address = line * all + column;
            let x = label + (column - first) * CELL + (column / group - first / group) * GAP;
            match self.read.get(&address) {
                Some(&k) => cells.read([x, y], k, &colour(k, self.count[0])),
                None => {
                    cells.empty([x, y]);
                }
            }
            if self.bases.contains(&address) {
                cells.base([x, y]);
            }
        }
    }

    /// Returns the caption: op, row, and address formula.
    fn captions(&self, m: &Module, drawn: usize) -> Vec<String> {
        let Picture { one, table, row, count: [count, padding], .. } = self;
        let formula = match table.addressing() {
            Addressing::Separable { base, .. } => {
                let base = base.get(*row).map_or(String::new(), i32::to_string);
                format!("element k is at base[{row}] + relative[k], and base[{row}] is {base} (thick)")
            }
            Addressing::Indirect { .. } if table.run() == 1 => format!("element k is at bases[{row}, k] (thick)"),
            Addressing::Indirect { .. } => {
                format!("element k is at bases[{row}, k / {run}] + k % {run}; bases are thick", run = table.run())
            }
        };
        let mut lines =
            vec![format!("{} of {}, row {row} of {}", one.name, one.shown_buffer(m), table.rows()), formula];
        lines.push(format!("k is in the cells, from 0 to {}; on the left are the addresses of first cells", count - 1));
        if *padding > 0 {
            lines.push(format!("{padding} of them are padding and in no cell"));
        }
        let all = self.grid.lines * self.grid.columns;
        if drawn < all {
            lines.push(format!("{drawn} of {all} cells are drawn, around those that are read"));
        }
        lines
    }
}
