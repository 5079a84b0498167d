//! Shares: functions that are taken out of a program, worked on by another thread, and brought back.
//!
//! A share is a program of its own, with the same context. Rows of one function are close to each other, so whole windows
//! of the tables are copied, and a key there is a key here by addition. What is brought back goes into the rows where it
//! came from: a program does not grow by being divided, and the uses of a value stay in their order. Where a function is
//! away, there is an op at home that nobody knows.

use crate::context::Attr;
use crate::entity::{Entity, Packed, Table};
use crate::module::{Block, Def, Ext, Link, Module, Op, Region, Use, Value};
use std::ops::Range;

/// Some functions of a program.
pub(crate) struct Share {
    /// The functions, in order, in a copy of the op that is around them at home.
    pub(crate) module: Module,
    windows: Windows,
}

/// The windows of all tables.
struct Windows {
    ops: Window,
    blocks: Window,
    regions: Window,
    values: Window,
    exts: Window,
    operands: Window,
}

/// Rows of a table at home that were copied into the same table of a share, after rows that only the share has.
struct Window {
    /// The rows at home.
    home: Range<usize>,
    /// Where they begin in the share.
    start: usize,
    /// Which of them belong to the share.
    mine: Vec<bool>,
    /// Where rows that are new in the share go at home.
    new: usize,
}

impl Window {
    /// The key here of a key at home. `None` for one that does not belong to the share.
    #[inline]
    fn here<K: Entity>(&self, key: K) -> Option<K> {
        let i = key.index().wrapping_sub(self.home.start);
        self.mine.get(i).is_some_and(|mine| *mine).then(|| K::new(self.start + i))
    }

    /// The key here of a key at home that is known to belong to the share: its owner was claimed with it.
    #[inline]
    fn own<K: Entity>(&self, key: Packed<K>) -> Packed<K> {
        key.map(|key: K| K::new(key.index() - self.home.start + self.start))
    }

    /// The key at home of a key here.
    #[inline]
    fn there<K: Entity>(&self, key: K) -> K {
        let i = key.index() - self.start;
        K::new(if i < self.home.len() { self.home.start + i } else { self.new + (i - self.home.len()) })
    }

    #[inline]
    fn there_packed<K: Entity>(&self, key: Packed<K>) -> Packed<K> {
        key.map(|key| self.there(key))
    }

    /// The keys here of the rows that were copied and belong to the share.
    fn taken<K: Entity>(&self) -> impl Iterator<Item = K> + '_ {
        self.mine.iter().enumerate().filter(|(_, mine)| **mine).map(|(i, _)| K::new(self.start + i))
    }

    /// The keys here of all rows that are to go home: those that were copied, and new ones.
    fn live<K: Entity, V>(&self, table: &Table<K, V>) -> impl Iterator<Item = K> + use<K, V> {
        let mut live = vec![false; self.start];
        live.extend_from_slice(&self.mine);
        live.resize(table.capacity(), true);
        table.erased().for_each(|key| live[key.index()] = false);
        live.into_iter().enumerate().filter(|(_, live)| *live).map(|(i, _)| K::new(i))
    }

    /// Makes room at home for rows that are new here.
    fn make_room<K: Entity, V: Clone>(&mut self, here: &Table<K, V>, home: &mut Table<K, V>) {
        self.new = home.capacity();
        for row in &here.rows()[self.start + self.home.len()..] {
            home.push_new(row.clone());
        }
    }
}

impl Share {
    /// Copies functions that are ops in the only block of `parent`. `None` if they are not isolated, so that something
    /// inside one is connected with something outside, or if they are too scattered. The program stays as it is; see
    /// [`hollow`]. The memory of `spare`, a share that was given back, is used again.
    pub(crate) fn take(m: &Module, parent: Op, functions: &[Op], spare: Option<Module>) -> Option<Share> {
        let windows = Claims::new(m).windows(m, functions)?;
        let mut share = Share { module: root_like(m, parent, spare), windows };
        share.copy_rows(m);
        share.rename_rows()?;
        for &function in functions {
            let here = share.windows.ops.here(function)?;
            let body = share.module.body();
            share.module.append_op(body, here);
        }
        Some(share)
    }

    fn copy_rows(&mut self, m: &Module) {
        let (to, w) = (&mut self.module, &self.windows);
        to.ops.extend_from(&m.ops.rows()[w.ops.home.clone()]);
        to.blocks.extend_from(&m.blocks.rows()[w.blocks.home.clone()]);
        to.regions.extend_from(&m.regions.rows()[w.regions.home.clone()]);
        to.values.extend_from(&m.values.rows()[w.values.home.clone()]);
        to.exts.extend_from(&m.exts.rows()[w.exts.home.clone()]);
        to.operand_values.extend_from_slice(&m.operand_values[w.operands.home.clone()]);
        to.links.extend_from_slice(&m.links[w.operands.home.clone()]);
    }

    /// Replaces the keys of home by those of here. `None` when one belongs to something outside: only operands, the uses of
    /// values and the blocks that a branch goes to can lead there.
    fn rename_rows(&mut self) -> Option<()> {
        let (m, w) = (&mut self.module, &self.windows);
        for op in w.ops.taken::<Op>() {
            let row = &mut m.ops[op];
            // Only a function is in a block that is not taken; it is linked later.
            row.parent = row.parent.get().and_then(|block| w.blocks.here(block)).into();
            (row.prev, row.next) = match row.parent == Packed::NONE {
                true => (Packed::NONE, Packed::NONE),
                false => (w.ops.own(row.prev), w.ops.own(row.next)),
            };
            row.ext = w.exts.own(row.ext);
            row.operands.0 = if row.operands.1 > 0 { w.operands.here(Use(row.operands.0))?.0 } else { 0 };
            row.results.0 = if row.results.1 > 0 { w.values.here(Value(row.results.0))?.0 } else { 0 };
        }
        for value in w.values.taken::<Value>() {
            let row = &mut m.values[value];
            row.first_use = match row.first_use.get() {
                None => Packed::NONE,
                Some(at) => w.operands.here(at)?.into(),
            };
            row.def = match row.def {
                Def::Result(op, i) => Def::Result(w.ops.here(op)?, i),
                Def::Arg(block, i) => Def::Arg(w.blocks.here(block)?, i),
            };
        }
        for at in w.operands.taken::<Use>() {
            let value = &mut m.operand_values[at.index()];
            *value = w.values.here(*value)?;
            let Link { owner, prev, next } = &mut m.links[at.index()];
            *owner = w.ops.here(*owner)?;
            for place in [prev, next] {
                if let Some(at) = place.get() {
                    *place = w.operands.here(at)?.into();
                }
            }
        }
        self.rename_blocks()
    }

    fn rename_blocks(&mut self) -> Option<()> {
        let (m, w) = (&mut self.module, &self.windows);
        for region in w.regions.taken::<Region>() {
            let row = &mut m.regions[region];
            row.parent = w.ops.own(row.parent);
            (row.first, row.last) = (w.blocks.own(row.first), w.blocks.own(row.last));
        }
        for block in w.blocks.taken::<Block>() {
            let row = &mut m.blocks[block];
            row.parent = w.regions.own(row.parent);
            (row.prev, row.next) = (w.blocks.own(row.prev), w.blocks.own(row.next));
            (row.first, row.last) = (w.ops.own(row.first), w.ops.own(row.last));
            for arg in &mut row.args {
                *arg = w.values.here(*arg)?;
            }
        }
        for ext in w.exts.taken::<Ext>() {
            let row = &mut m.exts[ext];
            for region in &mut row.regions {
                *region = w.regions.here(*region)?;
            }
            for block in &mut row.successors {
                *block = w.blocks.here(*block)?;
            }
        }
        Some(())
    }

    /// The functions, as they are called here.
    pub(crate) fn functions(&self) -> Vec<Op> {
        self.module.block_ops(self.module.body()).collect()
    }

    /// Brings the functions back. No function may be missing, and none new. Returns the share's program, which nobody needs
    /// any more.
    pub(crate) fn give_back(mut self, m: &mut Module) -> Module {
        let functions = self.functions();
        let known = |f: &Op| f.index() < self.windows.ops.start + self.windows.ops.home.len();
        assert!(functions.iter().all(known), "a pass made an op beside a function that it ran on");
        self.make_room(m);
        // What is beside a function at home has nothing to do with what is beside it here.
        let place = |f: &Op| {
            let row = &m.ops[self.windows.ops.there(*f)];
            (row.parent, row.prev, row.next)
        };
        let places: Vec<_> = functions.iter().map(place).collect();
        for function in &functions {
            let row = &mut self.module.ops[*function];
            (row.parent, row.prev, row.next) = (Packed::NONE, Packed::NONE, Packed::NONE);
        }
        self.return_ops(m);
        self.return_values(m);
        self.return_blocks(m);
        self.return_erased(m);
        for (function, place) in functions.iter().zip(places) {
            let row = &mut m.ops[self.windows.ops.there(*function)];
            (row.parent, row.prev, row.next) = place;
        }
        self.module
    }

    fn make_room(&mut self, m: &mut Module) {
        let (here, w) = (&self.module, &mut self.windows);
        w.ops.make_room(&here.ops, &mut m.ops);
        w.blocks.make_room(&here.blocks, &mut m.blocks);
        w.regions.make_room(&here.regions, &mut m.regions);
        w.values.make_room(&here.values, &mut m.values);
        w.exts.make_room(&here.exts, &mut m.exts);
        w.operands.new = m.operand_values.len();
        let known = w.operands.home.len();
        m.operand_values.extend_from_slice(&here.operand_values[known..]);
        m.links.extend_from_slice(&here.links[known..]);
    }

    /// Ops and their operands.
    fn return_ops(&self, m: &mut Module) {
        let (here, w) = (&self.module, &self.windows);
        for op in w.ops.live(&here.ops) {
            let mut row = here.ops[op].clone();
            let (start, len) = row.operands;
            for i in start..start + len {
                let (at, Link { owner, prev, next }) = (w.operands.there(Use(i)).index(), here.links[i as usize]);
                m.operand_values[at] = w.values.there(here.operand_values[i as usize]);
                m.links[at] = Link {
                    owner: w.ops.there(owner),
                    prev: w.operands.there_packed(prev),
                    next: w.operands.there_packed(next),
                };
            }
            row.operands.0 = if len > 0 { w.operands.there(Use(start)).0 } else { 0 };
            row.results.0 = if row.results.1 > 0 { w.values.there(Value(row.results.0)).0 } else { 0 };
            row.parent = w.blocks.there_packed(row.parent);
            (row.prev, row.next) = (w.ops.there_packed(row.prev), w.ops.there_packed(row.next));
            row.ext = w.exts.there_packed(row.ext);
            m.ops[w.ops.there(op)] = row;
        }
    }

    fn return_values(&self, m: &mut Module) {
        let (here, w) = (&self.module, &self.windows);
        for value in w.values.live(&here.values) {
            let row = &here.values[value];
            let home = &mut m.values[w.values.there(value)];
            home.ty = row.ty;
            home.first_use = w.operands.there_packed(row.first_use);
            home.def = match row.def {
                Def::Result(op, i) => Def::Result(w.ops.there(op), i),
                Def::Arg(block, i) => Def::Arg(w.blocks.there(block), i),
            };
        }
    }

    /// Blocks, regions, and what ops have of both.
    fn return_blocks(&self, m: &mut Module) {
        let (here, w) = (&self.module, &self.windows);
        for block in w.blocks.live(&here.blocks) {
            let mut row = here.blocks[block].clone();
            row.parent = w.regions.there_packed(row.parent);
            (row.prev, row.next) = (w.blocks.there_packed(row.prev), w.blocks.there_packed(row.next));
            (row.first, row.last) = (w.ops.there_packed(row.first), w.ops.there_packed(row.last));
            row.args.iter_mut().for_each(|arg| *arg = w.values.there(*arg));
            m.blocks[w.blocks.there(block)] = row;
        }
        for region in w.regions.live(&here.regions) {
            let row = &here.regions[region];
            let home = &mut m.regions[w.regions.there(region)];
            home.parent = w.ops.there_packed(row.parent);
            (home.first, home.last) = (w.blocks.there_packed(row.first), w.blocks.there_packed(row.last));
        }
        for ext in w.exts.live(&here.exts) {
            let mut row = here.exts[ext].clone();
            row.regions.iter_mut().for_each(|region| *region = w.regions.there(*region));
            row.successors.iter_mut().for_each(|block| *block = w.blocks.there(*block));
            m.exts[w.exts.there(ext)] = row;
        }
    }

    fn return_erased(&self, m: &mut Module) {
        let (here, w) = (&self.module, &self.windows);
        here.ops.erased().for_each(|key| m.ops.free(w.ops.there(key)));
        here.blocks.erased().for_each(|key| m.blocks.free(w.blocks.there(key)));
        here.regions.erased().for_each(|key| m.regions.free(w.regions.there(key)));
        here.values.erased().for_each(|key| m.values.free(w.values.there(key)));
        here.exts.erased().for_each(|key| m.exts.free(w.exts.there(key)));
        for (len, starts) in here.free_operands.iter().enumerate() {
            if m.free_operands.len() <= len {
                m.free_operands.resize(len + 1, Vec::new());
            }
            m.free_operands[len].extend(starts.iter().map(|&start| w.operands.there(Use(start)).0));
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

/// A program whose root is like an op of another one, but empty.
fn root_like(m: &Module, op: Op, spare: Option<Module>) -> Module {
    let mut to = match spare {
        Some(spare) => spare.emptied(),
        None => Module::new(m.ctx.clone()),
    };
    to.resources = m.resources.clone();
    let (row, root) = (&m.ops[op], &mut to.ops[to.root]);
    (root.name, root.loc, root.props, root.attrs) = (row.name, row.loc, row.props, row.attrs);
    to
}

/// A window may hold so many rows for each one that belongs to the share.
const MAX_SPREAD: usize = 4;

/// Finds out which rows belong to some functions.
struct Claims {
    ops: Claim,
    blocks: Claim,
    regions: Claim,
    values: Claim,
    exts: Claim,
    operands: Claim,
}

/// The claimed rows of a table.
struct Claim {
    mine: Vec<bool>,
    count: usize,
    first: usize,
    end: usize,
}

impl Claim {
    fn new(rows: usize) -> Claim {
        Claim { mine: vec![false; rows], count: 0, first: rows, end: 0 }
    }

    #[inline]
    fn add(&mut self, rows: Range<usize>) {
        self.count += rows.len();
        if !rows.is_empty() {
            (self.first, self.end) = (self.first.min(rows.start), self.end.max(rows.end));
            self.mine[rows].fill(true);
        }
    }

    fn window(self, start: usize) -> Option<Window> {
        let home = if self.count == 0 { 0..0 } else { self.first..self.end };
        let fits = home.len() <= MAX_SPREAD * self.count + 1024;
        fits.then(|| Window { mine: self.mine[home.clone()].to_vec(), home, start, new: 0 })
    }
}

impl Claims {
    fn new(m: &Module) -> Claims {
        Claims {
            ops: Claim::new(m.ops.capacity()),
            blocks: Claim::new(m.blocks.capacity()),
            regions: Claim::new(m.regions.capacity()),
            values: Claim::new(m.values.capacity()),
            exts: Claim::new(m.exts.capacity()),
            operands: Claim::new(m.operand_values.len()),
        }
    }

    /// Claims what is in the functions. A share has one row of its own for its root op, block and region.
    fn windows(mut self, m: &Module, functions: &[Op]) -> Option<Windows> {
        let mut stack = functions.to_vec();
        while let Some(op) = stack.pop() {
            self.op(m, op);
            for &region in m.regions(op) {
                self.regions.add(region.index()..region.index() + 1);
                for block in m.region_blocks(region) {
                    self.blocks.add(block.index()..block.index() + 1);
                    m.block_args(block).iter().for_each(|arg| self.values.add(arg.index()..arg.index() + 1));
                    for inner in m.block_ops(block) {
                        match m.regions(inner) {
                            [] => self.op(m, inner),
                            _ => stack.push(inner),
                        }
                    }
                }
            }
        }
        Some(Windows {
            ops: self.ops.window(1)?,
            blocks: self.blocks.window(1)?,
            regions: self.regions.window(1)?,
            values: self.values.window(0)?,
            exts: self.exts.window(1)?,
            operands: self.operands.window(0)?,
        })
    }

    #[inline]
    fn op(&mut self, m: &Module, op: Op) {
        let row = &m.ops[op];
        let range = |(start, len): (u32, u32)| start as usize..(start + len) as usize;
        self.ops.add(op.index()..op.index() + 1);
        self.values.add(range(row.results));
        self.operands.add(range(row.operands));
        if let Some(ext) = row.ext.get() {
            self.exts.add(ext.index()..ext.index() + 1);
        }
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
    }

    #[test]
    fn what_is_brought_back_is_as_if_it_had_never_been_away() {
        let text = TEXT.repeat(4);
        let (mut m, mut whole) = (program(&text), program(&text));
        for round in 0..3 {
            let all = functions(&m);
            let mut shares: Vec<Share> =
                [1..2, 2..4].map(|r| Share::take(&m, m.root(), &all[r], None).expect("isolated")).into();
            hollow(&mut m, &all[1..]);
            for share in &mut shares {
                share.functions().into_iter().for_each(|f| change(&mut share.module, f, round));
                check(&share.module);
            }
            change(&mut m, all[0], round);
            shares.into_iter().for_each(|share| drop(share.give_back(&mut m)));
            functions(&whole).into_iter().for_each(|f| change(&mut whole, f, round));
            check(&m);
            assert_eq!(m.num_ops(), m.ops_under(m.root()).len());
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
        let text = m.to_text(PrintOptions::default());
        let mut spare = None;
        for _ in 0..5 {
            let all = functions(&m);
            let share = Share::take(&m, m.root(), &all, spare).expect("isolated");
            hollow(&mut m, &all);
            spare = Some(share.give_back(&mut m));
            assert_eq!(m.to_text(PrintOptions::default()), text);
        }
        check(&m);
        assert_eq!(m.ops.capacity(), rows);
    }

    #[test]
    fn what_sees_something_outside_stays() {
        let m = program("%0 = \"t.def\"() : () -> i32\n\"t.f\"() ({\n\"t.use\"(%0) : (i32) -> ()\n}) : () -> ()");
        let all = functions(&m);
        assert!(Share::take(&m, m.root(), &all[1..], None).is_none());
        assert!(Share::take(&m, m.root(), &all[..1], None).is_none());
        assert!(Share::take(&m, m.root(), &all, None).is_some());
    }
}
