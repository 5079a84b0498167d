//! Shares: functions that are taken out of a program, worked on by another thread, and brought back.
//!
//! A share is a program of its own, with the same context. Rows of one function are close to each other, so whole windows
//! of the tables are copied, and a key there is a key here by addition. What is brought back goes into the rows where it
//! came from: a program does not grow by being divided, and the uses of a value stay in their order. Where a function is
//! away, there is an op at home that nobody knows.

mod claims;
mod windows;

use crate::entity::{Entity, Packed};
use crate::intern::Attr;
use crate::module::{Block, Module, Op, Use};
use claims::Claims;
use std::panic::resume_unwind;
use std::thread;
use windows::Windows;

/// Some functions of a program.
pub(crate) struct Share {
    /// The functions, in order, in a copy of the op that is around them at home.
    pub(crate) module: Module,
    windows: Windows,
}

impl Share {
    /// Copies functions that are ops in the only block of `parent`. `None` if they are not isolated, so that something
    /// inside one is connected with something outside, or if they are too scattered. The program stays as it is; see
    /// [`hollow`]. The memory of `spare`, a share that was given back, is used again.
    pub(crate) fn take(m: &Module, parent: Op, functions: &[Op], spare: Option<Module>) -> Option<Share> {
        let windows = Claims::new(m).windows(m, functions)?;
        let mut share = Share { module: root_like(m, parent, spare), windows };
        share.copy_rows(m)?;
        for &function in functions {
            let here = share.windows.ops.here(function)?;
            let body = share.module.body();
            share.module.append_op(body, here);
        }
        Some(share)
    }

    /// Copies the windows and replaces the keys in them, one half of the tables on another thread: while shares are taken,
    /// threads have nothing else to do. `None` when a key belongs to something outside.
    fn copy_rows(&mut self, m: &Module) -> Option<()> {
        let w = &self.windows;
        let Module { ops, blocks, regions, values, exts, operand_values, links, .. } = &mut self.module;
        thread::scope(|scope| {
            let other = scope.spawn(|| {
                values.extend_from(&m.values.rows()[w.values.home.clone()]);
                operand_values.extend_from_slice(&m.operand_values[w.operands.home.clone()]);
                links.extend_from_slice(&m.links[w.operands.home.clone()]);
                w.rename_values(values, operand_values, links)
            });
            ops.extend_from(&m.ops.rows()[w.ops.home.clone()]);
            blocks.extend_from(&m.blocks.rows()[w.blocks.home.clone()]);
            regions.extend_from(&m.regions.rows()[w.regions.home.clone()]);
            exts.extend_from(&m.exts.rows()[w.exts.home.clone()]);
            let own = w.rename_ops(ops).and_then(|()| w.rename_blocks(blocks, regions, exts));
            own.and(other.join().unwrap_or_else(|panic| resume_unwind(panic)))
        })
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
        self.return_rows(m);
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

    /// One half of the tables on another thread, as in [`Share::copy_rows`].
    fn return_rows(&self, m: &mut Module) {
        let (here, w) = (&self.module, &self.windows);
        let Module { ops, blocks, regions, values, exts, operand_values, links, .. } = m;
        thread::scope(|scope| {
            scope.spawn(|| {
                w.return_values(here, values);
                w.return_operands(here, operand_values, links);
            });
            w.return_ops(here, ops);
            w.return_blocks(here, blocks, regions, exts);
        });
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

/// Appends all ops in the body of a program to a block of another one.
pub(crate) fn absorb(m: &mut Module, block: Block, mut other: Module) {
    let body = other.body();
    let ops: Vec<Op> = other.block_ops(body).collect();
    for &op in &ops {
        let row = &mut other.ops[op];
        (row.parent, row.prev, row.next) = (Packed::NONE, Packed::NONE, Packed::NONE);
    }
    let mut share = Share { module: other, windows: Windows::of_nothing() };
    share.make_room(m);
    share.return_rows(m);
    share.return_erased(m);
    for op in ops {
        m.append_op(block, share.windows.ops.there(op));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::module::Def;
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
        parse_module(&ctx, "t", text.to_owned(), ParseOptions { allow_unregistered: true, ..ParseOptions::default() })
            .expect("the test is IR")
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
