//! Names of values and blocks in printed text.
//!
//! The numbers are mlir-opt's. A region is numbered as a whole before the regions in it. In the generic form every name
//! of the text is unique, and of several nested regions the last is numbered first; in the custom form each nested region
//! counts on from its parent, so sibling functions all start at `%0`.

use super::options::PrintOptions;
use crate::attrs::AttrData;
use crate::entity::{Entity, SideTable};
use crate::intern::Attr;
use crate::module::{Block, Def, Module, Op, Region, Value};
use crate::traits::Traits;
use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::fmt::Write as _;
use std::hash::BuildHasher;

/// Values are numbered twice: arguments of entry blocks as `%arg0`, the others as `%0`.
const ARG: u32 = 1 << 31;
/// A value with a name of its own, which is in `named`.
const NAMED: u32 = 1 << 30;
/// A result that shares the name of an earlier one, this many results before it.
const MEMBER: u32 = ARG | NAMED;

/// The names of everything under one op.
pub(crate) struct Numbering {
    values: SideTable<Value, u32>,
    named: NameList,
    blocks: SideTable<Block, u32>,
    /// Numbers of predecessors, of blocks in regions of several.
    preds: FxHashMap<Block, Vec<u32>>,
    /// Numbers of ops without results, for comments about who uses what.
    ops: SideTable<Op, u32>,
    options: PrintOptions,
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
    /// No names.
    pub(crate) fn empty(options: PrintOptions) -> Numbering {
        Numbering {
            values: SideTable::new(u32::MAX),
            named: NameList::default(),
            blocks: SideTable::new(0),
            preds: FxHashMap::default(),
            ops: SideTable::new(0),
            options,
        }
    }

    /// Whether the names in each op of a block depend on nothing outside of the op, and the ops have none.
    pub(crate) fn is_separate(m: &Module, block: Block, options: PrintOptions) -> bool {
        let whole = options.generic || options.unique_ids || options.value_users;
        !whole && m.block_args(block).is_empty() && m.block_ops(block).all(|op| m.num_results(op) == 0)
    }

    /// Names everything in ops of a block of which [`Numbering::is_separate`] holds.
    pub(crate) fn of_ops(m: &Module, ops: &[Op], options: PrintOptions) -> Numbering {
        let mut n = Numbering::empty(options);
        let regions = ops.iter().flat_map(|&op| m.regions(op));
        n.regions(m, regions.map(|&r| (r, Counters::default(), 0)).collect(), Counters::default(), Taken::default());
        n
    }

    /// Names everything under `op`, and what is around it if it can see that.
    pub(crate) fn new(m: &Module, op: Op, options: PrintOptions) -> Numbering {
        let mut n = Numbering::empty(options);
        let root = scope_of(m, op);
        let mut counters = Counters::default();
        let mut taken = Taken::default();
        if options.generic || m.num_results(root) > 0 {
            n.op(m, root, &mut counters, &mut taken);
        }
        n.regions(m, m.regions(root).iter().map(|&r| (r, counters, 0)).collect(), counters, taken);
        n
    }

    /// Names what is in regions, the last first, each with the counters and the scope that it begins with.
    fn regions(
        &mut self,
        m: &Module,
        mut stack: Vec<(Region, Counters, usize)>,
        mut counters: Counters,
        mut taken: Taken,
    ) {
        while let Some((region, start, scope)) = stack.pop() {
            if !self.options.generic && !self.options.unique_ids {
                counters = start;
            }
            taken.close_to(scope, &self.named);
            self.region(m, region, &mut counters, &mut taken);
            let scope = taken.open();
            for block in m.region_blocks(region) {
                for op in m.block_ops(block) {
                    stack.extend(m.regions(op).iter().map(|&r| (r, counters, scope)));
                }
            }
        }
    }

    fn region(&mut self, m: &Module, region: Region, counters: &mut Counters, taken: &mut Taken) {
        let many = !m.has_one_block(region);
        for (number, block) in m.region_blocks(region).enumerate() {
            if many {
                self.blocks[block] = number as u32;
            }
            for (i, &arg) in m.block_args(block).iter().enumerate() {
                self.arg(m, (block, number == 0, i), arg, counters, taken);
            }
            for op in m.block_ops(block) {
                self.op(m, op, counters, taken);
            }
        }
        for block in m.region_blocks(region) {
            let from = self.blocks[block];
            for &to in m.last_op(block).map_or(&[][..], |op| m.successors(op)) {
                self.preds.entry(to).or_default().push(from);
            }
        }
    }

    fn arg(
        &mut self,
        m: &Module,
        (block, entry, i): (Block, bool, usize),
        arg: Value,
        counters: &mut Counters,
        taken: &mut Taken,
    ) {
        if self.options.name_locs
            && let Some(name) = name_in_loc(m, m.arg_loc(block, i).to_attr(&m.ctx))
        {
            return self.set_name(arg, &name, counters, taken);
        }
        self.values[arg] = if entry {
            counters.arg += 1;
            ARG | (counters.arg - 1)
        } else {
            counters.value += 1;
            counters.value - 1
        };
    }

    fn op(&mut self, m: &Module, op: Op, counters: &mut Counters, taken: &mut Taken) {
        let Some(first) = m.results(op).next() else {
            if self.options.value_users {
                self.ops[op] = counters.value;
                counters.value += 1;
            }
            return;
        };
        if self.options.name_locs
            && let Some(name) = name_in_loc(m, m.loc(op).to_attr(&m.ctx))
        {
            self.set_name(first, &name, counters, taken);
        } else if let Some(names) = m.info(op).and_then(|info| info.result_names).filter(|_| !self.options.generic) {
            for (i, name) in names(m, op) {
                self.set_name(m.result(op, i), &name, counters, taken);
            }
        }
        if self.values[first] == u32::MAX {
            self.values[first] = counters.value;
            counters.value += 1;
        }
        let mut distance = 0;
        for result in m.results(op).skip(1) {
            let number = &mut self.values[result];
            distance = if *number == u32::MAX { distance + 1 } else { 0 };
            if distance > 0 {
                *number = MEMBER | distance;
            }
        }
    }

    /// How many results before `value` the one is whose name it shares; 0 if it has a name of its own.
    fn distance(&self, value: Value) -> u32 {
        let number = self.values[value];
        if number != u32::MAX && number & MEMBER == MEMBER { number & !MEMBER } else { 0 }
    }

    fn set_name(&mut self, value: Value, name: &str, counters: &mut Counters, taken: &mut Taken) {
        self.values[value] = NAMED | taken.unique(&mut self.named, name, &mut counters.conflict);
    }

    /// The number of an op without results, when there are comments about uses.
    pub(crate) fn op_number(&self, op: Op) -> u32 {
        self.ops[op]
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
        1 + (1..most).take_while(|&i| self.distance(Value::new(first.index() + i)) > 0).count()
    }

    /// `%0`, `%arg0` or `%0#1`
    #[inline]
    pub(crate) fn value(&self, m: &Module, value: Value, out: &mut String) {
        match result_number(m, value) {
            None => self.name(value, out),
            Some(i) => {
                let k = self.distance(value);
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
                out.push_str(self.named.get(n & !NAMED));
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

/// The nearest op around that sees nothing of what is around it: where the names in `op`'s text begin.
fn scope_of(m: &Module, op: Op) -> Op {
    let mut at = op;
    while !m.has_trait(at, Traits::ISOLATED) {
        let Some(parent) = m.parent_op(at) else { break };
        at = parent;
    }
    at
}

/// The first name in a location, as an identifier.
fn name_in_loc(m: &Module, loc: Attr) -> Option<String> {
    let mut stack = vec![loc];
    while let Some(loc) = stack.pop() {
        match m.ctx.attr_data(loc) {
            AttrData::LocName { name, .. } => return identifier(m.ctx.text(*name)),
            AttrData::LocCallSite { callee, caller } => stack.extend([*caller, *callee]),
            AttrData::LocFused { locs, .. } => stack.extend(locs.iter().rev()),
            _ => {}
        }
    }
    None
}

/// A text with what names cannot hold replaced: blanks by `_`, other bytes by their hexadecimal digits.
fn identifier(text: &str) -> Option<String> {
    let mut name = String::new();
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        name.push('_');
    }
    for byte in text.bytes() {
        match byte {
            b' ' => name.push('_'),
            _ if byte.is_ascii_alphanumeric() || b"$._-".contains(&byte) => name.push(char::from(byte)),
            _ => name += &format!("{byte:02X}"),
        }
    }
    (!name.is_empty()).then_some(name)
}

/// Names one after the other, by number.
#[derive(Default)]
struct NameList {
    text: String,
    ends: Vec<usize>,
}

impl NameList {
    fn push(&mut self, name: &str) -> u32 {
        self.text.push_str(name);
        self.ends.push(self.text.len());
        (self.ends.len() - 1) as u32
    }

    fn get(&self, i: u32) -> &str {
        let i = i as usize;
        &self.text[i.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[i]]
    }
}

/// Which names are given to values of enclosing and finished sibling scopes, so that no two that are visible together are
/// equal. Names are their numbers in a list.
#[derive(Default)]
struct Taken {
    names: HashTable<u32>,
    log: Vec<u32>,
}

impl Taken {
    /// A mark to come back to.
    fn open(&self) -> usize {
        self.log.len()
    }

    /// Forgets the names taken since `mark`.
    fn close_to(&mut self, mark: usize, list: &NameList) {
        for name in self.log.drain(mark..) {
            if let Ok(entry) = self.names.find_entry(hash(list.get(name)), |&other| other == name) {
                entry.remove();
            }
        }
    }

    /// Adds `name`, or `name_0`, `name_1`, ... as long as the name is taken, to the list.
    fn unique(&mut self, list: &mut NameList, name: &str, counter: &mut u32) -> u32 {
        let mut other = String::new();
        let mut candidate = name;
        while self.names.find(hash(candidate), |&taken| list.get(taken) == candidate).is_some() {
            other.clear();
            let _ = write!(other, "{name}_{counter}");
            candidate = &other;
            *counter += 1;
        }
        let hash_of = hash(candidate);
        let number = list.push(candidate);
        self.names.insert_unique(hash_of, number, |&other| hash(list.get(other)));
        self.log.push(number);
        number
    }
}

fn hash(name: &str) -> u64 {
    FxBuildHasher.hash_one(name)
}

/// Appends a decimal number.
#[inline]
pub(crate) fn push_number(mut n: u32, out: &mut String) {
    let mut digits = [0u8; 10];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (n % 10) as u8;
        n /= 10;
        if n == 0 {
            break;
        }
    }
    out.push_str(std::str::from_utf8(&digits[at..]).expect("digits are ASCII"));
}

/// The value's number among its op's results, when the op has several.
pub(crate) fn result_number(m: &Module, value: Value) -> Option<u32> {
    match m.def(value) {
        Def::Result(op, i) if m.num_results(op) > 1 => Some(i),
        _ => None,
    }
}
