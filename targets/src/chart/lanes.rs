//! Lanes of bars over time.

use super::{Chart, FONT, LEFT, TimeAxis, fits, fitting, grouped};
use gradus_ir::svg::escape;
use std::fmt::Write as _;

/// Height of a bar, and of its lane.
const BAR: f64 = 22.0;
const LANE: f64 = 27.0;
/// Bars of less than this width, in pixels, are drawn together with equal neighbours.
const NARROW: f64 = 4.0;
/// Largest gap between bars that are drawn together.
const GAP: f64 = 1.0;

/// An interval of the use of a unit.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Bar {
    /// First cycle, and the one after the last.
    pub cycles: [u64; 2],
    /// Its colour.
    pub colour: &'static str,
    /// The instruction or use.
    pub what: String,
    /// The layer or tensor; may be empty.
    pub name: String,
    /// The text on the bar; the name, or the use without one, if empty.
    pub label: String,
    /// A short form of that text.
    pub short: String,
    /// Bytes that it moves or writes.
    pub bytes: u64,
    /// Where: addresses, operands.
    pub place: String,
}

/// A row of bars.
#[derive(Clone, Default, Debug)]
pub(crate) struct Lane {
    /// Its label.
    pub label: String,
    /// Its bars, which do not overlap.
    pub bars: Vec<Bar>,
}

/// Bars that are drawn as one.
struct Group<'a> {
    first: &'a Bar,
    end: u64,
    /// Number of bars.
    count: usize,
    /// Number of other bars, too narrow to be drawn.
    others: usize,
    /// Cycles of all bars.
    busy: u64,
    bytes: u64,
}

impl Group<'_> {
    /// The text on the bar: that of one bar, or the name of several ones.
    fn label(&self) -> &str {
        let Bar { label, name, what, .. } = self.first;
        let is_own = self.count == 1 || !name.is_empty();
        [label, name, what].into_iter().skip((!is_own).into()).find(|text| !text.is_empty()).map_or("", |text| text)
    }

    fn title(&self) -> String {
        let Bar { what, name, place, cycles: [begin, _], .. } = self.first;
        let of = if name.is_empty() { what.clone() } else { format!("{what}: {name}") };
        let times = if self.count > 1 { format!("{} x ", self.count) } else { String::new() };
        let (begin, end) = (*begin, self.end);
        let mut text = format!("{times}{of}\ncycles {} to {}: {}", grouped(begin), grouped(end), grouped(self.busy));
        if self.count > 1 {
            text += &format!(" of {}", grouped(end - begin));
        }
        if self.bytes > 0 {
            text += &format!("\n{} bytes", grouped(self.bytes));
        }
        if self.count == 1 && !place.is_empty() {
            text += &format!("\n{place}");
        }
        if self.others > 0 {
            text += &format!("\nand {} shorter ones", self.others);
        }
        text
    }
}

impl Chart {
    /// Draws lanes above a time axis.
    pub(crate) fn lanes(&mut self, axis: TimeAxis, lanes: &[Lane]) {
        let top = self.bottom + 6.0;
        axis.grid(&mut self.body, top, top + LANE * lanes.len() as f64);
        self.bottom = top;
        for lane in lanes {
            let y = self.bottom + 2.0;
            let _ = writeln!(
                self.body,
                "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"12\" text-anchor=\"end\">{}</text>",
                LEFT - 8.0,
                y + BAR / 2.0 + 4.0,
                escape(&lane.label)
            );
            let groups = groups(axis, &lane.bars);
            groups.iter().for_each(|group| draw(&mut self.body, axis, y, group));
            labels(&mut self.body, axis, y, &groups);
            self.bottom += LANE;
        }
        self.bottom += axis.draw(&mut self.body, self.bottom);
    }
}

/// Joins narrow bars of one use with their neighbours, so that a drawing is not larger than what can be seen.
fn groups(axis: TimeAxis, bars: &[Bar]) -> Vec<Group<'_>> {
    let mut sorted: Vec<&Bar> = bars.iter().filter(|bar| axis.shows(bar.cycles)).collect();
    sorted.sort_by_key(|bar| bar.cycles);
    let mut all: Vec<Group<'_>> = Vec::new();
    for bar in sorted {
        let [begin, end] = bar.cycles;
        let (x, width) = (axis.x(begin), axis.x(end) - axis.x(begin));
        if let Some(last) = all.last_mut() {
            let (from, to) = (axis.x(last.first.cycles[0]), axis.x(last.end));
            let is_alike = (&last.first.what, &last.first.name) == (&bar.what, &bar.name);
            let is_narrow = width < NARROW || last.count > 1 || to - from < NARROW;
            if is_alike && is_narrow && x - to <= GAP {
                last.end = last.end.max(end);
                last.count += 1;
                last.busy += end - begin;
                last.bytes += bar.bytes;
                continue;
            }
            if width < GAP && x + width < to.max(from + GAP) + GAP / 2.0 {
                last.others += 1;
                continue;
            }
        }
        all.push(Group { first: bar, end, count: 1, others: 0, busy: end - begin, bytes: bar.bytes });
    }
    all
}

/// Draws a bar without its label.
fn draw(body: &mut String, axis: TimeAxis, y: f64, group: &Group<'_>) {
    let [x, width] = extent(axis, group);
    let share = group.busy as f64 / (group.end - group.first.cycles[0]).max(1) as f64;
    let (colour, opacity) = (group.first.colour, (0.4 + 0.6 * share).min(1.0));
    let _ = writeln!(
        body,
        "<rect class=\"bar\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{BAR}\" fill=\"{colour}\" fill-opacity=\"{opacity:.2}\">\
         <title>{}</title></rect>",
        escape(&group.title())
    );
}

/// Left edge and width of a bar.
fn extent(axis: TimeAxis, group: &Group<'_>) -> [f64; 2] {
    let x = axis.x(group.first.cycles[0]).min(axis.x(axis.cycles[1]) - GAP);
    [x, (axis.x(group.end) - x).max(GAP)]
}

/// Writes the labels of bars: on each, or once on equal neighbours that are too narrow for it. A later bar covers the end of an earlier one.
fn labels(body: &mut String, axis: TimeAxis, y: f64, groups: &[Group<'_>]) {
    let visible = |i: usize| {
        let [x, width] = extent(axis, &groups[i]);
        [x, width.min(groups.get(i + 1).map_or(f64::MAX, |next| extent(axis, next)[0] - x))]
    };
    let mut i = 0;
    while i < groups.len() {
        let (text, [x, width]) = (groups[i].label(), visible(i));
        let mut end = x + width;
        let mut next = i + 1;
        let is_narrow = !fits(text, width);
        while is_narrow && next < groups.len() && groups[next].label() == text && visible(next)[0] - end <= 2.0 * GAP {
            end = visible(next)[0] + visible(next)[1];
            next += 1;
        }
        let label = fitting(text, &groups[i].first.short, end - x);
        on_bar(body, [(x + end) / 2.0, y + BAR / 2.0 + FONT / 3.0], &label);
        i = next;
    }
}

/// Writes a text on a bar, around a point.
pub(super) fn on_bar(body: &mut String, [x, y]: [f64; 2], text: &str) {
    if !text.is_empty() {
        let text = escape(text);
        let _ = writeln!(body, "<text class=\"on-bar\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{text}</text>");
    }
}
