//! Rollback and commit of a pattern's changes.

use super::journal::JournalEntry;
use super::rewriter::ConversionRewriter;
use crate::module::{Block, Op, ValueList};
use crate::rewriting::pattern_rewriter::Change;
use smallvec::SmallVec;

/// Objects created by changes that were rolled back, freed once they have no uses.
#[derive(Default)]
struct Dead {
    ops: Vec<Op>,
    blocks: Vec<Block>,
    args: ValueList,
}

impl ConversionRewriter<'_> {
    /// Rolls back all changes after the first `keep`.
    pub(super) fn rollback(&mut self, keep: usize) {
        let mut dead = Dead::default();
        while self.journal.entries.len() > keep {
            if let Some(entry) = self.journal.entries.pop() {
                self.undo(entry, &mut dead);
            }
        }
        for op in dead.ops {
            self.module.erase_op(op);
        }
        for arg in dead.args {
            self.module.free_arg(arg);
        }
        for block in dead.blocks {
            self.module.free_block(block);
        }
    }

    fn undo(&mut self, entry: JournalEntry, dead: &mut Dead) {
        match &entry {
            JournalEntry::Modified(snapshot) => self.touch_symbols(snapshot.op),
            JournalEntry::Change(Change::Created(op) | Change::Cloned { copy: op, .. }) => self.touch_symbols(*op),
            _ => {}
        }
        let m = &mut *self.module;
        match entry {
            JournalEntry::Change(change) => self.undo_change(change, dead),
            JournalEntry::Operands(op, start) => {
                m.set_operands(op, &self.journal.values[start as usize..]);
                self.journal.values.truncate(start as usize);
            }
            JournalEntry::Erased(op, block, next) => {
                m.insert_op(block, op, next);
                self.set_erased(op, false);
            }
            JournalEntry::BlockErased(block, region, next) => m.insert_block(region, block, next),
            JournalEntry::Modified(snapshot) => snapshot.restore(m),
            JournalEntry::Args(mut change) => {
                m.swap_block_args(change.block, &mut change.before);
                dead.args.extend(change.made);
            }
        }
    }

    fn undo_change(&mut self, change: Change, dead: &mut Dead) {
        let m = &mut *self.module;
        match change {
            Change::Created(op) | Change::Cloned { copy: op, .. } => {
                m.unlink_op(op);
                for inner in m.ops_under(op) {
                    m.set_operands(inner, &[]);
                    self.casts.forget(inner);
                }
                dead.ops.push(op);
            }
            Change::Operand { op, index, old } => m.set_operand(op, index as usize, old),
            Change::Moved { first, last, from, next } => m.move_ops(first, last, from, next),
            Change::BlockCreated(block) => {
                m.unlink_block(block);
                dead.blocks.push(block);
            }
            Change::ArgAdded(block) => m.erase_block_arg(block, m.block_args(block).len() - 1),
            Change::BlockMoved { block, from, next } => {
                m.unlink_block(block);
                m.insert_block(from, block, next);
            }
        }
    }

    /// Commits all changes.
    pub(super) fn commit(&mut self) {
        let mut values = std::mem::take(&mut self.journal.values);
        let casts: SmallVec<[Op; 8]> = values.drain(..).filter_map(|v| self.casts.source_of(self.module, v)).collect();
        self.journal.values = values;
        let mut entries = std::mem::take(&mut self.journal.entries);
        for entry in entries.drain(..) {
            match entry {
                JournalEntry::Erased(op, ..) => self.free(op),
                JournalEntry::BlockErased(block, ..) => self.module.free_block(block),
                JournalEntry::Args(change) => change.gone.into_iter().for_each(|arg| self.module.free_arg(arg)),
                _ => {}
            }
        }
        self.journal.entries = entries;
        casts.into_iter().for_each(|cast| self.drop_cast(cast));
    }

    /// Erases a cast of a value to its original type once it has no users, unless it was erased already.
    fn drop_cast(&mut self, cast: Op) {
        if self.casts.get(cast).is_some() && self.module.is_unused(self.module.result(cast, 0)) {
            self.free(cast);
        }
    }

    /// Frees an erased op and removes all records of it, since release builds reuse its key.
    fn free(&mut self, op: Op) {
        self.forget(op);
        if !self.module.regions(op).is_empty() {
            self.module.ops_under(op).into_iter().for_each(|inner| self.forget(inner));
        }
        self.module.erase_op(op);
    }

    fn forget(&mut self, op: Op) {
        self.casts.forget(op);
        self.pending[op] = false;
    }
}
