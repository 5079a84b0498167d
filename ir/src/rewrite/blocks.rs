//! What patterns do to blocks and regions.

use super::Rewriter;
use crate::builder::Builder;
use crate::edit::OpState;
use crate::module::{Block, Module, Op, Region, Value, ValueList};
use crate::op_info::{Traits, ValueSpec, group_range, segment_sizes};

impl Rewriter<'_> {
    /// Makes ops before `op`.
    pub fn build_before<R>(&mut self, op: Op, make: impl FnOnce(&mut Builder<'_>) -> R) -> R {
        let block = self.module.parent_block(op).expect("the op is in a block");
        self.build(block, Some(op), make)
    }

    /// Makes ops at the end of a block.
    pub fn build_at_end<R>(&mut self, block: Block, make: impl FnOnce(&mut Builder<'_>) -> R) -> R {
        self.build(block, None, make)
    }

    fn build<R>(&mut self, block: Block, before: Option<Op>, make: impl FnOnce(&mut Builder<'_>) -> R) -> R {
        let previous = |m: &Module, op: Option<Op>| op.map_or(m.last_op(block), |op| m.prev_op(op));
        let old = previous(self.module, before);
        let mut builder = match before {
            Some(op) => Builder::before(self.module, op),
            None => Builder::at_end(self.module, block),
        };
        let result = make(&mut builder);
        let mut new = previous(self.module, before);
        while new != old {
            let op = new.expect("what was there before is still there");
            self.push(op);
            new = self.module.prev_op(op);
        }
        result
    }

    /// Makes every use of `old` a use of `new`.
    pub fn replace_uses(&mut self, old: Value, new: Value) {
        self.replace_uses_if(old, new, |_, _, _| true);
    }

    /// Makes those uses of `old` uses of `new` for which `which` holds; it gets the user and the number of the operand.
    /// Whether there were any.
    pub fn replace_uses_if(&mut self, old: Value, new: Value, which: impl Fn(&Module, Op, usize) -> bool) -> bool {
        if old == new {
            return false;
        }
        let uses: Vec<(Op, usize)> = self.module.uses(old).filter(|&(op, i)| which(self.module, op, i)).collect();
        for &(user, i) in &uses {
            self.module.set_operand(user, i, new);
            self.push(user);
        }
        if !uses.is_empty() {
            self.changes += 1;
            self.push_source(old);
        }
        !uses.is_empty()
    }

    /// Moves the ops of a block before `op`, with `args` for its arguments, and erases the block.
    pub fn inline_block_before(&mut self, block: Block, op: Op, args: &[Value]) {
        let home = self.module.parent_block(op).expect("the op is in a block");
        self.inline_block(block, home, Some(op), args);
    }

    /// Moves the ops of a block to the end of `home`, with `args` for its arguments, and erases the block.
    pub fn merge_blocks(&mut self, block: Block, home: Block, args: &[Value]) {
        self.inline_block(block, home, None, args);
    }

    fn inline_block(&mut self, block: Block, home: Block, before: Option<Op>, args: &[Value]) {
        self.changes += 1;
        let own: ValueList = self.module.block_args(block).into();
        for (old, &new) in own.into_iter().zip(args) {
            self.replace_uses(old, new);
        }
        let ops: Vec<Op> = self.module.block_ops(block).collect();
        for &op in &ops {
            self.module.unlink_op(op);
            self.module.insert_op(home, op, before);
        }
        // The first is looked at first.
        for &op in ops.iter().rev() {
            self.push(op);
        }
        if let Some(&first) = ops.first() {
            self.push_around(first);
        }
        self.module.erase_block(block);
    }

    /// Replaces `op` by the ops of one of its regions, which has one block, with `args` for the block's arguments. The
    /// operands of the block's terminator stand for the results.
    pub fn replace_with_region(&mut self, op: Op, region: Region, args: &[Value]) {
        let block = self.module.only_block(region);
        let end = self.module.last_op(block).expect("the block has a terminator");
        self.inline_block_before(block, op, args);
        let values: ValueList = self.module.operands(end).into();
        self.replace(op, &values);
        self.erase(end);
    }

    /// Moves `op` and all after it to a new block, which follows.
    pub fn split_block(&mut self, op: Op) -> Block {
        self.changes += 1;
        self.module.split_block(op)
    }

    /// Moves `op` before another.
    pub fn move_before(&mut self, op: Op, before: Op) {
        self.changes += 1;
        self.module.move_before(op, before);
        self.push(op);
    }

    /// Moves all blocks of a region to the end of another one.
    pub fn inline_region(&mut self, from: Region, to: Region) {
        self.changes += 1;
        self.module.move_blocks(from, to);
    }

    /// Moves all blocks of a region before a block of another one.
    pub fn inline_region_before(&mut self, region: Region, before: Block) {
        self.changes += 1;
        self.module.move_blocks_before(region, before);
    }

    /// Erases a block and its ops. Their values may only be used inside it, and no branch from elsewhere may go there.
    pub fn erase_block(&mut self, block: Block) {
        self.changes += 1;
        let ops: Vec<Op> = self.module.block_ops(block).collect();
        for op in ops.into_iter().rev() {
            self.erase(op);
        }
        self.module.erase_block(block);
    }

    /// Adds an argument to a block, with the type of `like`.
    pub fn add_block_arg(&mut self, block: Block, like: Value) -> Value {
        self.changes += 1;
        let (ty, loc) = (self.module.value_type(like), self.module.value_loc(like));
        self.module.add_block_arg(block, ty, loc)
    }

    /// Replaces `op` by an op made from `state`, which gets its regions. Result `b` of the new op takes the place of
    /// result `a` of the old one for each `(a, b)`; other results of the old one must be unused.
    pub fn rebuild(&mut self, op: Op, state: OpState, results: impl IntoIterator<Item = (usize, usize)>) -> Op {
        self.rebuild_before(op, op, state, results)
    }

    /// The same, with the new op before another one.
    pub fn rebuild_before(
        &mut self,
        op: Op,
        before: Op,
        state: OpState,
        results: impl IntoIterator<Item = (usize, usize)>,
    ) -> Op {
        let block = self.module.parent_block(before).expect("the op is in a block");
        let new = self.module.create_op(state);
        self.module.insert_op(block, new, Some(before));
        self.module.move_regions(op, new);
        for (a, b) in results {
            let (old, result) = (self.module.result(op, a), self.module.result(new, b));
            self.replace_uses(old, result);
        }
        self.push(new);
        self.erase(op);
        new
    }

    /// Replaces `op` by one without the operands and results for which the functions say `false`; regions and attributes
    /// stay. The dropped results must be unused.
    pub fn shrink(&mut self, op: Op, keep_operand: impl Fn(usize) -> bool, keep_result: impl Fn(usize) -> bool) -> Op {
        let m = &mut *self.module;
        shrink_segments(m, op, &keep_operand, &keep_result);
        let mut state = OpState::like(m, op);
        let operands = m.operands(op).iter().enumerate().filter(|&(i, _)| keep_operand(i));
        state.operands = operands.map(|(_, &v)| v).collect();
        let kept: Vec<usize> = (0..m.num_results(op)).filter(|&i| keep_result(i)).collect();
        state.result_types = kept.iter().map(|&i| m.value_type(m.result(op, i))).collect();
        if kept.len() < m.num_results(op) {
            return self.rebuild(op, state, kept.into_iter().enumerate().map(|(new, old)| (old, new)));
        }
        self.modify(op, |m| m.set_operands(op, &state.operands));
        op
    }

    /// Erases the arguments of a block for which `keep` says `false`; they must be unused.
    pub fn shrink_block_args(&mut self, block: Block, keep: impl Fn(usize) -> bool) {
        for i in (0..self.module.block_args(block).len()).rev().filter(|&i| !keep(i)) {
            self.module.erase_block_arg(block, i);
            self.changes += 1;
        }
    }
}

/// Updates the segment sizes of an op that is about to lose operands and results.
fn shrink_segments(m: &mut Module, op: Op, operand: &dyn Fn(usize) -> bool, result: &dyn Fn(usize) -> bool) {
    let Some(info) = m.info(op) else { return };
    #[allow(clippy::type_complexity, reason = "a table of two rows")]
    let sized: [(Traits, &str, &[ValueSpec], usize, &dyn Fn(usize) -> bool); 2] = [
        (Traits::OPERAND_SEGMENTS, "operandSegmentSizes", info.operands, m.operands(op).len(), operand),
        (Traits::RESULT_SEGMENTS, "resultSegmentSizes", info.results, m.num_results(op), result),
    ];
    for (trait_, name, specs, total, keep) in sized {
        if !info.traits.has(trait_) {
            continue;
        }
        let sizes = segment_sizes(&m.ctx, m.props(op), name);
        let group = |i: usize| group_range(specs, sizes.as_deref(), total, i).filter(|&at| keep(at)).count() as i32;
        let sizes: Vec<i32> = (0..specs.len()).map(group).collect();
        let attr = m.ctx.i32_array_attr(&sizes);
        m.set_attr(op, name, Some(attr));
    }
}
