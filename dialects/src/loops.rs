//! Unrolling of counted loops.
//!
//! Dialects implement [`CountedLoop`] for their loops; [`Unroller`] does the transformation.

use gradus_ir::{Block, Builder, Extension, Loc, Module, Op, OpDecl, OpInfo, Traits, Value, ValueList, ValueMap};
use std::collections::HashSet;
use std::ops::Range;

/// Of an op: whether its operand of an index must be a symbol, as those of `affine.apply` behind its dimensions.
pub struct SymbolOperands(pub fn(&Module, Op, usize) -> bool);
impl Extension for SymbolOperands {}

/// A loop with an induction variable and a constant step. The body is one block; its arguments are the induction
/// variable and the loop-carried values, and its terminator yields the next loop-carried values.
pub trait CountedLoop: OpDecl + Copy {
    /// New bounds and step of an unrolled loop.
    type UnrollPlan;

    /// Returns the op.
    fn op(self) -> Op;

    /// Returns the body block.
    fn body(self, m: &Module) -> Block;

    /// Returns the operand range of the initial loop-carried values.
    fn init_operands(self, m: &Module) -> Range<usize>;

    /// Returns the trip count, if it is constant.
    fn trip_count(self, m: &Module) -> Option<u64>;

    /// Whether the trip count is known to be a multiple of `factor`.
    fn is_multiple(self, m: &Module, factor: u64) -> bool {
        self.trip_count(m).is_some_and(|trips| trips % factor == 0)
    }

    /// Plans unrolling by `factor`, and creates the ops that compute the new bounds before the loop. `whole`: whether
    /// the trip count is a multiple of `factor`. Returns `None`, and creates nothing, if the loop cannot be unrolled.
    fn plan_unroll(self, m: &mut Module, factor: u64, whole: bool) -> Option<Self::UnrollPlan>;

    /// Turns a copy of the planned loop into the epilogue, which runs the remaining iterations.
    fn into_epilogue(self, m: &mut Module, plan: &Self::UnrollPlan);

    /// Sets the bounds and step of the unrolled loop.
    fn apply_unroll(self, m: &mut Module, plan: &Self::UnrollPlan);

    /// Returns the induction variable `n` iterations after the start of an unrolled iteration.
    fn advance_induction_var(
        b: &mut Builder<'_>,
        loc: Loc,
        plan: &Self::UnrollPlan,
        induction_var: Value,
        n: u64,
    ) -> Value;

    /// Returns the first value of the induction variable, if it can be computed.
    fn first_induction_value(self, m: &mut Module) -> Option<Value>;
}

/// Returns the loops in `root` without nested counted loops, in program order.
pub fn innermost_loops<L: CountedLoop>(m: &Module, root: Op) -> Vec<L> {
    let ops = m.ops_under(root);
    // Ops precede the ops nested in them, so the reverse order visits children first.
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

/// Returns the loops in `root` in post-order.
pub fn loops_post_order<L: CountedLoop>(m: &Module, root: Op) -> Vec<L> {
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

/// A loop unroller with a limit on the total number of new ops.
#[derive(Debug)]
pub struct Unroller {
    /// Number of ops that may still be created.
    left: usize,
}

/// Maximum number of ops that one unroller creates.
const MAX_OPS: usize = 1 << 20;

impl Default for Unroller {
    fn default() -> Self {
        Unroller { left: MAX_OPS }
    }
}

impl Unroller {
    /// Unrolls a loop completely if its trip count is known and positive. Returns whether it did.
    pub fn unroll_fully<L: CountedLoop>(&mut self, m: &mut Module, this: L) -> bool {
        match this.trip_count(m) {
            None | Some(0) => false,
            Some(1) => promote_single_iteration(m, this),
            Some(trips) => self.unroll_by(m, this, trips, false),
        }
    }

    /// Unrolls a loop by `factor`, or completely if it has fewer iterations. Returns whether it did.
    pub fn unroll_up_to<L: CountedLoop>(&mut self, m: &mut Module, this: L, factor: u64) -> bool {
        let factor = this.trip_count(m).map_or(factor, |trips| trips.min(factor));
        factor > 0 && self.unroll_by(m, this, factor, false)
    }

    /// Unrolls a loop by `factor`. The remaining iterations go into an epilogue loop or, if `or_fully`, the loop is
    /// unrolled completely instead. Returns whether it did; loops with fewer than `factor` iterations stay.
    pub fn unroll_by<L: CountedLoop>(&mut self, m: &mut Module, this: L, factor: u64, or_fully: bool) -> bool {
        let (body, trips) = (this.body(m), this.trip_count(m));
        if factor < 2 {
            return factor == 1 && promote_single_iteration(m, this);
        }
        // An empty body gains nothing.
        if m.first_op(body) == m.last_op(body) || defines_symbol(m, this) {
            return false;
        }
        let whole = this.is_multiple(m, factor);
        if trips.is_some_and(|trips| trips < factor) || !whole && or_fully {
            return or_fully && self.unroll_fully(m, this);
        }
        let size = m.ops_under(this.op()).len();
        let Some(left) = unrolled_size(size, factor).and_then(|made| self.left.checked_sub(made)) else {
            return false;
        };
        let Some(plan) = this.plan_unroll(m, factor, whole) else { return false };
        self.left = left;
        if !whole {
            append_epilogue(m, this, &plan);
        }
        this.apply_unroll(m, &plan);
        append_copies(m, this, factor, &plan);
        promote_single_iteration(m, this);
        true
    }
}

/// Whether a carried value, or an induction variable of another dialect, must stay a symbol. The value that would replace it
/// may be a dimension.
fn defines_symbol<L: CountedLoop>(m: &Module, this: L) -> bool {
    let args = m.block_args(this.body(m)).iter().copied();
    let is_symbol = |value| {
        m.uses(value).any(|(user, i)| {
            let rule = m.info(user).and_then(OpInfo::extension::<SymbolOperands>);
            rule.is_some_and(|rule| rule.0(m, user, i))
        })
    };
    args.chain(m.results(this.op())).any(is_symbol)
}

/// Returns an upper bound on the number of ops after unrolling a loop of `size` ops by `factor`.
fn unrolled_size(size: usize, factor: u64) -> Option<usize> {
    usize::try_from(factor).ok()?.checked_mul(size)
}

/// Appends the epilogue loop, which continues from the results of `this`.
fn append_epilogue<L: CountedLoop>(m: &mut Module, this: L, plan: &L::UnrollPlan) {
    let op = this.op();
    let rest = m.clone_op(op, &mut ValueMap::default());
    let block = m.parent_block(op).expect("the loop is in a block");
    let next = m.next_op(op);
    m.insert_op(block, rest, next);
    let pairs: Vec<(Value, Value)> = m.results(op).zip(m.results(rest)).collect();
    for ((result, last), init) in pairs.into_iter().zip(this.init_operands(m)) {
        m.replace_all_uses(result, last);
        m.set_operand(rest, init, result);
    }
    let rest = L::wrap(rest);
    rest.into_epilogue(m, plan);
    promote_single_iteration(m, rest);
}

/// Appends `factor - 1` copies of the body to it, with advanced induction variables.
fn append_copies<L: CountedLoop>(m: &mut Module, this: L, factor: u64, plan: &L::UnrollPlan) {
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
            let var = L::advance_induction_var(&mut Builder::before(m, end), loc, plan, args[0], n);
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

/// Replaces a loop of exactly one iteration by its body. Returns whether it did.
pub fn promote_single_iteration<L: CountedLoop>(m: &mut Module, this: L) -> bool {
    if this.trip_count(m) != Some(1) || defines_symbol(m, this) {
        return false;
    }
    let (op, body) = (this.op(), this.body(m));
    let args: ValueList = m.block_args(body).into();
    if !m.is_unused(args[0]) {
        let Some(first) = this.first_induction_value(m) else { return false };
        m.replace_all_uses(args[0], first);
    }
    for (arg, init) in args.into_iter().skip(1).zip(this.init_operands(m)) {
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

/// Returns the entry block of the enclosing function, where constants can be placed; `None` outside functions.
pub fn function_start(m: &Module, op: Op) -> Option<Block> {
    let mut at = m.parent_op(op);
    while let Some(around) = at.filter(|&around| !m.has_trait(around, Traits::FUNCTION)) {
        at = m.parent_op(around);
    }
    m.entry(*m.regions(at?).first()?)
}
