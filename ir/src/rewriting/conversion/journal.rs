//! The journal (undo log) of a pattern's changes, for rollback when the pattern fails.
//!
//! Patterns change the program immediately, so later patterns see the current state. Erased objects are kept until the
//! op under legalization is legal; then the journal is cleared.

use super::types::TypeList;
use crate::edit::BlockArgs;
use crate::intern::Attr;
use crate::module::{Block, Module, Op, Region, Value, ValueList};
use crate::rewriting::pattern_rewriter::Change;
use crate::text::loc::Loc;
use smallvec::SmallVec;

/// A journal entry: the data that undoes one change.
pub(super) enum JournalEntry {
    /// A change reported by any pattern driver.
    Change(Change),
    /// The operands of the op were dropped; start index of the saved operands in the journal's values.
    Operands(Op, u32),
    /// The op was unlinked from this block, before this op.
    Erased(Op, Block, Option<Op>),
    /// The block was unlinked from this region, before this block.
    BlockErased(Block, Region, Option<Block>),
    /// An op was modified in place.
    Modified(Box<Snapshot>),
    /// The arguments of a block were converted.
    Args(Box<ArgsChange>),
}

/// The state of an op before it was modified in place.
pub(super) struct Snapshot {
    pub(super) op: Op,
    loc: Loc,
    operands: ValueList,
    props: Attr,
    attrs: Attr,
    successors: SmallVec<[Block; 2]>,
    result_types: TypeList,
}

impl Snapshot {
    pub(super) fn new(m: &Module, op: Op) -> Snapshot {
        Snapshot {
            op,
            loc: m.loc(op),
            operands: m.operands(op).into(),
            props: m.props(op),
            attrs: m.attrs(op),
            successors: m.successors(op).into(),
            result_types: m.results(op).map(|v| m.value_type(v)).collect(),
        }
    }

    pub(super) fn restore(self, m: &mut Module) {
        m.set_loc(self.op, self.loc);
        m.set_operands(self.op, &self.operands);
        m.set_props(self.op, self.props);
        m.set_attrs(self.op, self.attrs);
        for (i, block) in self.successors.into_iter().enumerate() {
            m.set_successor(self.op, i, block);
        }
        for (result, ty) in m.results(self.op).zip(self.result_types) {
            m.set_value_type(result, ty);
        }
    }
}

/// A conversion of a block's arguments.
pub(super) struct ArgsChange {
    pub(super) block: Block,
    /// The original arguments.
    pub(super) before: BlockArgs,
    /// The original arguments that were removed.
    pub(super) gone: ValueList,
    /// The new arguments.
    pub(super) made: ValueList,
}

/// The changes since the last commit, in order.
#[derive(Default)]
pub(super) struct Journal {
    pub(super) entries: Vec<JournalEntry>,
    pub(super) values: Vec<Value>,
}
