//! The casts between original and converted types while a conversion runs.

use super::types::TypeConverter;
use crate::builder::InsertPoint;
use crate::entity::SideTable;
use crate::intern::{Attr, OpName, Type};
use crate::module::{Module, Op, Value};
use crate::text::loc::Loc;
use rustc_hash::FxHashMap;

/// The op that casts a value to other types during a conversion.
pub const CAST: &str = "builtin.unrealized_conversion_cast";

/// The direction of a cast.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Direction {
    /// Source materialization: from the replacement of a value to its original type.
    Source,
    /// Target materialization: from the replacement of a value of this original type to the types that a pattern
    /// expects.
    Target(Type),
}

/// A cast created by the driver.
pub(super) struct Materialization<'a> {
    pub(super) op: Op,
    pub(super) direction: Direction,
    pub(super) types: Option<&'a TypeConverter>,
}

/// All casts created by the driver.
pub(super) struct Casts<'a> {
    name: OpName,
    made: Vec<Materialization<'a>>,
    /// Index of each cast in `made`, plus one; 0 for other ops.
    index: SideTable<Op, u32>,
    /// The cast of each value to each type, shared by its users.
    shared: FxHashMap<(Value, Type), Op>,
}

impl<'a> Casts<'a> {
    pub(super) fn new(m: &Module) -> Self {
        let name = m.ctx.op_name(CAST);
        Casts { name, made: Vec::new(), index: SideTable::new(0), shared: FxHashMap::default() }
    }

    /// Creates a cast.
    pub(super) fn make(
        &mut self,
        m: &mut Module,
        at: InsertPoint,
        (inputs, types): (&[Value], &[Type]),
        direction: Direction,
        loc: Loc,
        converter: Option<&'a TypeConverter>,
    ) -> Op {
        let (block, next) = at.place(m);
        let op = m.create_raw(self.name, loc, inputs, types, Attr::EMPTY_DICT, Attr::EMPTY_DICT, &[], 0);
        m.insert_op(block, op, next);
        self.made.push(Materialization { op, direction, types: converter });
        self.index[op] = self.made.len() as u32;
        if let (&[input], &[ty], Direction::Target(_)) = (inputs, types, direction) {
            self.shared.insert((input, ty), op);
        }
        op
    }

    /// Records that `copy` is a copy of `from`; without effect unless `from` is a cast.
    pub(super) fn copy(&mut self, from: Op, copy: Op) {
        if let Some(&Materialization { direction, types, .. }) = self.get(from) {
            self.made.push(Materialization { op: copy, direction, types });
            self.index[copy] = self.made.len() as u32;
        }
    }

    /// Returns the existing cast of `input` to `ty`. An entry may be stale: its key may have been reused, or its
    /// operand replaced.
    pub(super) fn existing(&self, m: &Module, input: Value, ty: Type) -> Option<Value> {
        let op = *self.shared.get(&(input, ty))?;
        let same = self.get(op).is_some() && m.operands(op) == [input] && m.value_type(m.result(op, 0)) == ty;
        same.then(|| m.result(op, 0))
    }

    /// Returns the record of a cast created by the driver.
    pub(super) fn get(&self, op: Op) -> Option<&Materialization<'a>> {
        let index = self.index[op].checked_sub(1)?;
        Some(&self.made[index as usize])
    }

    /// Returns the driver's cast that defines `value` with its original type.
    pub(super) fn source_of(&self, m: &Module, value: Value) -> Option<Op> {
        let op = m.defining_op(value)?;
        self.get(op).is_some_and(|c| c.direction == Direction::Source).then_some(op)
    }

    /// Removes an op that is about to be erased.
    pub(super) fn forget(&mut self, op: Op) {
        // Ops with keys beyond the last cast have no row.
        if self.index[op] > 0 {
            self.index[op] = 0;
        }
    }

    /// Returns the live casts in creation order.
    pub(super) fn alive(&self) -> Vec<Op> {
        let rows = self.made.iter().enumerate();
        rows.filter(|(i, c)| self.index[c.op] == *i as u32 + 1).map(|(_, c)| c.op).collect()
    }
}
