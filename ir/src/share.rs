//! Shares: functions that are taken out of a program, worked on by another thread, and brought back.
//!
//! A share is a program of its own, with the same context. Its rows are copies of the rows at home with other keys; what
//! is brought back goes into the places where it came from, so that a program does not grow by being divided, and the
//! uses of a value stay in their order. Where a function is away, there is an op at home that nobody knows.

use crate::context::Attr;
use crate::entity::{Entity, Packed, SideTable, Table};
use crate::module::{Block, Def, Ext, ExtData, Link, Module, Op, Region, Use, Value};

/// Some functions of a program.
pub(crate) struct Share {
    /// The functions, in order, in a copy of the op that is around them at home.
    pub(crate) module: Module,
    home: Keys,
}

/// For each key of a share, by index, the key at home.
#[derive(Default)]
struct Keys {
    ops: Vec<Op>,
    blocks: Vec<Block>,
    regions: Vec<Region>,
    values: Vec<Value>,
    exts: Vec<Ext>,
    operands: Vec<Use>,
}

impl Share {
    /// Copies functions that are ops in the only block of `parent`. `None` if they are not isolated: something inside one
    /// is connected with something outside. The program stays as it is; see [`hollow`].
    pub(crate) fn take(m: &Module, parent: Op, functions: &[Op]) -> Option<Share> {
        let mut taker = Taker::new(m, parent);
        for &function in functions {
            taker.claim(function);
        }
        taker.finish()
    }

    /// The functions, as they are called here.
    pub(crate) fn functions(&self) -> Vec<Op> {
        self.module.block_ops(self.module.body()).collect()
    }

    /// Brings the functions back. No function may be missing, and none new.
    pub(crate) fn give_back(mut self, m: &mut Module) {
        let taken = self.home.ops.len();
        let functions = self.functions();
        assert!(functions.iter().all(|f| f.index() < taken), "a pass made an op beside a function that it ran on");
        self.make_room(m);
        // What is beside a function at home has nothing to do with what is beside it here.
        let places: Vec<_> = functions
            .iter()
            .map(|f| {
                let row = &m.ops[self.home.ops[f.index()]];
                (row.parent, row.prev, row.next)
            })
            .collect();
        self.return_rows(m);
        self.return_operands(m);
        for (function, place) in functions.iter().zip(places) {
            let row = &mut m.ops[self.home.ops[function.index()]];
            (row.parent, row.prev, row.next) = place;
        }
    }

    /// Gives keys at home to what is new.
    fn make_room(&mut self, m: &mut Module) {
        fn add<K: Entity, V: Clone>(share: &Table<K, V>, home: &mut Table<K, V>, keys: &mut Vec<K>) {
            for row in &share.rows()[keys.len()..] {
                keys.push(home.push_new(row.clone()));
            }
        }
        let (share, home) = (&self.module, &mut self.home);
        add(&share.ops, &mut m.ops, &mut home.ops);
        add(&share.blocks, &mut m.blocks, &mut home.blocks);
        add(&share.regions, &mut m.regions, &mut home.regions);
        add(&share.values, &mut m.values, &mut home.values);
        add(&share.exts, &mut m.exts, &mut home.exts);
        let known = home.operands.len();
        home.operands.extend((m.operand_values.len()..).take(share.operand_values.len() - known).map(Use::new));
        m.operand_values.extend_from_slice(&share.operand_values[known..]);
        m.links.extend_from_slice(&share.links[known..]);
    }

    fn return_op(&self, m: &mut Module, op: Op) {
        let (home, mut row) = (&self.home, self.module.ops[op].clone());
        row.parent = row.parent.map(|b| home.blocks[b.index()]);
        row.prev = row.prev.map(|o| home.ops[o.index()]);
        row.next = row.next.map(|o| home.ops[o.index()]);
        row.ext = row.ext.map(|e| home.exts[e.index()]);
        let (start, len) = row.operands;
        row.operands = (if len > 0 { home.operands[start as usize].0 } else { 0 }, len);
        let (start, len) = row.results;
        row.results = (if len > 0 { home.values[start as usize].0 } else { 0 }, len);
        m.ops[home.ops[op.index()]] = row;
    }

    /// Everything but the op around the functions, with its region and block.
    fn return_rows(&self, m: &mut Module) {
        let (root, body) = (self.module.root, self.module.body());
        live(&self.module.ops).filter(|&op| op != root).for_each(|op| self.return_op(m, op));
        let home = &self.home;
        for block in live(&self.module.blocks).filter(|&b| b != body) {
            let mut row = self.module.blocks[block].clone();
            row.parent = row.parent.map(|r| home.regions[r.index()]);
            row.prev = row.prev.map(|b| home.blocks[b.index()]);
            row.next = row.next.map(|b| home.blocks[b.index()]);
            row.first = row.first.map(|o| home.ops[o.index()]);
            row.last = row.last.map(|o| home.ops[o.index()]);
            row.args.iter_mut().for_each(|arg| *arg = home.values[arg.index()]);
            m.blocks[home.blocks[block.index()]] = row;
        }
        for region in live(&self.module.regions).filter(|r| r.index() > 0) {
            let row = &self.module.regions[region];
            let at = &mut m.regions[home.regions[region.index()]];
            at.parent = row.parent.map(|o| home.ops[o.index()]);
            at.first = row.first.map(|b| home.blocks[b.index()]);
            at.last = row.last.map(|b| home.blocks[b.index()]);
        }
        for value in live(&self.module.values) {
            let row = &self.module.values[value];
            let at = &mut m.values[home.values[value.index()]];
            at.ty = row.ty;
            at.first_use = row.first_use.map(|u| home.operands[u.index()]);
            at.def = match row.def {
                Def::Result(op, i) => Def::Result(home.ops[op.index()], i),
                Def::Arg(block, i) => Def::Arg(home.blocks[block.index()], i),
            };
        }
        for ext in live(&self.module.exts).filter(|e| e.index() > 0) {
            let row = &self.module.exts[ext];
            m.exts[home.exts[ext.index()]] = ExtData {
                regions: row.regions.iter().map(|r| home.regions[r.index()]).collect(),
                successors: row.successors.iter().map(|b| home.blocks[b.index()]).collect(),
            };
        }
        self.module.ops.erased().for_each(|k| m.ops.free(home.ops[k.index()]));
        self.module.blocks.erased().for_each(|k| m.blocks.free(home.blocks[k.index()]));
        self.module.regions.erased().for_each(|k| m.regions.free(home.regions[k.index()]));
        self.module.values.erased().for_each(|k| m.values.free(home.values[k.index()]));
        self.module.exts.erased().for_each(|k| m.exts.free(home.exts[k.index()]));
    }

    fn return_operands(&self, m: &mut Module) {
        let home = &self.home;
        for op in live(&self.module.ops) {
            let (start, len) = self.module.ops[op].operands;
            for i in start as usize..(start + len) as usize {
                let (at, Link { owner, prev, next }) = (home.operands[i].index(), self.module.links[i]);
                m.operand_values[at] = home.values[self.module.operand_values[i].index()];
                m.links[at] = Link {
                    owner: home.ops[owner.index()],
                    prev: prev.map(|u| home.operands[u.index()]),
                    next: next.map(|u| home.operands[u.index()]),
                };
            }
        }
        for (len, starts) in self.module.free_operands.iter().enumerate() {
            if m.free_operands.len() <= len {
                m.free_operands.resize(len + 1, Vec::new());
            }
            m.free_operands[len].extend(starts.iter().map(|&start| home.operands[start as usize].0));
        }
    }
}

/// Leaves ops that nobody knows in the places of functions that are in a share.
pub(crate) fn hollow(m: &mut Module, functions: &[Op]) {
    let name = m.ctx.op_name("gradus.away");
    for &function in functions {
        let row = &mut m.ops[function];
        (row.name, row.ext, row.props, row.attrs) = (name, Packed::NONE, Attr::EMPTY_DICT, Attr::EMPTY_DICT);
    }
}

/// The keys of the rows that are not erased.
fn live<K: Entity, V>(table: &Table<K, V>) -> impl Iterator<Item = K> + use<K, V> {
    let mut erased = vec![false; table.capacity()];
    table.erased().for_each(|key| erased[key.index()] = true);
    erased.into_iter().enumerate().filter(|(_, erased)| !erased).map(|(i, _)| K::new(i))
}

/// Copies rows: first as they are, noting which key became which, then with the keys replaced.
struct Taker<'a> {
    from: &'a Module,
    to: Module,
    home: Keys,
    ops: SideTable<Op, Packed<Op>>,
    blocks: SideTable<Block, Packed<Block>>,
    regions: SideTable<Region, Packed<Region>>,
    values: SideTable<Value, Packed<Value>>,
    exts: SideTable<Ext, Packed<Ext>>,
    operands: SideTable<Use, Packed<Use>>,
}

impl<'a> Taker<'a> {
    /// A share with nothing but a copy of `parent`.
    fn new(from: &'a Module, parent: Op) -> Self {
        let mut to = Module::new(from.ctx.clone());
        to.resources = from.resources.clone();
        let root = &mut to.ops[to.root];
        let row = &from.ops[parent];
        (root.name, root.loc, root.props, root.attrs) = (row.name, row.loc, row.props, row.attrs);
        let region = from.regions(parent)[0];
        let home = Keys {
            ops: vec![parent],
            blocks: vec![from.only_block(region)],
            regions: vec![region],
            exts: row.ext.get().into_iter().collect(),
            ..Keys::default()
        };
        Taker {
            from,
            to,
            home,
            ops: SideTable::new(Packed::NONE),
            blocks: SideTable::new(Packed::NONE),
            regions: SideTable::new(Packed::NONE),
            values: SideTable::new(Packed::NONE),
            exts: SideTable::new(Packed::NONE),
            operands: SideTable::new(Packed::NONE),
        }
    }

    fn claim(&mut self, function: Op) {
        for op in self.from.ops_under(function) {
            self.claim_op(op);
        }
        let at = self.ops[function].get().expect("just claimed");
        let row = &mut self.to.ops[at];
        (row.parent, row.prev, row.next) = (Packed::NONE, Packed::NONE, Packed::NONE);
        let body = self.to.body();
        self.to.append_op(body, at);
    }

    fn claim_op(&mut self, op: Op) {
        let from = self.from;
        let mut row = from.ops[op].clone();
        row.operands.0 = self.claim_operands(op);
        row.results.0 = self.to.values.capacity() as u32;
        for value in from.results(op) {
            self.claim_value(value);
        }
        if let Some(ext) = row.ext.get() {
            self.exts[ext] = self.to.exts.push_new(from.exts[ext].clone()).into();
            self.home.exts.push(ext);
            for &region in &from.exts[ext].regions {
                self.claim_region(region);
            }
        }
        self.ops[op] = self.to.ops.push_new(row).into();
        self.home.ops.push(op);
    }

    fn claim_region(&mut self, region: Region) {
        let from = self.from;
        self.regions[region] = self.to.regions.push_new(from.regions[region].clone()).into();
        self.home.regions.push(region);
        for block in from.region_blocks(region) {
            self.blocks[block] = self.to.blocks.push_new(from.blocks[block].clone()).into();
            self.home.blocks.push(block);
            for &arg in from.block_args(block) {
                self.claim_value(arg);
            }
        }
    }

    fn claim_value(&mut self, value: Value) {
        self.values[value] = self.to.values.push_new(self.from.values[value].clone()).into();
        self.home.values.push(value);
    }

    fn claim_operands(&mut self, op: Op) -> u32 {
        let (start, len) = self.from.ops[op].operands;
        let at = self.to.operand_values.len();
        let range = start as usize..(start + len) as usize;
        self.to.operand_values.extend_from_slice(&self.from.operand_values[range.clone()]);
        self.to.links.extend_from_slice(&self.from.links[range.clone()]);
        for (i, old) in range.enumerate() {
            self.operands[Use::new(old)] = Use::new(at + i).into();
            self.home.operands.push(Use::new(old));
        }
        at as u32
    }

    /// Replaces the keys; a key that was not claimed belongs to something outside.
    fn finish(mut self) -> Option<Share> {
        for (i, &op) in self.home.ops.iter().enumerate().skip(1) {
            let row = &mut self.to.ops[Op::new(i)];
            row.ext = renamed(&self.exts, row.ext)?;
            // The functions are linked already.
            if self.blocks[self.from.ops[op].parent.get()?] != Packed::NONE {
                row.parent = renamed(&self.blocks, row.parent)?;
                row.prev = renamed(&self.ops, row.prev)?;
                row.next = renamed(&self.ops, row.next)?;
            }
        }
        for i in 1..self.home.blocks.len() {
            let row = &mut self.to.blocks[Block::new(i)];
            row.parent = renamed(&self.regions, row.parent)?;
            row.prev = renamed(&self.blocks, row.prev)?;
            row.next = renamed(&self.blocks, row.next)?;
            row.first = renamed(&self.ops, row.first)?;
            row.last = renamed(&self.ops, row.last)?;
            for arg in &mut row.args {
                *arg = self.values[*arg].get()?;
            }
        }
        for i in 1..self.home.regions.len() {
            let row = &mut self.to.regions[Region::new(i)];
            row.parent = renamed(&self.ops, row.parent)?;
            row.first = renamed(&self.blocks, row.first)?;
            row.last = renamed(&self.blocks, row.last)?;
        }
        for i in 0..self.home.values.len() {
            let row = &mut self.to.values[Value::new(i)];
            row.first_use = renamed(&self.operands, row.first_use)?;
            row.def = match row.def {
                Def::Result(op, i) => Def::Result(self.ops[op].get()?, i),
                Def::Arg(block, i) => Def::Arg(self.blocks[block].get()?, i),
            };
        }
        for i in 1..self.home.exts.len() {
            let row = &mut self.to.exts[Ext::new(i)];
            for region in &mut row.regions {
                *region = self.regions[*region].get()?;
            }
            for block in &mut row.successors {
                *block = self.blocks[*block].get()?;
            }
        }
        for value in &mut self.to.operand_values {
            *value = self.values[*value].get()?;
        }
        for link in &mut self.to.links {
            link.owner = self.ops[link.owner].get()?;
            link.prev = renamed(&self.operands, link.prev)?;
            link.next = renamed(&self.operands, link.next)?;
        }
        Some(Share { module: self.to, home: self.home })
    }
}

/// The new name of a key, if there is a key. `None` for one that has no new name.
fn renamed<K: Entity>(names: &SideTable<K, Packed<K>>, key: Packed<K>) -> Option<Packed<K>> {
    match key.get() {
        None => Some(Packed::NONE),
        Some(key) => Some(names[key]).filter(|name| *name != Packed::NONE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Context, ParseOptions, PrintOptions, parse_module};
    use std::sync::Arc;

    const TEXT: &str = r#"
        "t.f"() ({
        ^a(%x: i32, %y: i32):
          %0:2 = "t.two"(%x) {k = 1} : (i32) -> (i32, i32)
          "t.br"(%0#1)[^b, ^c] : (i32) -> ()
        ^b:
          "t.end"(%0#0, %x, %x) : (i32, i32, i32) -> ()
        ^c:
          "t.drop"(%y) ({
            "t.inner"(%y, %0#0) : (i32, i32) -> ()
          }) : (i32) -> ()
          "t.end"(%y) : (i32) -> ()
        }) : () -> ()
    "#;

    fn program(text: &str) -> Module {
        let ctx = Context::new(&[]);
        parse_module(&ctx, "t", text.to_owned(), ParseOptions { allow_unregistered: true }).expect("the test is IR")
    }

    fn functions(m: &Module) -> Vec<Op> {
        m.block_ops(m.body()).collect()
    }

    /// Erases some ops and makes others, of all kinds.
    fn change(m: &mut Module, function: Op, round: usize) {
        let ops = m.ops_under(function);
        let named = |m: &Module, name: &str| ops.iter().copied().find(|&op| m.name_text(op) == name);
        if let Some(op) = named(m, "t.drop") {
            m.erase_op(op);
        }
        let last = *ops.last().expect("a terminator");
        let entry = m.entry(m.regions(function)[0]).expect("a body");
        let arg = m.block_args(entry)[0];
        for i in 0..3 {
            let mut state = crate::OpState::new(&Arc::clone(&m.ctx), "t.new", m.loc(last));
            state.operands.extend(std::iter::repeat_n(arg, 1 + (round + i) % 3));
            state.result_types.extend(std::iter::repeat_n(crate::Type::I64, i));
            state.regions = i;
            let op = m.create_op(state);
            m.insert_op(m.parent_block(last).expect("in a block"), op, Some(last));
            if i > 0 {
                let inner = m.add_block(m.regions(op)[0]);
                let value = m.add_block_arg(inner, crate::Type::INDEX, m.loc(last));
                m.set_operand(last, 0, value);
            }
        }
        let first = m.first_op(entry).expect("an op");
        m.set_operands(first, &[arg, arg, arg]);
    }

    /// Uses and operands, parents and children, and the numbers of rows agree.
    fn check(m: &Module) {
        for op in m.ops_under(m.root()) {
            for (i, &value) in m.operands(op).iter().enumerate() {
                assert!(m.uses(value).any(|u| u == (op, i)), "operand {i} of {op} is not among the uses of {value}");
            }
            for (i, value) in m.results(op).enumerate() {
                assert_eq!(m.def(value), Def::Result(op, i as u32));
                m.uses(value).for_each(|(user, i)| assert_eq!(m.operands(user)[i], value));
            }
            for &region in m.regions(op) {
                assert_eq!(m.region_op(region), Some(op));
                for block in m.region_blocks(region) {
                    assert_eq!(m.parent_region(block), Some(region));
                    assert!(m.block_ops(block).all(|op| m.parent_block(op) == Some(block)));
                    let forth: Vec<Op> = m.block_ops(block).collect();
                    let mut back: Vec<Op> = m.block_ops(block).rev().collect();
                    back.reverse();
                    assert_eq!(forth, back);
                }
            }
        }
        assert_eq!(m.num_ops(), m.ops_under(m.root()).len());
    }

    #[test]
    fn what_is_brought_back_is_as_if_it_had_never_been_away() {
        let text = TEXT.repeat(4);
        let (mut m, mut whole) = (program(&text), program(&text));
        for round in 0..3 {
            let all = functions(&m);
            let mut shares: Vec<Share> =
                [1..2, 2..4].map(|r| Share::take(&m, m.root(), &all[r]).expect("isolated")).into();
            hollow(&mut m, &all[1..]);
            for share in &mut shares {
                share.functions().into_iter().for_each(|f| change(&mut share.module, f, round));
                check(&share.module);
            }
            change(&mut m, all[0], round);
            shares.into_iter().for_each(|share| share.give_back(&mut m));
            functions(&whole).into_iter().for_each(|f| change(&mut whole, f, round));
            check(&m);
            assert_eq!(m.to_text(PrintOptions::default()), whole.to_text(PrintOptions::default()));
            let users = |m: &Module| -> Vec<usize> {
                let args = functions(m).into_iter().map(|f| m.block_args(m.only_block(m.regions(f)[0]))[0]);
                args.flat_map(|arg| m.uses(arg).map(|(_, i)| i).collect::<Vec<_>>()).collect()
            };
            assert_eq!(users(&m), users(&whole));
        }
    }

    #[test]
    fn a_program_does_not_grow_by_being_divided() {
        let mut m = program(&TEXT.repeat(4));
        let rows = m.ops.capacity();
        for _ in 0..5 {
            let all = functions(&m);
            let share = Share::take(&m, m.root(), &all).expect("isolated");
            hollow(&mut m, &all);
            share.give_back(&mut m);
        }
        check(&m);
        assert_eq!(m.ops.capacity(), rows);
    }

    #[test]
    fn what_sees_something_outside_stays() {
        let m = program("%0 = \"t.def\"() : () -> i32\n\"t.f\"() ({\n\"t.use\"(%0) : (i32) -> ()\n}) : () -> ()");
        let all = functions(&m);
        assert!(Share::take(&m, m.root(), &all[1..]).is_none());
        assert!(Share::take(&m, m.root(), &all[..1]).is_none());
        assert!(Share::take(&m, m.root(), &all).is_some());
    }
}
