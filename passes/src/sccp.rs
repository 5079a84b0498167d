//! `sccp`: sparse conditional constant propagation (Wegman and Zadeck, 1991), across regions and calls.

use gradus_dialects::scf::drop_undefined_parallel;
use gradus_ir::CountedFn;
use gradus_ir::branch::carried_ranges;
use gradus_ir::control::{Edge, Event, Next, Point};
use gradus_ir::effects::is_dead;
use gradus_ir::entity::SideTable;
use gradus_ir::eval::Datum;
use gradus_ir::pass::Rewrites;
use gradus_ir::rewrite::{constant_region, fold_given};
use gradus_ir::symbols::{SymbolRefs, SymbolTables, is_private};
use gradus_ir::{
    Attr, Block, Builder, Diagnostic, FoldResult, Folded, Module, Op, Pass, PassContext, PassInfo, Region, Traits,
    Type, Value,
};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};
use std::collections::hash_map::Entry;

/// The declaration of the pass.
pub const INFO: PassInfo = PassInfo {
    name: "sccp",
    class: "SCCP",
    doc: "Propagate constants along executable control-flow edges

# Before / After

```mlir
cf.cond_br %true, ^bb1(%c1), ^bb1(%c2)
^bb1(%x: i32):                            // uses of %x become uses of %c1
```

# Does

Sparse conditional constant propagation (Wegman and Zadeck, 1991) through branches, structured control flow and calls of private
functions: values start as unreached, and only executable edges are followed. Constant values are then replaced, and dead ops are
erased.

# Refuses

Arguments of public functions and results of unregistered ops are unknown. Unreached blocks are left to `canonicalize`.

# Cost

Linear in the number of uses: each value changes at most twice.",
    statistics: &[("num-replaced", "Number of values replaced by constants")],
    rewrites: Rewrites::Tags(&["replace-by-constant"]),
    make: |_| Ok(Box::new(Sccp)),
    ..PassInfo::DEFAULT
};

struct Sccp;

impl Pass for Sccp {
    fn run(&mut self, m: &mut Module, op: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        let mut solver = Solver::new(m, op);
        solver.solve(op);
        let values = solver.values;
        let replaced = replace(m, op, &values, cx);
        drop_undefined_parallel(m, op);
        cx.count("num-replaced", replaced);
        Ok(())
    }
}

/// Replaces constant values and erases dead ops. Returns the number of replaced values.
fn replace(m: &mut Module, root: Op, values: &SideTable<Value, Lattice>, cx: &mut PassContext<'_>) -> u64 {
    let mut constants = Constants { values, known: FxHashMap::default(), replaced: 0 };
    let mut blocks = blocks_of(m, root);
    while let Some(block) = blocks.pop() {
        for op in m.block_ops(block).collect::<Vec<_>>() {
            for result in m.results(op) {
                constants.replace(m, block, result, cx);
            }
            let known = m.num_results(op) > 0 && m.results(op).all(|r| matches!(values[r], Lattice::Constant(_)));
            if known && is_dead(m, op) {
                m.erase_op(op);
                continue;
            }
            blocks.extend(blocks_of(m, op));
        }
        for arg in m.block_args(block).to_vec() {
            constants.replace(m, block, arg, cx);
        }
    }
    // The reverse order visits nested ops before their parents and users before definitions.
    for &op in m.ops_under(root)[1..].iter().rev() {
        if m.num_results(op) > 0 && m.regions(op).is_empty() && is_dead(m, op) {
            m.erase_op(op);
        }
    }
    constants.replaced
}

/// Returns the blocks of an op's regions as a stack: last region first, its blocks in order.
fn blocks_of(m: &Module, op: Op) -> Vec<Block> {
    let reversed = |&region: &Region| m.region_blocks(region).collect::<Vec<_>>().into_iter().rev();
    m.regions(op).iter().flat_map(reversed).collect()
}

/// The unique constants at the start of each region.
struct Constants<'a> {
    values: &'a SideTable<Value, Lattice>,
    known: FxHashMap<(Region, Attr, Type), Value>,
    replaced: u64,
}

impl Constants<'_> {
    /// Replaces a value of `block` by its constant.
    fn replace(&mut self, m: &mut Module, block: Block, value: Value, cx: &mut PassContext<'_>) {
        let Lattice::Constant(attr) = self.values[value] else { return };
        if m.is_unused(value) {
            return;
        }
        let Some(region) = constant_region(m, block) else { return };
        let root = m.defining_op(value).or_else(|| m.block_op(block));
        if m.constant(value).is_none() && root.is_some_and(|root| !cx.allows("replace-by-constant", m, root)) {
            return;
        }
        let key = (region, attr, m.value_type(value));
        let known = self.known.get(&key).copied();
        let Some(constant) = known.or_else(|| first_constant(m, region, attr, value)) else { return };
        self.known.insert(key, constant);
        if constant != value {
            m.replace_all_uses(value, constant);
            self.replaced += 1;
        }
    }
}

/// Returns the equal constant at the start of a region, possibly `value` itself.
fn first_constant(m: &mut Module, region: Region, attr: Attr, value: Value) -> Option<Value> {
    let (entry, ty) = (m.entry(region)?, m.value_type(value));
    let Some(op) = m.defining_op(value) else {
        return Builder::at_start(m, entry).constant(attr, ty, "", gradus_ir::Loc::UNKNOWN);
    };
    if m.has_trait(op, Traits::CONSTANT_LIKE) {
        m.unlink_op(op);
        let first = m.first_op(entry);
        m.insert_op(entry, op, first);
        return Some(value);
    }
    let (loc, dialect) = (m.loc(op), m.ctx.op_dialect(m.name(op)).to_owned());
    Builder::at_start(m, entry).constant(attr, ty, &dialect, loc)
}

/// The lattice of a value; it only descends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lattice {
    /// Unreached (top).
    Unknown,
    Constant(Attr),
    Varying,
}

struct Solver<'m> {
    m: &'m Module,
    values: SideTable<Value, Lattice>,
    reached: SideTable<Block, bool>,
    work: Vec<Op>,
    queued: SideTable<Op, bool>,
    tables: SymbolTables,
    /// Private functions whose callers are all known, with their calls.
    callers: FxHashMap<Op, Vec<Op>>,
    /// Ops that equal a value without using it, such as `tensor.dim` and the size operand of the tensor's definition.
    equal_to: FxHashMap<Value, SmallVec<[Op; 2]>>,
    /// The pairs of `equal_to`.
    followed: FxHashSet<(Value, Op)>,
    /// The control-flow edges of the visited ops with regions, by source, and the index of each region of these ops.
    edges: FxHashMap<(Op, Point), SmallVec<[Edge; 2]>>,
    region_index: FxHashMap<Region, usize>,
}

impl<'m> Solver<'m> {
    fn new(m: &'m Module, root: Op) -> Self {
        let mut tables = SymbolTables::default();
        let callers = known_callers(m, root, &mut tables);
        Solver {
            m,
            values: SideTable::new(Lattice::Unknown),
            reached: SideTable::new(false),
            work: Vec::new(),
            queued: SideTable::new(false),
            tables,
            callers,
            equal_to: FxHashMap::default(),
            followed: FxHashSet::default(),
            edges: FxHashMap::default(),
            region_index: FxHashMap::default(),
        }
    }

    fn solve(&mut self, root: Op) {
        for &region in self.m.regions(root) {
            self.enter_unknown(region);
        }
        while let Some(op) = self.work.pop() {
            self.queued[op] = false;
            self.visit(op);
        }
    }

    fn push(&mut self, op: Op) {
        if !std::mem::replace(&mut self.queued[op], true) {
            self.work.push(op);
        }
    }

    fn join(&mut self, value: Value, with: Lattice) {
        let old = self.values[value];
        let new = match (old, with) {
            (Lattice::Unknown, new) => new,
            (old, Lattice::Unknown) => old,
            (old, new) if old == new => old,
            _ => Lattice::Varying,
        };
        if new != old {
            self.values[value] = new;
            let others = self.equal_to.get(&value).cloned().unwrap_or_default();
            for user in self.m.uses(value).map(|(user, _)| user).chain(others) {
                if self.m.parent_block(user).is_some_and(|b| self.reached[b]) {
                    self.push(user);
                }
            }
        }
    }

    fn reach(&mut self, block: Block) {
        if !std::mem::replace(&mut self.reached[block], true) {
            let ops: Vec<Op> = self.m.block_ops(block).collect();
            ops.into_iter().rev().for_each(|op| self.push(op));
        }
    }

    /// Enters a region whose arguments are unknown.
    fn enter_unknown(&mut self, region: Region) {
        let Some(entry) = self.m.entry(region) else { return };
        for &arg in self.m.block_args(entry) {
            self.join(arg, Lattice::Varying);
        }
        self.reach(entry);
    }

    fn visit(&mut self, op: Op) {
        let m = self.m;
        let Some(info) = m.info(op) else { return self.give_up(op) };
        if info.traits.has(Traits::FUNCTION) {
            if !self.callers.contains_key(&op) {
                m.regions(op).iter().for_each(|&r| self.enter_unknown(r));
            }
        } else if info.traits.has(Traits::CALL) {
            self.call(op);
        } else if !m.successors(op).is_empty() {
            self.branch(op);
        } else if info.edges.is_some() {
            self.structured(op, Point::Op);
        } else if info.traits.has(Traits::TERMINATOR) {
            self.leave_region(op);
        } else if !m.regions(op).is_empty() {
            self.give_up(op);
        } else {
            self.compute(op);
        }
    }

    fn give_up(&mut self, op: Op) {
        let m = self.m;
        m.results(op).for_each(|r| self.join(r, Lattice::Varying));
        m.regions(op).iter().for_each(|&r| self.enter_unknown(r));
        for &block in m.successors(op) {
            m.block_args(block).iter().for_each(|&arg| self.join(arg, Lattice::Varying));
            self.reach(block);
        }
        if m.info(op).is_none() {
            self.leave_region(op);
        }
    }

    fn compute(&mut self, op: Op) {
        let m = self.m;
        if let Some(attr) = m.results(op).next().and_then(|r| m.constant(r)) {
            return self.join(m.result(op, 0), Lattice::Constant(attr));
        }
        if m.num_results(op) == 0 {
            return;
        }
        let Some(constants) = self.constants(m.operands(op)) else { return };
        match fold_given(m, op, &constants) {
            Some(Folded::Results(results)) => {
                for (result, folded) in m.results(op).zip(results) {
                    let lattice = match folded {
                        FoldResult::Attr(attr) => Lattice::Constant(attr),
                        FoldResult::Value(v) if m.results(op).any(|r| r == v) => Lattice::Varying,
                        FoldResult::Value(v) => {
                            self.follow_value(op, v);
                            self.values[v]
                        }
                    };
                    self.join(result, lattice);
                }
            }
            _ => m.results(op).for_each(|r| self.join(r, Lattice::Varying)),
        }
    }

    /// Revisits an op when a value that it equals changes.
    fn follow_value(&mut self, op: Op, value: Value) {
        if !self.m.operands(op).contains(&value) && self.followed.insert((value, op)) {
            self.equal_to.entry(value).or_default().push(op);
        }
    }

    /// Returns the constant operands; `None` while any operand is unreached.
    fn constants(&self, operands: &[Value]) -> Option<SmallVec<[Option<Attr>; 4]>> {
        let constant = |&v: &Value| match self.values[v] {
            Lattice::Unknown => None,
            Lattice::Constant(attr) => Some(Some(attr)),
            Lattice::Varying => Some(None),
        };
        operands.iter().map(constant).collect()
    }

    /// Returns the operands as values, if all are constant.
    fn datums(&self, operands: &[Value]) -> Option<Vec<Datum>> {
        let datum = |&v: &Value| match self.values[v] {
            Lattice::Constant(attr) => self.m.ctx.attr_datum(attr),
            _ => None,
        };
        operands.iter().map(datum).collect()
    }

    fn branch(&mut self, op: Op) {
        let m = self.m;
        if m.info(op).and_then(|i| i.successor_operands).is_none() {
            return self.give_up(op);
        }
        let ranges = carried_ranges(m, op);
        let operands = m.operands(op);
        let mut is_carried: SmallVec<[bool; 8]> = smallvec![false; operands.len()];
        for range in &ranges {
            is_carried.get_mut(range.clone()).into_iter().for_each(|part| part.fill(true));
        }
        let deciding = |i: usize| !is_carried[i];
        let known: Option<Vec<Datum>> = (0..operands.len())
            .map(|i| if deciding(i) { self.datums(&operands[i..=i])?.pop() } else { Some(Datum::Poison) })
            .collect();
        if (0..operands.len()).any(|i| deciding(i) && self.values[operands[i]] == Lattice::Unknown) {
            return;
        }
        let jump = m.info(op).and_then(|i| i.jump);
        let taken = jump.zip(known).and_then(|(jump, known)| m.with_args(op, |args| jump(args, &known).ok())?);
        for (i, range) in ranges.into_iter().enumerate() {
            if taken.is_some_and(|t| t != i) {
                continue;
            }
            let block = m.successors(op)[i];
            let first = range.start;
            for (j, &arg) in m.block_args(block).iter().enumerate() {
                let lattice = operands.get(first + j).map_or(Lattice::Varying, |&v| self.values[v]);
                self.join(arg, lattice);
            }
            self.reach(block);
        }
    }

    /// Returns the control-flow edges from `op`, or from the end of one of its regions. They are computed once per op:
    /// an op can have many regions.
    fn edges_from(&mut self, op: Op, from: Point) -> SmallVec<[Edge; 2]> {
        let m = self.m;
        let Some(edges) = m.info(op).and_then(|i| i.edges) else { return SmallVec::new() };
        // There is an entry for the op, empty or not, once its edges are known.
        if let Entry::Vacant(entry) = self.edges.entry((op, Point::Op)) {
            entry.insert(SmallVec::new());
            for edge in edges(m, op) {
                self.edges.entry((op, edge.from)).or_default().push(edge);
            }
        }
        self.edges.get(&(op, from)).cloned().unwrap_or_default()
    }

    /// Follows the control-flow edges from `op`, or from the end of one of its regions.
    fn structured(&mut self, op: Op, from: Point) {
        let m = self.m;
        let edges = self.edges_from(op, from);
        if edges.is_empty() {
            return;
        }
        let sources: SmallVec<[Lattice; 4]> = match from {
            Point::Op => m.operands(op).iter().map(|&v| self.values[v]).collect(),
            Point::Region(i) => self.yielded(m.regions(op)[i]),
        };
        // Regions of a terminator, such as reductions, are on no edge, so the successor is unknown.
        let only = self.next(op, from, &sources).filter(|to| edges.iter().any(|edge| edge.to == *to));
        for edge in edges {
            if only.is_none_or(|to| to == edge.to) {
                self.follow(op, edge, &sources);
            }
        }
    }

    /// Returns the next region, if constant operands decide it. Other operands are poison here, which decides nothing.
    fn next(&self, op: Op, from: Point, sources: &[Lattice]) -> Option<Point> {
        let m = self.m;
        let datum = |lattice: &Lattice| match *lattice {
            Lattice::Constant(attr) => m.ctx.attr_datum(attr).unwrap_or(Datum::Poison),
            _ => Datum::Poison,
        };
        let known: Vec<Datum> = sources.iter().map(datum).collect();
        let operands: Vec<Datum> = m.operands(op).iter().map(|&v| datum(&self.values[v])).collect();
        if let Some(counted) = m.info(op)?.counted {
            return next_of_loop(m, op, counted, from, operands);
        }
        let control = m.info(op)?.control?;
        let next = |event| m.with_args(op, |args| control(args, &operands, event).ok())?;
        let next = match from {
            Point::Op => next(Event::Enter),
            Point::Region(region) => {
                if known.is_empty() {
                    return None;
                }
                // A loop may carry more values than its region has arguments: initial values and results so far.
                let args = m.entry(m.regions(op)[region]).map_or(0, |entry| m.block_args(entry).len());
                let args = vec![Datum::Poison; args + operands.len() + m.num_results(op)];
                next(Event::Left { region, args: &args, yielded: &known })
            }
        };
        match next? {
            Next::Region(i, _) => Some(Point::Region(i)),
            Next::Done(_) | Next::Idle(..) => Some(Point::Op),
        }
    }

    /// Returns the operands of the reached terminators of a region, joined.
    fn yielded(&self, region: Region) -> SmallVec<[Lattice; 4]> {
        let m = self.m;
        let last = |b: Block| m.last_op(b).filter(|&op| self.reached[b] && m.successors(op).is_empty());
        let mut out: SmallVec<[Lattice; 4]> = SmallVec::new();
        for op in m.region_blocks(region).filter_map(last) {
            for (i, &v) in m.operands(op).iter().enumerate() {
                match out.get_mut(i) {
                    None => out.push(self.values[v]),
                    Some(slot) if *slot != self.values[v] => *slot = Lattice::Varying,
                    _ => {}
                }
            }
        }
        out
    }

    fn follow(&mut self, op: Op, edge: Edge, sources: &[Lattice]) {
        let m = self.m;
        let targets: Vec<Value> = match edge.to {
            Point::Op => m.results(op).collect(),
            Point::Region(i) => {
                let Some(entry) = m.entry(m.regions(op)[i]) else { return };
                self.reach(entry);
                m.block_args(entry).to_vec()
            }
        };
        for (i, &target) in targets.iter().enumerate() {
            let source = i.checked_sub(edge.target).map(|k| k + edge.first);
            let lattice = source.map_or(Lattice::Varying, |s| sources.get(s).copied().unwrap_or(Lattice::Varying));
            self.join(target, lattice);
        }
    }

    /// Forwards a terminator's operands to the enclosing op, or to the calls of the enclosing function.
    fn leave_region(&mut self, op: Op) {
        let m = self.m;
        let Some(parent) = m.parent_op(op) else { return };
        if m.has_trait(parent, Traits::FUNCTION) {
            for call in self.callers.get(&parent).cloned().unwrap_or_default() {
                for (result, &operand) in m.results(call).zip(m.operands(op)) {
                    self.join(result, self.values[operand]);
                }
            }
            return;
        }
        let Some(region) = m.parent_block(op).and_then(|b| m.parent_region(b)) else { return };
        if !self.region_index.contains_key(&region) {
            self.region_index.extend(m.regions(parent).iter().enumerate().map(|(i, &r)| (r, i)));
        }
        self.structured(parent, Point::Region(self.region_index[&region]));
    }

    fn call(&mut self, op: Op) {
        let m = self.m;
        let callee = m.inherent_attr(op, "callee").and_then(|a| self.tables.resolve(m, op, a));
        let Some(callee) = callee.filter(|f| self.callers.contains_key(f)) else { return self.give_up(op) };
        let Some(entry) = m.regions(callee).first().and_then(|&r| m.entry(r)) else { return self.give_up(op) };
        for (&arg, &operand) in m.block_args(entry).iter().zip(m.operands(op)) {
            self.join(arg, self.values[operand]);
        }
        // Its returns are joined into all calls, visited or not.
        self.reach(entry);
    }
}

/// Returns private functions with a body that are referenced only by calls, with these calls.
fn known_callers(m: &Module, root: Op, tables: &mut SymbolTables) -> FxHashMap<Op, Vec<Op>> {
    let mut callers: FxHashMap<Op, Vec<Op>> = FxHashMap::default();
    let ops = m.ops_under(root);
    for &op in &ops[1..] {
        let has_body = m.regions(op).first().is_some_and(|&r| m.entry(r).is_some());
        if m.has_trait(op, Traits::FUNCTION) && is_private(m, op) && has_body {
            callers.insert(op, Vec::new());
        }
    }
    let mut refs = SymbolRefs::default();
    for &op in &ops {
        for symbol in refs.of_op(m, op) {
            let Some(target) = tables.resolve(m, op, symbol) else { continue };
            if m.has_trait(op, Traits::CALL) && m.inherent_attr(op, "callee") == Some(symbol) {
                if let Some(calls) = callers.get_mut(&target) {
                    calls.push(op);
                }
            } else {
                callers.remove(&target);
            }
        }
    }
    callers
}

/// Returns the next region of a counted loop. As in MLIR, a loop is known to end after its first iteration only if no
/// operand is needed to decide it.
fn next_of_loop(m: &Module, op: Op, counted: CountedFn, from: Point, mut operands: Vec<Datum>) -> Option<Point> {
    if from != Point::Op {
        operands.fill(Datum::Poison);
    }
    let range = m.with_args(op, |args| counted(args, &operands).ok())??;
    match from {
        Point::Op if range.first < range.end => Some(Point::Region(0)),
        Point::Op => Some(Point::Op),
        Point::Region(_) => (range.first + range.step >= range.end).then_some(Point::Op),
    }
}
