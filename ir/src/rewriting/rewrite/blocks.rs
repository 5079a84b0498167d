//! Rewriter operations on blocks and regions.

use super::Rewriter;
use crate::edit::OpState;
use crate::module::{Block, Module, Op, Region, Value, ValueList};
use crate::op_info::{ValueSpec, group_range, segment_sizes};
use crate::rewriting::pattern_rewriter::PatternRewriter;
use crate::traits::Traits;

impl Rewriter<'_> {
    /// Replaces `op` by the ops of one of its single-block regions, with `args` for the block's arguments. The operands
    /// of the block's terminator replace the results.
    pub fn replace_with_region(&mut self, op: Op, region: Region, args: &[Value]) {
        let block = self.module.only_block(region);
        let end = self.module.last_op(block).expect("the block has a terminator");
        self.inline_block_before(block, op, args);
        let values: ValueList = self.module.operands(end).into();
        self.replace(op, &values);
        self.erase(end);
    }

    /// Appends an argument with the type of `like` to a block.
    pub fn add_block_arg(&mut self, block: Block, like: Value) -> Value {
        self.changes += 1;
        let (ty, loc) = (self.module.value_type(like), self.module.value_loc(like));
        self.module.add_block_arg(block, ty, loc)
    }

    /// Replaces `op` by an op created from `state`, which takes over its regions. Result `b` of the new op replaces
    /// result `a` of the old one for each `(a, b)`; other results of the old one must be unused.
    pub fn rebuild(&mut self, op: Op, state: OpState, results: impl IntoIterator<Item = (usize, usize)>) -> Op {
        self.rebuild_before(op, op, state, results)
    }

    /// [`Rewriter::rebuild`], with the new op inserted before another one.
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
            self.replace_value(old, &[result]);
        }
        self.push(new);
        self.erase(op);
        new
    }

    /// Replaces `op` by one without the operands and results that the functions reject; regions and attributes stay.
    /// The dropped results must be unused.
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

    /// Erases the block arguments that `keep` rejects; they must be unused.
    pub fn shrink_block_args(&mut self, block: Block, keep: impl Fn(usize) -> bool) {
        for i in (0..self.module.block_args(block).len()).rev().filter(|&i| !keep(i)) {
            self.module.erase_block_arg(block, i);
            self.changes += 1;
        }
    }
}

/// Updates the segment sizes of an op before it loses operands and results.
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
