//! The journal of a pattern's changes, by which they are undone when the pattern fails.
//!
//! Patterns change the program at once, so that they and those after them see it as it is. What they erase stays aside
//! until the op that the driver was asked to legalize has become legal; then the journal is emptied.

use super::types::TypeList;
use crate::edit::BlockArgs;
use crate::intern::Attr;
use crate::loc::Loc;
use crate::module::{Block, Module, Op, Region, Value, ValueList};
use crate::pattern_rewriter::Change;
use smallvec::SmallVec;

/// What it takes to undo a change.
pub(super) enum Entry {
    /// A change that every driver hears of.
    Change(Change),
    /// The op lost its operands: the journal's values from here on.
    Operands(Op, u32),
    /// The op was taken out of this block, before this op.
    Erased(Op, Block, Option<Op>),
    /// The block was taken out of this region, before this block.
    BlockErased(Block, Region, Option<Block>),
    /// An op was changed in place.
    Modified(Box<Snapshot>),
    /// A block got other arguments.
    Args(Box<ArgsChange>),
}

/// An op before it was changed in place.
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

/// Other arguments of a block.
pub(super) struct ArgsChange {
    pub(super) block: Block,
    /// All arguments before.
    pub(super) before: BlockArgs,
    /// Those that the block does not have any more.
    pub(super) gone: ValueList,
    /// Those that it did not have before.
    pub(super) made: ValueList,
}

/// Changes since the last commit, in order.
#[derive(Default)]
pub(super) struct Journal {
    pub(super) entries: Vec<Entry>,
    pub(super) values: Vec<Value>,
}
