//! Splitting of modules: functions are moved to modules of their own, transformed by other threads, and merged back.
//!
//! A part is a module with the same context. The rows of one function are close to each other in the tables, so whole
//! ranges of rows are copied, and keys are remapped by adding an offset. Merging writes rows back to where they came
//! from: splitting does not grow the tables, and use lists keep their order. In the meantime, a placeholder op stands
//! for each function.

mod row_maps;
mod rows;

use crate::entity::{Entity, PackedOption};
use crate::intern::Attr;
use crate::module::{Block, Module, Op, Use};
use row_maps::RowMaps;
use rows::RowCollector;
use std::panic::resume_unwind;
use std::thread;

/// A module of functions split off from another one, the source.
pub(crate) struct ModulePart {
    /// The functions, in order, in a copy of their parent op.
    pub(crate) module: Module,
    maps: RowMaps,
}

impl ModulePart {
    /// Copies functions, which are ops in the single block of `parent`, to a new module. `None` if they are not
    /// isolated from the rest of the source, or if their rows are too scattered. The source stays unchanged; see
    /// [`leave_placeholders`]. Reuses the memory of `spare`, a module that [`merge`](ModulePart::merge) returned.
    pub(crate) fn split(m: &Module, parent: Op, functions: &[Op], spare: Option<Module>) -> Option<ModulePart> {
        let maps = RowCollector::new(m).maps(m, functions)?;
        let mut part = ModulePart { module: root_like(m, parent, spare), maps };
        part.copy_rows(m)?;
        for &function in functions {
            let copy = part.maps.ops.to_part(function)?;
            let body = part.module.body();
            part.module.append_op(body, copy);
        }
        Some(part)
    }

    /// Copies the rows and remaps their keys, half of the tables on a second thread. `None` if a key belongs to a row
    /// outside of the functions.
    fn copy_rows(&mut self, m: &Module) -> Option<()> {
        let maps = &self.maps;
        let Module { ops, blocks, regions, values, exts, operand_values, links, .. } = &mut self.module;
        thread::scope(|scope| {
            let other = scope.spawn(|| {
                values.extend_from(&m.values.rows()[maps.values.source.clone()]);
                operand_values.extend_from_slice(&m.operand_values[maps.operands.source.clone()]);
                links.extend_from_slice(&m.links[maps.operands.source.clone()]);
                maps.remap_values(values, operand_values, links)
            });
            ops.extend_from(&m.ops.rows()[maps.ops.source.clone()]);
            blocks.extend_from(&m.blocks.rows()[maps.blocks.source.clone()]);
            regions.extend_from(&m.regions.rows()[maps.regions.source.clone()]);
            exts.extend_from(&m.exts.rows()[maps.exts.source.clone()]);
            let own = maps.remap_ops(ops).and_then(|()| maps.remap_blocks(blocks, regions, exts));
            own.and(other.join().unwrap_or_else(|panic| resume_unwind(panic)))
        })
    }

    /// Returns the functions, as ops of the part.
    pub(crate) fn functions(&self) -> Vec<Op> {
        self.module.block_ops(self.module.body()).collect()
    }

    /// Merges the functions back into the source. Their number and order must be unchanged. Returns the part's module,
    /// whose memory can be reused.
    pub(crate) fn merge(mut self, m: &mut Module) -> Module {
        let functions = self.functions();
        let known = |f: &Op| f.index() < self.maps.ops.start + self.maps.ops.source.len();
        assert!(functions.iter().all(known), "a pass made an op beside a function that it ran on");
        self.append_new(m);
        // The functions keep their links in the source block, whose neighbors may not be in the part.
        let link = |f: &Op| {
            let row = &m.ops[self.maps.ops.to_source(*f)];
            (row.parent, row.prev, row.next)
        };
        let links: Vec<_> = functions.iter().map(link).collect();
        for function in &functions {
            let row = &mut self.module.ops[*function];
            (row.parent, row.prev, row.next) = (PackedOption::NONE, PackedOption::NONE, PackedOption::NONE);
        }
        self.copy_back_rows(m);
        self.free_erased(m);
        for (function, link) in functions.iter().zip(links) {
            let row = &mut m.ops[self.maps.ops.to_source(*function)];
            (row.parent, row.prev, row.next) = link;
        }
        self.module
    }

    fn append_new(&mut self, m: &mut Module) {
        let (part, maps) = (&self.module, &mut self.maps);
        maps.ops.append_new(&part.ops, &mut m.ops);
        maps.blocks.append_new(&part.blocks, &mut m.blocks);
        maps.regions.append_new(&part.regions, &mut m.regions);
        maps.values.append_new(&part.values, &mut m.values);
        maps.exts.append_new(&part.exts, &mut m.exts);
        maps.operands.new = m.operand_values.len();
        let known = maps.operands.source.len();
        m.operand_values.extend_from_slice(&part.operand_values[known..]);
        m.links.extend_from_slice(&part.links[known..]);
    }

    /// Copies all rows back to the source, half of the tables on a second thread, as in [`ModulePart::copy_rows`].
    fn copy_back_rows(&self, m: &mut Module) {
        let (part, maps) = (&self.module, &self.maps);
        let Module { ops, blocks, regions, values, exts, operand_values, links, .. } = m;
        thread::scope(|scope| {
            scope.spawn(|| {
                maps.copy_back_values(part, values);
                maps.copy_back_operands(part, operand_values, links);
            });
            maps.copy_back_ops(part, ops);
            maps.copy_back_blocks(part, blocks, regions, exts);
        });
    }

    fn free_erased(&self, m: &mut Module) {
        let (part, maps) = (&self.module, &self.maps);
        part.ops.erased().for_each(|key| m.ops.free(maps.ops.to_source(key)));
        part.blocks.erased().for_each(|key| m.blocks.free(maps.blocks.to_source(key)));
        part.regions.erased().for_each(|key| m.regions.free(maps.regions.to_source(key)));
        part.values.erased().for_each(|key| m.values.free(maps.values.to_source(key)));
        part.exts.erased().for_each(|key| m.exts.free(maps.exts.to_source(key)));
        for (len, starts) in part.free_operands.iter().enumerate() {
            if m.free_operands.len() <= len {
                m.free_operands.resize(len + 1, Vec::new());
            }
            m.free_operands[len].extend(starts.iter().map(|&start| maps.operands.to_source(Use(start)).0));
        }
    }
}

/// Appends all ops in the body of a module to a block of another one.
pub(crate) fn append_module(m: &mut Module, block: Block, mut other: Module) {
    let body = other.body();
    let ops: Vec<Op> = other.block_ops(body).collect();
    for &op in &ops {
        let row = &mut other.ops[op];
        (row.parent, row.prev, row.next) = (PackedOption::NONE, PackedOption::NONE, PackedOption::NONE);
    }
    let mut part = ModulePart { module: other, maps: RowMaps::all_new() };
    part.append_new(m);
    part.copy_back_rows(m);
    part.free_erased(m);
    for op in ops {
        m.append_op(block, part.maps.ops.to_source(op));
    }
}

/// Replaces functions that were split off by unregistered placeholder ops.
pub(crate) fn leave_placeholders(m: &mut Module, functions: &[Op]) {
    let name = m.ctx.op_name("gradus.placeholder");
    for &function in functions {
        let row = &mut m.ops[function];
        (row.name, row.ext, row.props, row.attrs) = (name, PackedOption::NONE, Attr::EMPTY_DICT, Attr::EMPTY_DICT);
    }
}

/// Creates a module whose root is an empty copy of `op`.
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

    /// Erases and creates ops, operands, blocks and regions.
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

    /// Checks that use lists, parent links and sibling links are consistent.
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
    fn merged_parts_equal_the_module_transformed_in_place() {
        let text = TEXT.repeat(4);
        let (mut m, mut whole) = (program(&text), program(&text));
        for round in 0..3 {
            let all = functions(&m);
            let mut parts: Vec<ModulePart> =
                [1..2, 2..4].map(|r| ModulePart::split(&m, m.root(), &all[r], None).expect("isolated")).into();
            leave_placeholders(&mut m, &all[1..]);
            for part in &mut parts {
                part.functions().into_iter().for_each(|f| change(&mut part.module, f, round));
                check(&part.module);
            }
            change(&mut m, all[0], round);
            parts.into_iter().for_each(|part| drop(part.merge(&mut m)));
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
    fn splitting_and_merging_does_not_grow_the_tables() {
        let mut m = program(&TEXT.repeat(4));
        let rows = m.ops.capacity();
        let text = m.to_text(PrintOptions::default());
        let mut spare = None;
        for _ in 0..5 {
            let all = functions(&m);
            let part = ModulePart::split(&m, m.root(), &all, spare).expect("isolated");
            leave_placeholders(&mut m, &all);
            spare = Some(part.merge(&mut m));
            assert_eq!(m.to_text(PrintOptions::default()), text);
        }
        check(&m);
        assert_eq!(m.ops.capacity(), rows);
    }

    #[test]
    fn functions_that_are_not_isolated_are_not_split_off() {
        let m = program("%0 = \"t.def\"() : () -> i32\n\"t.f\"() ({\n\"t.use\"(%0) : (i32) -> ()\n}) : () -> ()");
        let all = functions(&m);
        assert!(ModulePart::split(&m, m.root(), &all[1..], None).is_none());
        assert!(ModulePart::split(&m, m.root(), &all[..1], None).is_none());
        assert!(ModulePart::split(&m, m.root(), &all, None).is_some());
    }
}
