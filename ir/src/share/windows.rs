//! Windows of tables: which rows at home are which rows in a share, and how keys in them are replaced on the way.

use crate::entity::{Entity, Packed, Table};
use crate::module::{
    Block, BlockData, Def, Ext, ExtData, Link, Module, Op, OpData, Region, RegionData, Use, Value, ValueData,
};
use std::ops::Range;

/// The windows of all tables.
pub(super) struct Windows {
    pub(super) ops: Window,
    pub(super) blocks: Window,
    pub(super) regions: Window,
    pub(super) values: Window,
    pub(super) exts: Window,
    pub(super) operands: Window,
}

/// Rows of a table at home that were copied into the same table of a share, after rows that only the share has.
pub(super) struct Window {
    /// The rows at home.
    pub(super) home: Range<usize>,
    /// Where they begin in the share.
    pub(super) start: usize,
    /// Which of them belong to the share.
    pub(super) mine: Vec<bool>,
    /// Where rows that are new in the share go at home.
    pub(super) new: usize,
}

impl Window {
    /// The key here of a key at home. `None` for one that does not belong to the share.
    #[inline]
    pub(super) fn here<K: Entity>(&self, key: K) -> Option<K> {
        let i = key.index().wrapping_sub(self.home.start);
        self.mine.get(i).is_some_and(|mine| *mine).then(|| K::new(self.start + i))
    }

    /// The key here of a key at home that is known to belong to the share: its owner was claimed with it.
    #[inline]
    pub(super) fn own<K: Entity>(&self, key: Packed<K>) -> Packed<K> {
        key.map(|key: K| K::new(key.index() - self.home.start + self.start))
    }

    /// The key at home of a key here.
    #[inline]
    pub(super) fn there<K: Entity>(&self, key: K) -> K {
        let i = key.index() - self.start;
        K::new(if i < self.home.len() { self.home.start + i } else { self.new + (i - self.home.len()) })
    }

    #[inline]
    pub(super) fn there_packed<K: Entity>(&self, key: Packed<K>) -> Packed<K> {
        key.map(|key| self.there(key))
    }

    /// The keys here of the rows that were copied and belong to the share.
    pub(super) fn taken<K: Entity>(&self) -> impl Iterator<Item = K> + '_ {
        self.mine.iter().enumerate().filter(|(_, mine)| **mine).map(|(i, _)| K::new(self.start + i))
    }

    /// The keys here of all rows that are to go home: those that were copied, and new ones.
    pub(super) fn live<K: Entity, V>(&self, table: &Table<K, V>) -> impl Iterator<Item = K> + use<K, V> {
        let mut live = vec![false; self.start];
        live.extend_from_slice(&self.mine);
        live.resize(table.capacity(), true);
        table.erased().for_each(|key| live[key.index()] = false);
        live.into_iter().enumerate().filter(|(_, live)| *live).map(|(i, _)| K::new(i))
    }

    /// Makes room at home for rows that are new here.
    pub(super) fn make_room<K: Entity, V: Clone>(&mut self, here: &Table<K, V>, home: &mut Table<K, V>) {
        self.new = home.capacity();
        for row in &here.rows()[self.start + self.home.len()..] {
            home.push_new(row.clone());
        }
    }
}

impl Windows {
    /// Windows without rows: all that the share has, but for the rows of its root, is new.
    pub(super) fn of_nothing() -> Windows {
        let window = |start| Window { home: 0..0, start, mine: Vec::new(), new: 0 };
        Windows {
            ops: window(1),
            blocks: window(1),
            regions: window(1),
            values: window(0),
            exts: window(1),
            operands: window(0),
        }
    }
}

/// From home to here. `None` when a key belongs to something outside: only operands, the uses of values and the blocks that
/// a branch goes to can lead there.
impl Windows {
    pub(super) fn rename_ops(&self, ops: &mut Table<Op, OpData>) -> Option<()> {
        for op in self.ops.taken::<Op>() {
            let row = &mut ops[op];
            // Only a function is in a block that is not taken; it is linked later.
            row.parent = row.parent.get().and_then(|block| self.blocks.here(block)).into();
            (row.prev, row.next) = match row.parent == Packed::NONE {
                true => (Packed::NONE, Packed::NONE),
                false => (self.ops.own(row.prev), self.ops.own(row.next)),
            };
            row.ext = self.exts.own(row.ext);
            row.operands.0 = if row.operands.1 > 0 { self.operands.here(Use(row.operands.0))?.0 } else { 0 };
            row.results.0 = if row.results.1 > 0 { self.values.here(Value(row.results.0))?.0 } else { 0 };
        }
        Some(())
    }

    pub(super) fn rename_values(
        &self,
        values: &mut Table<Value, ValueData>,
        operand_values: &mut [Value],
        links: &mut [Link],
    ) -> Option<()> {
        for value in self.values.taken::<Value>() {
            let row = &mut values[value];
            row.first_use = match row.first_use.get() {
                None => Packed::NONE,
                Some(at) => self.operands.here(at)?.into(),
            };
            row.def = match row.def {
                Def::Result(op, i) => Def::Result(self.ops.here(op)?, i),
                Def::Arg(block, i) => Def::Arg(self.blocks.here(block)?, i),
            };
        }
        for at in self.operands.taken::<Use>() {
            let value = &mut operand_values[at.index()];
            *value = self.values.here(*value)?;
            let Link { owner, prev, next } = &mut links[at.index()];
            *owner = self.ops.here(*owner)?;
            for place in [prev, next] {
                if let Some(at) = place.get() {
                    *place = self.operands.here(at)?.into();
                }
            }
        }
        Some(())
    }

    pub(super) fn rename_blocks(
        &self,
        blocks: &mut Table<Block, BlockData>,
        regions: &mut Table<Region, RegionData>,
        exts: &mut Table<Ext, ExtData>,
    ) -> Option<()> {
        for region in self.regions.taken::<Region>() {
            let row = &mut regions[region];
            row.parent = self.ops.own(row.parent);
            (row.first, row.last) = (self.blocks.own(row.first), self.blocks.own(row.last));
        }
        for block in self.blocks.taken::<Block>() {
            let row = &mut blocks[block];
            row.parent = self.regions.own(row.parent);
            (row.prev, row.next) = (self.blocks.own(row.prev), self.blocks.own(row.next));
            (row.first, row.last) = (self.ops.own(row.first), self.ops.own(row.last));
            for arg in &mut row.args {
                *arg = self.values.here(*arg)?;
            }
        }
        for ext in self.exts.taken::<Ext>() {
            let row = &mut exts[ext];
            for region in &mut row.regions {
                *region = self.regions.here(*region)?;
            }
            for block in &mut row.successors {
                *block = self.blocks.here(*block)?;
            }
        }
        Some(())
    }
}

/// From here to home.
impl Windows {
    pub(super) fn return_ops(&self, here: &Module, ops: &mut Table<Op, OpData>) {
        for op in self.ops.live(&here.ops) {
            let mut row = here.ops[op].clone();
            row.operands.0 = if row.operands.1 > 0 { self.operands.there(Use(row.operands.0)).0 } else { 0 };
            row.results.0 = if row.results.1 > 0 { self.values.there(Value(row.results.0)).0 } else { 0 };
            row.parent = self.blocks.there_packed(row.parent);
            (row.prev, row.next) = (self.ops.there_packed(row.prev), self.ops.there_packed(row.next));
            row.ext = self.exts.there_packed(row.ext);
            ops[self.ops.there(op)] = row;
        }
    }

    pub(super) fn return_operands(&self, here: &Module, operand_values: &mut [Value], links: &mut [Link]) {
        for op in self.ops.live(&here.ops) {
            let (start, len) = here.ops[op].operands;
            for i in start..start + len {
                let Link { owner, prev, next } = here.links[i as usize];
                let at = self.operands.there(Use(i)).index();
                operand_values[at] = self.values.there(here.operand_values[i as usize]);
                links[at] = Link {
                    owner: self.ops.there(owner),
                    prev: self.operands.there_packed(prev),
                    next: self.operands.there_packed(next),
                };
            }
        }
    }

    pub(super) fn return_values(&self, here: &Module, values: &mut Table<Value, ValueData>) {
        for value in self.values.live(&here.values) {
            let row = &here.values[value];
            let home = &mut values[self.values.there(value)];
            home.ty = row.ty;
            home.first_use = self.operands.there_packed(row.first_use);
            home.def = match row.def {
                Def::Result(op, i) => Def::Result(self.ops.there(op), i),
                Def::Arg(block, i) => Def::Arg(self.blocks.there(block), i),
            };
        }
    }

    /// Blocks, regions, and what ops have of both.
    pub(super) fn return_blocks(
        &self,
        here: &Module,
        blocks: &mut Table<Block, BlockData>,
        regions: &mut Table<Region, RegionData>,
        exts: &mut Table<Ext, ExtData>,
    ) {
        for block in self.blocks.live(&here.blocks) {
            let mut row = here.blocks[block].clone();
            row.parent = self.regions.there_packed(row.parent);
            (row.prev, row.next) = (self.blocks.there_packed(row.prev), self.blocks.there_packed(row.next));
            (row.first, row.last) = (self.ops.there_packed(row.first), self.ops.there_packed(row.last));
            row.args.iter_mut().for_each(|arg| *arg = self.values.there(*arg));
            blocks[self.blocks.there(block)] = row;
        }
        for region in self.regions.live(&here.regions) {
            let row = &here.regions[region];
            let home = &mut regions[self.regions.there(region)];
            home.parent = self.ops.there_packed(row.parent);
            (home.first, home.last) = (self.blocks.there_packed(row.first), self.blocks.there_packed(row.last));
        }
        for ext in self.exts.live(&here.exts) {
            let mut row = here.exts[ext].clone();
            row.regions.iter_mut().for_each(|region| *region = self.regions.there(*region));
            row.successors.iter_mut().for_each(|block| *block = self.blocks.there(*block));
            exts[self.exts.there(ext)] = row;
        }
    }
}
