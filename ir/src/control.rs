//! Control flow as declarations tell it: where branches go and what they carry along, how control moves between an op and
//! its regions, and how that is executed.

use crate::context::Context;
use crate::datum::Datum;
use crate::intern::Type;
use crate::module::{Module, Op, Value, ValueList};
use crate::traits::Traits;
use crate::trap::Trap;
use smallvec::SmallVec;

/// Where structured control flow can be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Point {
    /// At the op: before its regions, where its operands are known, or after them, where its results are.
    Op,
    /// In region `i`: at its start, where the arguments are known, or at its terminator.
    Region(usize),
}

/// A way that control can take, and the values that it takes along: from the op's operands or the operands of the region's
/// terminator, beginning with number `first`, to the op's results or the region's arguments, beginning with number
/// `target`, as many as there are left of those. Arguments before `target` are made by the op, such as induction
/// variables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edge {
    /// Where from.
    pub from: Point,
    /// Where to.
    pub to: Point,
    /// The first value that is taken along.
    pub first: usize,
    /// The first value that receives.
    pub target: usize,
}

impl Edge {
    /// An edge that takes all values along.
    pub const fn new(from: Point, to: Point) -> Edge {
        Edge { from, to, first: 0, target: 0 }
    }

    /// The same, taking values from `first` to `target`.
    pub const fn carrying(self, first: usize, target: usize) -> Edge {
        Edge { first, target, ..self }
    }

    /// The ops from whose operands the values come: the op itself, or the terminators that leave the region.
    pub fn sources(&self, m: &Module, op: Op) -> SmallVec<[Op; 2]> {
        let Point::Region(i) = self.from else { return smallvec::smallvec![op] };
        let blocks = m.regions(op).get(i).into_iter().flat_map(|&r| m.region_blocks(r));
        blocks.filter_map(|b| m.last_op(b)).filter(|&t| m.has_trait(t, Traits::RETURN_LIKE)).collect()
    }

    /// The operands of `source` that are taken along.
    pub fn carried<'m>(&self, m: &'m Module, source: Op) -> &'m [Value] {
        m.operands(source).get(self.first..).unwrap_or(&[])
    }

    /// The results of the op, or arguments of its region, that receive them.
    pub fn receivers(&self, m: &Module, op: Op) -> ValueList {
        match self.to {
            Point::Op => m.results(op).skip(self.target).collect(),
            Point::Region(i) => {
                let entry = m.regions(op).get(i).and_then(|&r| m.entry(r));
                entry.map_or(&[][..], |b| m.block_args(b)).get(self.target..).unwrap_or(&[]).into()
            }
        }
    }
}

/// What just happened while an op with regions is executed.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// The op is reached.
    Enter,
    /// A region ended.
    Left {
        /// Which.
        region: usize,
        /// The arguments that it was entered with.
        args: &'a [Datum],
        /// The operands of its terminator; without one, what its combining ops gave.
        yielded: &'a [Datum],
    },
}

/// What happens next while an op with regions is executed.
#[derive(Clone, PartialEq, Debug)]
pub enum Next {
    /// A region runs, with these arguments; those that it does not declare only come back in [`Event::Left`]. Numbers
    /// beyond the op's regions are those of the terminator of its last region, such as reductions.
    Region(usize, Vec<Datum>),
    /// The op is done, with these results; for a terminator, what the region that it ends yields.
    Done(Vec<Datum>),
    /// The op is done, with these results, after so many steps in which nothing ran, such as those of a loop around a loop
    /// without iterations.
    Idle(u64, Vec<Datum>),
}

/// The integers of a type, as a loop counts them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Count {
    width: u32,
    unsigned: bool,
}

impl Count {
    /// The integers of a type; of at most 64 bits.
    pub fn new(ctx: &Context, ty: Type, unsigned: bool) -> Count {
        Count { width: ctx.int_width(ty).unwrap_or(64), unsigned }
    }

    /// The number that a value stands for.
    pub fn number(self, value: i64) -> i128 {
        match self.unsigned {
            true if self.width < 64 => i128::from(value as u64 & ((1 << self.width) - 1)),
            true => i128::from(value as u64),
            false => i128::from(value),
        }
    }

    /// The value that stands for a number; `None` when the type has none.
    pub fn value(self, number: i128) -> Option<i64> {
        let unused = 64 - self.width.min(64);
        let value = (number as i64) << unused >> unused;
        (self.number(value) == number).then_some(value)
    }
}

/// What a loop counts through. Its body gets the number and, after it, values that the first iteration has from the op and
/// each other from the one before; the loop's results are what the last one yields.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Counted {
    /// The first number.
    pub first: i128,
    /// Numbers stay below it.
    pub end: i128,
    /// How far numbers are apart; positive.
    pub step: i128,
    /// The first of the operands that the first iteration gets.
    pub inits: usize,
    /// The type of the numbers, if it must hold the one that ends the loop as well.
    pub must_hold: Option<Count>,
}

impl Counted {
    /// What the body gets for a number. Undefined behaviour if its type does not hold it.
    pub fn value(&self, number: i128) -> Result<i64, Trap> {
        let Some(count) = self.must_hold else { return Ok(number as i64) };
        let lost = || Trap::Ub(format!("the induction variable becomes {number}, which its type does not hold"));
        count.value(number).ok_or_else(lost)
    }
}

/// Whether region `i` of the op can run again after it ran, by the declared edges: whether it is a loop's body.
pub fn is_loop(m: &Module, op: Op, i: usize) -> bool {
    let Some(edges) = m.info(op).and_then(|info| info.edges) else { return false };
    let edges = edges(m, op);
    let mut seen: SmallVec<[Point; 4]> = SmallVec::new();
    let mut stack: SmallVec<[Point; 4]> = smallvec::smallvec![Point::Region(i)];
    while let Some(at) = stack.pop() {
        for edge in edges.iter().filter(|e| e.from == at && e.to != Point::Op) {
            if edge.to == Point::Region(i) {
                return true;
            }
            if !seen.contains(&edge.to) {
                seen.push(edge.to);
                stack.push(edge.to);
            }
        }
    }
    false
}
