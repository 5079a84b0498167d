//! Control flow interfaces: successor operands of branches, region control-flow edges, and their execution.

use crate::context::Context;
use crate::intern::Type;
use crate::module::{Module, Op, Value, ValueList};
use crate::traits::Traits;
use crate::values::datum::Datum;
use crate::values::trap::Trap;
use smallvec::SmallVec;

/// A program point of structured control flow.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Point {
    /// The op: before its regions, with its operands, or after them, with its results.
    Op,
    /// Region `i`: its entry, with the arguments, or its terminator.
    Region(usize),
}

/// A region control-flow edge and the values that it forwards: from the op's operands or the operands of the region's
/// terminator, starting at index `first`, to the op's results or the region's arguments, from index `target` to the
/// last. The op itself defines the arguments before `target`, such as induction variables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edge {
    /// The source.
    pub from: Point,
    /// The destination.
    pub to: Point,
    /// The index of the first forwarded operand.
    pub first: usize,
    /// The index of the first receiving result or argument.
    pub target: usize,
}

impl Edge {
    /// Returns an edge that forwards all values.
    pub const fn new(from: Point, to: Point) -> Edge {
        Edge { from, to, first: 0, target: 0 }
    }

    /// Returns the edge with values forwarded from index `first` to index `target`.
    pub const fn carrying(self, first: usize, target: usize) -> Edge {
        Edge { first, target, ..self }
    }

    /// Returns the ops whose operands are forwarded: the op itself, or the terminators that leave the region.
    pub fn sources(&self, m: &Module, op: Op) -> SmallVec<[Op; 2]> {
        let Point::Region(i) = self.from else { return smallvec::smallvec![op] };
        let blocks = m.regions(op).get(i).into_iter().flat_map(|&r| m.region_blocks(r));
        blocks.filter_map(|b| m.last_op(b)).filter(|&t| m.has_trait(t, Traits::RETURN_LIKE)).collect()
    }

    /// Returns the forwarded operands of `source`.
    pub fn carried<'m>(&self, m: &'m Module, source: Op) -> &'m [Value] {
        m.operands(source).get(self.first..).unwrap_or(&[])
    }

    /// Returns the op's results, or its region's arguments, that receive the forwarded values.
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

/// An event in the interpretation of an op with regions.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// Control reaches the op.
    Enter,
    /// A region has ended.
    Left {
        /// The index of the region.
        region: usize,
        /// The arguments of this run of the region.
        args: &'a [Datum],
        /// The operands of its terminator; without one, the results of its combining ops.
        yielded: &'a [Datum],
    },
}

/// The interpreter's next action at an op with regions.
#[derive(Clone, PartialEq, Debug)]
pub enum Next {
    /// Runs a region with these arguments; undeclared ones are only returned in [`Event::Left`]. Indices beyond the
    /// op's regions name regions of the terminator of its last region, such as reductions.
    Region(usize, Vec<Datum>),
    /// Completes the op with these results; at a terminator, with the values that its region yields.
    Done(Vec<Datum>),
    /// Completes the op with these results after a number of empty steps, such as the iterations of a loop whose inner
    /// loop has none. The steps count toward the execution limit.
    Idle(u64, Vec<Datum>),
}

/// The integers of a type, as loop bounds and induction variables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Count {
    width: u32,
    unsigned: bool,
}

impl Count {
    /// Returns the integers of a type of at most 64 bits.
    pub fn new(ctx: &Context, ty: Type, unsigned: bool) -> Count {
        Count { width: ctx.int_width(ty).unwrap_or(64), unsigned }
    }

    /// Returns the number that `value` represents.
    pub fn number(self, value: i64) -> i128 {
        match self.unsigned {
            true if self.width < 64 => i128::from(value as u64 & ((1 << self.width) - 1)),
            true => i128::from(value as u64),
            false => i128::from(value),
        }
    }

    /// Returns the value that represents a number; `None` if the type cannot represent it.
    pub fn value(self, number: i128) -> Option<i64> {
        let unused = 64 - self.width.min(64);
        let value = (number as i64) << unused >> unused;
        (self.number(value) == number).then_some(value)
    }
}

/// The iteration space of a counted loop. The body gets the induction variable and the loop-carried values, initialized
/// by operands of the op and updated by each iteration; the last iteration's values are the loop's results.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Counted {
    /// The lower bound.
    pub first: i128,
    /// The exclusive upper bound.
    pub end: i128,
    /// The step; positive.
    pub step: i128,
    /// The index of the first operand that initializes a loop-carried value.
    pub inits: usize,
    /// The type that must represent every induction value including the one that ends the loop, if any.
    pub must_hold: Option<Count>,
}

impl Counted {
    /// Returns the induction variable's value for a number; undefined behavior if its type cannot represent it.
    pub fn value(&self, number: i128) -> Result<i64, Trap> {
        let Some(count) = self.must_hold else { return Ok(number as i64) };
        let lost = || Trap::Ub(format!("the induction variable becomes {number}, which its type does not hold"));
        count.value(number).ok_or_else(lost)
    }
}

/// Whether region `i` of the op is a loop body: the declared edges lead from it back to it.
pub fn is_loop(m: &Module, op: Op, i: usize) -> bool {
    loops(m, op).get(i) == Some(&true)
}

/// Returns for each region of the op whether it is a loop body; see [`is_loop`]. Linear in the number of declared edges,
/// except that each region of a loop of several regions follows its edges.
pub fn loops(m: &Module, op: Op) -> SmallVec<[bool; 2]> {
    let mut found: SmallVec<[bool; 2]> = smallvec::smallvec![false; m.regions(op).len()];
    let Some(edges) = m.info(op).and_then(|info| info.edges) else { return found };
    // Most edges enter or leave the op.
    let inner = |edge: &Edge| match (edge.from, edge.to) {
        (Point::Region(from), Point::Region(to)) => Some((from, to)),
        _ => None,
    };
    let inner: SmallVec<[(usize, usize); 4]> = edges(m, op).iter().filter_map(inner).collect();
    for i in inner.iter().map(|edge| edge.0) {
        if let Some(is_loop) = found.get_mut(i) {
            *is_loop = is_cyclic(&inner, i);
        }
    }
    found
}

/// Whether edges lead from a node back to it.
fn is_cyclic(edges: &[(usize, usize)], node: usize) -> bool {
    let (mut seen, mut stack): (SmallVec<[usize; 4]>, SmallVec<[usize; 4]>) =
        (SmallVec::new(), smallvec::smallvec![node]);
    while let Some(at) = stack.pop() {
        for &(_, to) in edges.iter().filter(|edge| edge.0 == at) {
            if to == node {
                return true;
            }
            if !seen.contains(&to) {
                seen.push(to);
                stack.push(to);
            }
        }
    }
    false
}
