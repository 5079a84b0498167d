//! Names of values and blocks in printed text.
//!
//! The numbers are mlir-opt's. A region is numbered as a whole before the regions in it. In the generic form every name
//! of the text is unique, and of several nested regions the last is numbered first; in the custom form each nested region
//! counts on from its parent, so sibling functions all start at `%0`.

use super::print::{push_number, result_number};
use crate::entity::{Entity, SideTable};
use crate::module::{Block, Module, Op, Region, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// Values are numbered twice: arguments of entry blocks as `%arg0`, the others as `%0`.
const ARG: u32 = 1 << 31;
/// A value with a name of its own, which is in `named`.
const NAMED: u32 = 1 << 30;

/// The names of everything under one op.
pub(crate) struct Numbering {
    values: SideTable<Value, u32>,
    named: Vec<String>,
    blocks: SideTable<Block, u32>,
    /// Numbers of predecessors, of blocks in regions of several.
    preds: FxHashMap<Block, Vec<u32>>,
}

/// How far the counters are.
#[derive(Clone, Copy, Default)]
struct Counters {
    value: u32,
    arg: u32,
    /// What names that were taken got at their end.
    conflict: u32,
}

impl Numbering {
    /// Names everything under `op`.
    pub(crate) fn new(m: &Module, op: Op, generic: bool) -> Numbering {
        let mut n = Numbering {
            values: SideTable::with_capacity(u32::MAX, m.value_capacity()),
            named: Vec::new(),
            blocks: SideTable::new(0),
            preds: FxHashMap::default(),
        };
        let mut counters = Counters::default();
        let mut taken = Taken::default();
        n.op(m, op, generic, &mut counters, &mut taken);
        let mut stack: Vec<(Region, Counters, usize)> = m.regions(op).iter().map(|&r| (r, counters, 0)).collect();
        while let Some((region, start, scope)) = stack.pop() {
            if !generic {
                counters = start;
            }
            taken.close_to(scope);
            n.region(m, region, generic, &mut counters, &mut taken);
            let scope = taken.open();
            for block in m.region_blocks(region) {
                for op in m.block_ops(block) {
                    stack.extend(m.regions(op).iter().map(|&r| (r, counters, scope)));
                }
            }
        }
        n
    }

    fn region(&mut self, m: &Module, region: Region, generic: bool, counters: &mut Counters, taken: &mut Taken) {
        let many = !m.has_one_block(region);
        for (i, block) in m.region_blocks(region).enumerate() {
            if many {
                self.blocks[block] = i as u32;
            }
            for &arg in m.block_args(block) {
                self.values[arg] = if i == 0 {
                    counters.arg += 1;
                    ARG | (counters.arg - 1)
                } else {
                    counters.value += 1;
                    counters.value - 1
                };
            }
            for op in m.block_ops(block) {
                self.op(m, op, generic, counters, taken);
            }
        }
        for block in m.region_blocks(region) {
            let from = self.blocks[block];
            for &to in m.last_op(block).map_or(&[][..], |op| m.successors(op)) {
                self.preds.entry(to).or_default().push(from);
            }
        }
    }

    fn op(&mut self, m: &Module, op: Op, generic: bool, counters: &mut Counters, taken: &mut Taken) {
        let Some(first) = m.results(op).next() else { return };
        let named = if generic { None } else { m.info(op).and_then(|info| info.result_names) };
        for (i, name) in named.map_or_else(Vec::new, |names| names(m, op)) {
            self.values[m.result(op, i)] = NAMED | self.named.len() as u32;
            self.named.push(taken.unique(&name, &mut counters.conflict));
        }
        if self.values[first] == u32::MAX {
            self.values[first] = counters.value;
            counters.value += 1;
        }
    }

    /// `%0`, `%0:2` or `%quotient, %remainder`: the names that stand for all results of an op.
    pub(crate) fn groups(&self, m: &Module, op: Op, out: &mut String) {
        let n = m.num_results(op);
        let mut at = 0;
        while at < n {
            out.push_str(if at > 0 { ", " } else { "" });
            let first = m.result(op, at);
            self.name(first, out);
            let len = self.group_len(first, n - at);
            if len > 1 {
                out.push(':');
                push_number(len as u32, out);
            }
            at += len;
        }
    }

    /// How many results share the name of `first`, of at most `most`.
    fn group_len(&self, first: Value, most: usize) -> usize {
        1 + (1..most).take_while(|&i| self.values[Value::new(first.index() + i)] == u32::MAX).count()
    }

    /// `%0`, `%arg0` or `%0#1`
    #[inline]
    pub(crate) fn value(&self, m: &Module, value: Value, out: &mut String) {
        match result_number(m, value) {
            None => self.name(value, out),
            Some(i) => {
                let named = (0..=i).find(|&k| self.values[Value::new(value.index() - k as usize)] != u32::MAX);
                let k = named.unwrap_or(i);
                let first = Value::new(value.index() - k as usize);
                self.name(first, out);
                let rest = m.defining_op(value).map_or(1, |op| m.num_results(op)) - (i - k) as usize;
                if k > 0 || self.group_len(first, rest.min(2)) > 1 {
                    out.push('#');
                    push_number(k, out);
                }
            }
        }
    }

    #[inline]
    fn name(&self, value: Value, out: &mut String) {
        match self.values[value] {
            u32::MAX => out.push_str("<<UNKNOWN SSA VALUE>>"),
            n if n & ARG != 0 => {
                out.push_str("%arg");
                push_number(n & !ARG, out);
            }
            n if n & NAMED != 0 => {
                out.push('%');
                out.push_str(&self.named[(n & !NAMED) as usize]);
            }
            n => {
                out.push('%');
                push_number(n, out);
            }
        }
    }

    /// The number of a block in its region.
    pub(crate) fn block(&self, block: Block) -> u32 {
        self.blocks[block]
    }

    /// The numbers of a block's predecessors, in order; a block that branches here twice counts twice.
    pub(crate) fn predecessors(&self, block: Block) -> &[u32] {
        self.preds.get(&block).map_or(&[], Vec::as_slice)
    }
}

/// Names given to values of enclosing and finished sibling scopes, so that no two that are visible together are equal.
#[derive(Default)]
struct Taken {
    names: FxHashSet<String>,
    log: Vec<String>,
}

impl Taken {
    /// A mark to come back to.
    fn open(&self) -> usize {
        self.log.len()
    }

    /// Forgets the names taken since `mark`.
    fn close_to(&mut self, mark: usize) {
        for name in self.log.drain(mark..) {
            self.names.remove(&name);
        }
    }

    /// `name`, or `name_0`, `name_1`, ... as long as the name is taken.
    fn unique(&mut self, name: &str, counter: &mut u32) -> String {
        let mut candidate = name.to_owned();
        while self.names.contains(&candidate) {
            candidate = format!("{name}_{counter}");
            *counter += 1;
        }
        self.names.insert(candidate.clone());
        self.log.push(candidate.clone());
        candidate
    }
}
