//! What patterns do to blocks and regions.

use super::Rewriter;
use crate::module::{Op, Region, Value, ValueList};

impl Rewriter<'_> {
    /// Makes every use of `old` a use of `new`.
    pub fn replace_uses(&mut self, old: Value, new: Value) {
        if old == new || self.module.is_unused(old) {
            return;
        }
        self.changes += 1;
        self.push_users(old);
        self.module.replace_all_uses(old, new);
    }

    /// Replaces `op` by the ops of one of its regions, which has one block, with `args` for the block's arguments. The
    /// operands of the block's terminator stand for the results.
    pub fn replace_with_region(&mut self, op: Op, region: Region, args: &[Value]) {
        self.changes += 1;
        let home = self.module.parent_block(op).expect("the op is in a block");
        let block = self.module.only_block(region);
        let own: ValueList = self.module.block_args(block).into();
        for (old, &new) in own.into_iter().zip(args) {
            self.replace_uses(old, new);
        }
        let ops: Vec<Op> = self.module.block_ops(block).collect();
        for &inner in &ops {
            self.module.unlink_op(inner);
            self.module.insert_op(home, inner, Some(op));
        }
        // The first is looked at first.
        for &inner in ops.iter().rev() {
            self.push(inner);
        }
        self.module.erase_block(block);
        let end = *ops.last().expect("the block has a terminator");
        let values: ValueList = self.module.operands(end).into();
        self.replace(op, &values);
        self.erase(end);
    }

    /// Moves `op` before another.
    pub fn move_before(&mut self, op: Op, before: Op) {
        self.changes += 1;
        self.module.move_before(op, before);
        self.push(op);
    }
}
