//! Loops that count, of whichever dialect, and how they are unrolled.
//!
//! A dialect says of its loop what [`CountedLoop`] asks for; [`Unroller`] does the rest, once for all.

use gradus_ir::{Block, Builder, Loc, Module, Op, OpDecl, Traits, Value, ValueList, ValueMap};
use std::collections::HashSet;
use std::ops::Range;

/// A loop whose body runs for the values of an induction variable in equal steps. The body is one block: its arguments are
/// the induction variable and what is carried from one iteration to the next, and its terminator hands on the latter.
pub trait CountedLoop: OpDecl + Copy {
    /// How the loop changes when it does several iterations at once.
    type Plan;

    /// The op.
    fn op(self) -> Op;

    /// The body.
    fn body(self, m: &Module) -> Block;

    /// Which operands are the carried values at first.
    fn inits(self, m: &Module) -> Range<usize>;

    /// How often the body runs, if that is known.
    fn trip_count(self, m: &Module) -> Option<u64>;

    /// Whether the body is known to run a multiple of `factor` times.
    fn is_multiple(self, m: &Module, factor: u64) -> bool {
        self.trip_count(m).is_some_and(|trips| trips % factor == 0)
    }

    /// How the loop does `factor` iterations at once, as far as they are whole: all of them if `whole`. Computes what that
    /// takes before the loop. `None`, with nothing computed, if it cannot be said.
    fn plan(self, m: &mut Module, factor: u64, whole: bool) -> Option<Self::Plan>;

    /// Makes the loop, a copy of the one that the plan is for, do the iterations that the plan leaves over.
    fn do_rest(self, m: &mut Module, plan: &Self::Plan);

    /// Makes the loop as it is planned.
    fn adopt(self, m: &mut Module, plan: &Self::Plan);

    /// The induction variable `n` iterations after the one that a planned step begins with.
    fn advanced(b: &mut Builder<'_>, loc: Loc, plan: &Self::Plan, induction_var: Value, n: u64) -> Value;

    /// The induction variable in the first iteration; `None` if it cannot be said.
    fn first(self, m: &mut Module) -> Option<Value>;
}

/// The loops in `root` that hold no other such loop, in the order of the text.
pub fn innermost<L: CountedLoop>(m: &Module, root: Op) -> Vec<L> {
    let ops = m.ops_under(root);
    // Each op comes before what it holds, so from the end each is known when it is reached.
    let mut holders: HashSet<Op> = HashSet::new();
    let mut found = Vec::new();
    for &op in ops.iter().rev() {
        let this = L::cast(m, op);
        if let Some(parent) = m.parent_op(op).filter(|_| this.is_some() || holders.contains(&op)) {
            holders.insert(parent);
        }
        found.extend(this.filter(|_| !holders.contains(&op)));
    }
    found.reverse();
    found
}

/// The loops in `root`, each after those that it holds.
pub fn inside_out<L: CountedLoop>(m: &Module, root: Op) -> Vec<L> {
    let (mut open, mut found) = (Vec::new(), Vec::new());
    for op in m.ops_under(root) {
        while let Some(done) = open.pop_if(|around| m.parent_op(op) != Some(*around)) {
            found.extend(L::cast(m, done));
        }
        open.push(op);
    }
    found.extend(open.into_iter().rev().filter_map(|op| L::cast(m, op)));
    found
}

/// Unrolls loops, as long as the program does not become too large.
#[derive(Debug)]
pub struct Unroller {
    /// How many ops may still be made.
    left: usize,
}

/// How many ops all unrolling together may make.
const MAX_OPS: usize = 1 << 20;

impl Default for Unroller {
    fn default() -> Self {
        Unroller { left: MAX_OPS }
    }
}

impl Unroller {
    /// Replaces a loop by its iterations, if it is known how many there are and there are any. Says whether it did.
    pub fn fully<L: CountedLoop>(&mut self, m: &mut Module, this: L) -> bool {
        match this.trip_count(m) {
            None | Some(0) => false,
            Some(1) => promote(m, this),
            Some(trips) => self.by_factor(m, this, trips, false),
        }
    }

    /// Makes a loop do `factor` iterations at once, or all of them, if they are fewer. Says whether it did.
    pub fn up_to_factor<L: CountedLoop>(&mut self, m: &mut Module, this: L, factor: u64) -> bool {
        let factor = this.trip_count(m).map_or(factor, |trips| trips.min(factor));
        factor > 0 && self.by_factor(m, this, factor, false)
    }

    /// Makes a loop do `factor` iterations at once. What is left of the iterations is done by a second loop behind it, or,
    /// if `or_fully`, the loop is replaced by its iterations instead. Says whether it did; a loop that runs fewer times
    /// stays.
    pub fn by_factor<L: CountedLoop>(&mut self, m: &mut Module, this: L, factor: u64, or_fully: bool) -> bool {
        let (body, trips) = (this.body(m), this.trip_count(m));
        if factor < 2 {
            return factor == 1 && promote(m, this);
        }
        // A terminator alone is not worth it.
        if m.first_op(body) == m.last_op(body) {
            return false;
        }
        let whole = this.is_multiple(m, factor);
        if trips.is_some_and(|trips| trips < factor) || !whole && or_fully {
            return or_fully && self.fully(m, this);
        }
        let size = m.ops_under(this.op()).len();
        let Some(left) = size_of_copies(size, factor).and_then(|made| self.left.checked_sub(made)) else {
            return false;
        };
        let Some(plan) = this.plan(m, factor, whole) else { return false };
        self.left = left;
        if !whole {
            append_rest(m, this, &plan);
        }
        this.adopt(m, &plan);
        append_copies(m, this, factor, &plan);
        promote(m, this);
        true
    }
}

/// How many ops `factor` iterations have at most, and what is left over, if a loop of one has `size`.
fn size_of_copies(size: usize, factor: u64) -> Option<usize> {
    usize::try_from(factor).ok()?.checked_mul(size)
}

/// Puts a loop behind `this` that goes on with what `this` results in.
fn append_rest<L: CountedLoop>(m: &mut Module, this: L, plan: &L::Plan) {
    let op = this.op();
    let rest = m.clone_op(op, &mut ValueMap::default());
    let block = m.parent_block(op).expect("the loop is in a block");
    let next = m.next_op(op);
    m.insert_op(block, rest, next);
    let pairs: Vec<(Value, Value)> = m.results(op).zip(m.results(rest)).collect();
    for ((result, last), init) in pairs.into_iter().zip(this.inits(m)) {
        m.replace_all_uses(result, last);
        m.set_operand(rest, init, result);
    }
    let rest = L::wrap(rest);
    rest.do_rest(m, plan);
    promote(m, rest);
}

/// Appends `factor - 1` copies of the body to it, each for the next value of the induction variable.
fn append_copies<L: CountedLoop>(m: &mut Module, this: L, factor: u64, plan: &L::Plan) {
    let (body, loc) = (this.body(m), m.loc(this.op()));
    let end = m.last_op(body).expect("the body has a terminator");
    let ops: Vec<Op> = m.block_ops(body).filter(|&op| op != end).collect();
    let args: ValueList = m.block_args(body).into();
    let yielded: ValueList = m.operands(end).into();
    let mut carried = yielded.clone();
    let counts = !m.is_unused(args[0]);
    for n in 1..factor {
        let mut map: ValueMap = args[1..].iter().copied().zip(carried).collect();
        if counts {
            let var = L::advanced(&mut Builder::before(m, end), loc, plan, args[0], n);
            map.insert(args[0], var);
        }
        for &op in &ops {
            let copy = m.clone_op(op, &mut map);
            m.insert_op(body, copy, Some(end));
        }
        carried = yielded.iter().map(|v| *map.get(v).unwrap_or(v)).collect();
    }
    m.set_operands(end, &carried);
}

/// Replaces a loop that runs exactly once by its body. Says whether it did.
pub fn promote<L: CountedLoop>(m: &mut Module, this: L) -> bool {
    if this.trip_count(m) != Some(1) {
        return false;
    }
    let (op, body) = (this.op(), this.body(m));
    let args: ValueList = m.block_args(body).into();
    if !m.is_unused(args[0]) {
        let Some(first) = this.first(m) else { return false };
        m.replace_all_uses(args[0], first);
    }
    for (arg, init) in args.into_iter().skip(1).zip(this.inits(m)) {
        let init = m.operands(op)[init];
        m.replace_all_uses(arg, init);
    }
    let end = m.last_op(body).expect("the body has a terminator");
    let yielded: ValueList = m.operands(end).into();
    for (result, value) in m.results(op).zip(yielded) {
        m.replace_all_uses(result, value);
    }
    m.erase_op(end);
    if let (Some(first), Some(last)) = (m.first_op(body), m.last_op(body)) {
        let block = m.parent_block(op).expect("the loop is in a block");
        m.move_ops(first, last, block, Some(op));
    }
    m.erase_op(op);
    true
}

/// The start of the function that `op` is in, where constants can go; `None` outside of functions.
pub fn function_start(m: &Module, op: Op) -> Option<Block> {
    let mut at = m.parent_op(op);
    while let Some(around) = at.filter(|&around| !m.has_trait(around, Traits::FUNCTION)) {
        at = m.parent_op(around);
    }
    m.entry(*m.regions(at?).first()?)
}
