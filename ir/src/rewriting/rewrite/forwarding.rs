//! Patterns for ops with regions, based on declared control-flow edges only: forwarding of invariant results and
//! arguments, merging of equal ones, and elimination of unused ones.

use super::{Pattern, Rewriter};
use crate::control::{Edge, Point};
use crate::module::{Block, Module, Op, Region, Value, ValueList};
use crate::rewriting::pattern_rewriter::PatternRewriter;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// Replaces a result or argument that can only be one value by that value.
pub const FORWARD: Pattern = Pattern { name: "forward-region-values", run: forward };
/// Merges results, or arguments of one region, that always receive the same values.
pub const MERGE: Pattern = Pattern { name: "merge-region-values", run: merge };
/// Drops unused results and arguments, and the operands forwarded to them.
pub const DROP: Pattern = Pattern { name: "drop-region-values", run: drop_unused };
/// All forwarding patterns.
pub const ALL: &[Pattern] = &[FORWARD, MERGE, DROP];

/// An operand: the op and the index.
type OpOperand = (Op, usize);

/// A result of the op or an argument of one of its regions, and the operands forwarded to it.
struct Input {
    value: Value,
    target: Point,
    sources: SmallVec<[OpOperand; 4]>,
}

/// Returns all results and arguments that receive forwarded operands, each once.
fn inputs(m: &Module, op: Op) -> Vec<Input> {
    let Some(edges) = m.info(op).and_then(|info| info.edges) else { return Vec::new() };
    let mut list: Vec<Input> = Vec::new();
    let mut index: FxHashMap<Value, usize> = FxHashMap::default();
    for edge in edges(m, op) {
        for from in edge.sources(m, op) {
            add_edge(m, op, edge, from, &mut list, &mut index);
        }
    }
    list
}

fn add_edge(m: &Module, op: Op, edge: Edge, from: Op, list: &mut Vec<Input>, index: &mut FxHashMap<Value, usize>) {
    let carried = edge.carried(m, from).len();
    for (i, value) in edge.receivers(m, op).into_iter().enumerate().take(carried) {
        let at = *index.entry(value).or_insert_with(|| {
            list.push(Input { value, target: edge.to, sources: SmallVec::new() });
            list.len() - 1
        });
        list[at].sources.push((from, edge.first + i));
    }
}

fn operand(m: &Module, (op, i): OpOperand) -> Value {
    m.operands(op)[i]
}

/// Whether the value is defined outside the regions of `op`.
fn is_outside(m: &Module, value: Value, op: Op) -> bool {
    m.def_block(value).and_then(|b| m.block_op(b)).is_some_and(|around| around != op && !m.is_inside(around, op))
}

/// The lattice value of an input: unknown, one value, or several.
#[derive(Clone, Copy, PartialEq)]
enum Lattice {
    Unknown,
    One(Value),
    Several,
}

fn forward(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let m = rw.module();
    let list = inputs(m, op);
    let index: FxHashMap<Value, usize> = list.iter().enumerate().map(|(i, input)| (input.value, i)).collect();
    // The inputs to which each input is forwarded.
    let mut users: Vec<SmallVec<[usize; 4]>> = vec![SmallVec::new(); list.len()];
    let mut known = vec![Lattice::Unknown; list.len()];
    for (i, input) in list.iter().enumerate() {
        for &source in &input.sources {
            let value = operand(m, source);
            match index.get(&value) {
                Some(&from) => users[from].push(i),
                None => known[i] = join(known[i], Lattice::One(value)),
            }
        }
    }
    // Each lattice value changes at most twice, so this terminates.
    let mut todo: Vec<usize> = (0..list.len()).filter(|&i| known[i] != Lattice::Unknown).collect();
    while let Some(from) = todo.pop() {
        for &to in &users[from] {
            let new = join(known[to], known[from]);
            if new != known[to] {
                known[to] = new;
                todo.push(to);
            }
        }
    }
    let always = list.iter().zip(known).filter_map(|(input, known)| match known {
        Lattice::One(value) if !m.is_unused(input.value) && is_outside(m, value, op) => Some((input.value, value)),
        _ => None,
    });
    let always: Vec<(Value, Value)> = always.collect();
    for &(input, value) in &always {
        rw.replace_value(input, &[value]);
    }
    !always.is_empty()
}

fn join(a: Lattice, b: Lattice) -> Lattice {
    match (a, b) {
        (Lattice::Unknown, x) | (x, Lattice::Unknown) => x,
        (a, b) if a == b => a,
        _ => Lattice::Several,
    }
}

fn merge(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let m = rw.module();
    let mut first: FxHashMap<(usize, ValueList), Value> = FxHashMap::default();
    let mut same = Vec::new();
    for input in inputs(m, op) {
        let at = match input.target {
            Point::Op => 0,
            Point::Region(i) => i + 1,
        };
        let sources = input.sources.iter().map(|&s| operand(m, s)).collect();
        let kept = *first.entry((at, sources)).or_insert(input.value);
        if kept != input.value && !m.is_unused(input.value) {
            same.push((input.value, kept));
        }
    }
    for &(input, kept) in &same {
        rw.replace_value(input, &[kept]);
    }
    !same.is_empty()
}

fn drop_unused(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let m = rw.module();
    let list = inputs(m, op);
    let classes = Classes::new(&list);
    let live = live_classes(m, &list, &classes);
    let dead: Vec<&Input> = list.iter().enumerate().filter(|&(i, _)| !live[classes.of(i)]).map(|(_, x)| x).collect();
    if dead.is_empty() {
        return false;
    }
    let values: FxHashSet<Value> = dead.iter().map(|input| input.value).collect();
    let places: FxHashSet<OpOperand> = dead.iter().flat_map(|input| input.sources.iter().copied()).collect();
    drop_all(rw, op, &values, &places);
    true
}

/// Union-find of inputs that share an operand and must be dropped together.
struct Classes {
    parents: Vec<usize>,
}

impl Classes {
    fn new(list: &[Input]) -> Classes {
        let mut classes = Classes { parents: (0..list.len()).collect() };
        let mut owner: FxHashMap<OpOperand, usize> = FxHashMap::default();
        for (i, input) in list.iter().enumerate() {
            for &source in &input.sources {
                let other = *owner.entry(source).or_insert(i);
                let (a, b) = (classes.of(i), classes.of(other));
                classes.parents[a.max(b)] = a.min(b);
            }
        }
        for i in 0..list.len() {
            classes.parents[i] = classes.of(i);
        }
        classes
    }

    /// Returns the representative of the class: its smallest input.
    fn of(&self, mut i: usize) -> usize {
        while self.parents[i] != i {
            i = self.parents[i];
        }
        i
    }
}

/// Computes liveness of each class. A use that only feeds another class counts if that class is live.
fn live_classes(m: &Module, list: &[Input], classes: &Classes) -> Vec<bool> {
    let feeds: FxHashMap<OpOperand, usize> =
        list.iter().enumerate().flat_map(|(i, input)| input.sources.iter().map(move |&s| (s, i))).collect();
    // The classes that each class feeds.
    let mut needed_by: Vec<SmallVec<[usize; 2]>> = vec![SmallVec::new(); list.len()];
    let mut live = vec![false; list.len()];
    let mut todo = Vec::new();
    for (i, input) in list.iter().enumerate() {
        for place in m.uses(input.value) {
            match feeds.get(&place) {
                Some(&fed) => needed_by[classes.of(fed)].push(classes.of(i)),
                None => todo.push(classes.of(i)),
            }
        }
    }
    while let Some(class) = todo.pop() {
        if !std::mem::replace(&mut live[class], true) {
            todo.extend(&needed_by[class]);
        }
    }
    live
}

/// Drops the inputs `values` of `op` and the operands at `places`, their only uses.
fn drop_all(rw: &mut Rewriter<'_>, op: Op, values: &FxHashSet<Value>, places: &FxHashSet<OpOperand>) {
    let m = rw.module();
    let regions: SmallVec<[Region; 2]> = m.regions(op).into();
    let blocks: Vec<Block> = regions.iter().flat_map(|&r| m.region_blocks(r)).collect();
    let ends = blocks.iter().filter_map(|&b| m.last_op(b)).filter(|&t| m.successors(t).is_empty());
    let ends: Vec<Op> = ends.filter(|&t| (0..m.operands(t).len()).any(|i| places.contains(&(t, i)))).collect();
    for end in ends {
        rw.shrink(end, |i| !places.contains(&(end, i)), |_| true);
    }
    for block in regions.iter().filter_map(|&r| rw.module().entry(r)).collect::<Vec<_>>() {
        let args: ValueList = rw.module().block_args(block).into();
        rw.shrink_block_args(block, |i| !values.contains(&args[i]));
    }
    let results: ValueList = rw.module().results(op).collect();
    rw.shrink(op, |i| !places.contains(&(op, i)), |i| !values.contains(&results[i]));
}
