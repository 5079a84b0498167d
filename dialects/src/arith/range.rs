//! Integer range analysis by the defining ops of a value.

use gradus_ir::{Module, Type, Value};

/// Maximum depth of the use-def traversal; ops have at most three operands each.
const DEPTH: u32 = 8;

/// A range of signed integers of up to 64 bits, bounds included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Range {
    /// Minimum.
    pub low: i128,
    /// Maximum.
    pub high: i128,
}

impl Range {
    /// Returns the range of a value that is not poison, in every element; `None` for `index` and non-integers.
    pub fn of(m: &Module, value: Value) -> Option<Range> {
        RangeAnalysis { m }.range(value, DEPTH)
    }

    fn new(low: i128, high: i128) -> Range {
        Range { low, high }
    }

    /// Returns the full range of a width.
    fn all(width: u32) -> Range {
        let half = 1i128 << (width - 1);
        Range::new(-half, half - 1)
    }

    fn fits(self, width: u32) -> bool {
        let all = Range::all(width);
        all.low <= self.low && self.high <= all.high
    }

    fn is_natural(self) -> bool {
        self.low >= 0
    }

    /// Returns the range of the same bits as unsigned integers.
    fn unsigned(self, width: u32) -> Range {
        if self.is_natural() { self } else { Range::new(0, (1 << width) - 1) }
    }

    fn join(self, other: Range) -> Range {
        Range::new(self.low.min(other.low), self.high.max(other.high))
    }

    /// Returns the range of an operation that is monotonic in each operand.
    fn corners(self, other: Range, f: impl Fn(i128, i128) -> i128) -> Range {
        let ends = [f(self.low, other.low), f(self.low, other.high), f(self.high, other.low), f(self.high, other.high)];
        let [a, b, c, d] = ends.map(|end| Range::new(end, end));
        a.join(b).join(c).join(d)
    }
}

struct RangeAnalysis<'m> {
    m: &'m Module,
}

impl RangeAnalysis<'_> {
    /// Returns the width of an integer's elements.
    fn width(&self, value: Value) -> Option<u32> {
        let elem = self.m.ctx.element_type(self.m.value_type(value));
        self.m.ctx.int_width(elem).filter(|width| elem != Type::INDEX && (1..=64).contains(width))
    }

    /// Returns the range of a value, within the remaining depth.
    fn range(&self, value: Value, depth: u32) -> Option<Range> {
        let width = self.width(value)?;
        let known = self.known(value, width, depth);
        Some(known.filter(|range| range.fits(width)).unwrap_or(Range::all(width)))
    }

    /// Returns `None` if unknown, else the range of the unwrapped result.
    fn known(&self, value: Value, width: u32, depth: u32) -> Option<Range> {
        let m = self.m;
        if let Some(attr) = m.constant(value) {
            let number = m.ctx.as_uniform(attr)? as i128;
            // The only bit of a boolean is its sign.
            return Some(if width == 1 {
                Range::new(-number.abs(), -number.abs())
            } else {
                Range::new(number, number)
            });
        }
        let depth = depth.checked_sub(1)?;
        let op = m.defining_op(value)?;
        let operand = |i: usize| self.range(*m.operands(op).get(i)?, depth);
        let first_width = self.width(*m.operands(op).first()?);
        let naturals = || Some((operand(0)?, operand(1)?)).filter(|(a, b)| a.is_natural() && b.is_natural());
        match m.name_text(op) {
            "arith.addi" => operand(0)?.corners(operand(1)?, |a, b| a + b).into(),
            "arith.subi" => operand(0)?.corners(operand(1)?, |a, b| a - b).into(),
            "arith.muli" => operand(0)?.corners(operand(1)?, |a, b| a * b).into(),
            "arith.maxsi" => operand(0)?.corners(operand(1)?, i128::max).into(),
            "arith.minsi" => operand(0)?.corners(operand(1)?, i128::min).into(),
            "arith.maxui" => naturals().map(|(a, b)| a.corners(b, i128::max)),
            "arith.minui" => least([operand(0)?, operand(1)?]),
            "arith.andi" => least([operand(0)?, operand(1)?]),
            "arith.ori" | "arith.xori" => naturals().map(|(a, b)| Range::new(0, all_ones(a.high | b.high))),
            "arith.extsi" | "arith.trunci" => operand(0),
            "arith.extui" => Some(operand(0)?.unsigned(first_width?)),
            "arith.select" => Some(operand(1)?.join(operand(2)?)),
            "arith.remui" => Some(operand(1)?).filter(|by| by.low > 0).map(|by| Range::new(0, by.high - 1)),
            "arith.divui" | "arith.shrui" => {
                let (all, by) = (operand(0)?.unsigned(width), operand(1)?);
                let least = if m.name_text(op) == "arith.shrui" { 1 << by.low.clamp(0, 64) } else { by.low.max(1) };
                Some(Range::new(0, all.high / least))
            }
            "arith.divsi" | "arith.remsi" | "arith.shrsi" => naturals().map(|(a, _)| Range::new(0, a.high)),
            _ => None,
        }
    }
}

/// Returns the range of a bitwise AND, which is bounded by each nonnegative operand.
fn least(ranges: [Range; 2]) -> Option<Range> {
    let high = ranges.into_iter().filter(|range| range.is_natural()).map(|range| range.high).min()?;
    Some(Range::new(0, high))
}

/// Returns the least number of the form 2^n - 1 that is at least the argument.
fn all_ones(number: i128) -> i128 {
    (1i128 << (128 - number.leading_zeros())) - 1
}
