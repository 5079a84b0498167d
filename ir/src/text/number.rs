//! Numbering of values and blocks for printing, equal to mlir-opt's.
//!
//! The values of a region are numbered before those of its nested regions. In generic form, numbers are unique in the
//! whole text, and the last of several nested regions is numbered first. In custom form, each nested region continues
//! from its parent, so sibling functions all start at `%0`.

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

/// Flag of an entry block argument, numbered separately (`%arg0`) from other values (`%0`).
const ARG: u32 = 1 << 31;
/// Flag of a named value; the rest is its index in `named`.
const NAMED: u32 = 1 << 30;
/// Flags of a result that shares the name of an earlier result; the rest is the distance to it.
const MEMBER: u32 = ARG | NAMED;

/// The names of all values and blocks under one op.
pub(crate) struct Numbering {
    values: SideTable<Value, u32>,
    named: NameList,
    blocks: SideTable<Block, u32>,
    /// Numbers of the predecessors of each block, for regions of several blocks.
    preds: FxHashMap<Block, Vec<u32>>,
    /// Numbers of ops without results, for comments about users.
    ops: SideTable<Op, u32>,
    options: PrintOptions,
}

/// The next numbers.
#[derive(Clone, Copy, Default)]
struct Counters {
    value: u32,
    arg: u32,
    /// Next suffix that makes a conflicting name unique.
    conflict: u32,
}

impl Numbering {
    /// Creates an empty numbering.
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

    /// Whether each op of a block can be numbered alone: the ops have no results, and their names do not depend on each
    /// other.
    pub(crate) fn is_separate(m: &Module, block: Block, options: PrintOptions) -> bool {
        let whole = options.generic || options.unique_ids || options.value_users;
        !whole && m.block_args(block).is_empty() && m.block_ops(block).all(|op| m.num_results(op) == 0)
    }

    /// Numbers the contents of ops in a block for which [`Numbering::is_separate`] holds.
    pub(crate) fn of_ops(m: &Module, ops: &[Op], options: PrintOptions) -> Numbering {
        let mut n = Numbering::empty(options);
        let regions = ops.iter().flat_map(|&op| m.regions(op));
        n.regions(
            m,
            regions.map(|&r| (r, Counters::default(), 0)).collect(),
            Counters::default(),
            UsedNames::default(),
        );
        n
    }

    /// Numbers the values under `op`, and the enclosing values that are visible to it.
    pub(crate) fn new(m: &Module, op: Op, options: PrintOptions) -> Numbering {
        let mut n = Numbering::empty(options);
        let root = scope_of(m, op);
        let mut counters = Counters::default();
        let mut used_names = UsedNames::default();
        if options.generic || m.num_results(root) > 0 {
            n.op(m, root, &mut counters, &mut used_names);
        }
        n.regions(m, m.regions(root).iter().map(|&r| (r, counters, 0)).collect(), counters, used_names);
        n
    }

    /// Numbers the contents of regions, the last first, each with its initial counters and scope.
    fn regions(
        &mut self,
        m: &Module,
        mut stack: Vec<(Region, Counters, usize)>,
        mut counters: Counters,
        mut used_names: UsedNames,
    ) {
        while let Some((region, start, scope)) = stack.pop() {
            if !self.options.generic && !self.options.unique_ids {
                counters = start;
            }
            used_names.close_to(scope, &self.named);
            self.region(m, region, &mut counters, &mut used_names);
            let scope = used_names.open();
            for block in m.region_blocks(region) {
                for op in m.block_ops(block) {
                    stack.extend(m.regions(op).iter().map(|&r| (r, counters, scope)));
                }
            }
        }
    }

    fn region(&mut self, m: &Module, region: Region, counters: &mut Counters, used_names: &mut UsedNames) {
        let many = !m.has_one_block(region);
        for (number, block) in m.region_blocks(region).enumerate() {
            if many {
                self.blocks[block] = number as u32;
            }
            for (i, &arg) in m.block_args(block).iter().enumerate() {
                self.arg(m, (block, number == 0, i), arg, counters, used_names);
            }
            for op in m.block_ops(block) {
                self.op(m, op, counters, used_names);
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
        used_names: &mut UsedNames,
    ) {
        if self.options.name_locs
            && let Some(name) = name_in_loc(m, m.arg_loc(block, i).to_attr(&m.ctx))
        {
            return self.set_name(arg, &name, counters, used_names);
        }
        self.values[arg] = if entry {
            counters.arg += 1;
            ARG | (counters.arg - 1)
        } else {
            counters.value += 1;
            counters.value - 1
        };
    }

    fn op(&mut self, m: &Module, op: Op, counters: &mut Counters, used_names: &mut UsedNames) {
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
            self.set_name(first, &name, counters, used_names);
        } else if let Some(names) = m.info(op).and_then(|info| info.result_names).filter(|_| !self.options.generic) {
            for (i, name) in names(m, op) {
                self.set_name(m.result(op, i), &name, counters, used_names);
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

    /// Returns the distance from `value` to the earlier result whose name it shares; 0 if it has a name of its own.
    fn distance(&self, value: Value) -> u32 {
        let number = self.values[value];
        if number != u32::MAX && number & MEMBER == MEMBER { number & !MEMBER } else { 0 }
    }

    fn set_name(&mut self, value: Value, name: &str, counters: &mut Counters, used_names: &mut UsedNames) {
        self.values[value] = NAMED | used_names.unique(&mut self.named, name, &mut counters.conflict);
    }

    /// Returns the number of an op without results, if users are printed.
    pub(crate) fn op_number(&self, op: Op) -> u32 {
        self.ops[op]
    }

    /// Prints the names of all results of an op: `%0`, `%0:2` or `%quotient, %remainder`.
    pub(crate) fn groups(&self, m: &Module, op: Op, out: &mut String) {
        let n = m.num_results(op);
        let mut at = 0;
        if n == 1 {
            return self.name(m.result(op, 0), out);
        }
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

    /// Returns the number of results that share the name of `first`, at most `most`.
    fn group_len(&self, first: Value, most: usize) -> usize {
        1 + (1..most).take_while(|&i| self.distance(Value::new(first.index() + i)) > 0).count()
    }

    /// Prints the name of a value: `%0`, `%arg0` or `%0#1`.
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

    /// Returns the number of a block in its region.
    pub(crate) fn block(&self, block: Block) -> u32 {
        self.blocks[block]
    }

    /// Returns the numbers of a block's predecessors, in order, with one entry per edge.
    pub(crate) fn predecessors(&self, block: Block) -> &[u32] {
        self.preds.get(&block).map_or(&[], Vec::as_slice)
    }
}

/// Returns the nearest enclosing isolated op, in which the numbering starts.
fn scope_of(m: &Module, op: Op) -> Op {
    let mut at = op;
    while !m.has_trait(at, Traits::ISOLATED) {
        let Some(parent) = m.parent_op(at) else { break };
        at = parent;
    }
    at
}

/// Returns the first name in a location, as an identifier.
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

/// Returns a text with the bytes that are invalid in identifiers replaced: blanks by `_`, others by their hexadecimal
/// digits.
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

/// A list of names in one buffer, by index.
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

/// The names in use in enclosing and finished sibling scopes, which keeps names that are visible together unique. Names
/// are indices in a [`NameList`].
#[derive(Default)]
struct UsedNames {
    names: HashTable<u32>,
    log: Vec<u32>,
}

impl UsedNames {
    /// Opens a scope and returns its mark.
    fn open(&self) -> usize {
        self.log.len()
    }

    /// Closes the scope of `mark`: forgets the names added since.
    fn close_to(&mut self, mark: usize, list: &NameList) {
        for name in self.log.drain(mark..) {
            if let Ok(entry) = self.names.find_entry(hash(list.get(name)), |&other| other == name) {
                entry.remove();
            }
        }
    }

    /// Adds `name`, or the first of `name_0`, `name_1`, ... that is free, and returns its index in the list.
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

/// The numbers from 00 to 99.
const PAIRS: &str = "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748495051\
525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";

/// Appends a decimal number.
#[inline]
pub(crate) fn push_number(n: u32, out: &mut String) {
    if n < 10 {
        return out.push(char::from(b'0' + n as u8));
    }
    if n >= 100 {
        push_number(n / 100, out);
    }
    let at = 2 * (n % 100) as usize;
    out.push_str(&PAIRS[at..at + 2]);
}

/// Returns the index of a value among its op's results, if the op has several.
pub(crate) fn result_number(m: &Module, value: Value) -> Option<u32> {
    match m.def(value) {
        Def::Result(op, i) if m.num_results(op) > 1 => Some(i),
        _ => None,
    }
}
