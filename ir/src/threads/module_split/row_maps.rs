//! The correspondence of table rows between a module and a part that was split off, and the remapping of keys.

use crate::entity::{Entity, PackedOption, Table};
use crate::module::{
    Block, BlockData, Def, Ext, ExtData, Module, Op, OpData, Region, RegionData, Use, UseLink, Value, ValueData,
};
use std::ops::Range;

/// The row maps of all tables.
pub(super) struct RowMaps {
    pub(super) ops: RowMap,
    pub(super) blocks: RowMap,
    pub(super) regions: RowMap,
    pub(super) values: RowMap,
    pub(super) exts: RowMap,
    pub(super) operands: RowMap,
}

/// A range of rows that was copied from a table of the source to the same table of a part, after the rows of the part's
/// own root.
pub(super) struct RowMap {
    /// The range of rows in the source.
    pub(super) source: Range<usize>,
    /// Index of its first row in the part.
    pub(super) start: usize,
    /// Whether each row belongs to the part.
    pub(super) included: Vec<bool>,
    /// Index in the source of the first row that is new in the part.
    pub(super) new: usize,
}

impl RowMap {
    /// Maps a key of the source to the part. `None` if its row does not belong to the part.
    #[inline]
    pub(super) fn to_part<K: Entity>(&self, key: K) -> Option<K> {
        let i = key.index().wrapping_sub(self.source.start);
        self.included.get(i).is_some_and(|included| *included).then(|| K::new(self.start + i))
    }

    /// Maps a key of the source to the part, for rows known to belong to it because their owners do.
    #[inline]
    pub(super) fn to_part_known<K: Entity>(&self, key: PackedOption<K>) -> PackedOption<K> {
        key.map(|key: K| K::new(key.index() - self.source.start + self.start))
    }

    /// Maps a key of the part to the source.
    #[inline]
    pub(super) fn to_source<K: Entity>(&self, key: K) -> K {
        let i = key.index() - self.start;
        K::new(if i < self.source.len() { self.source.start + i } else { self.new + (i - self.source.len()) })
    }

    #[inline]
    pub(super) fn to_source_packed<K: Entity>(&self, key: PackedOption<K>) -> PackedOption<K> {
        key.map(|key| self.to_source(key))
    }

    /// Returns the part's keys of the copied rows that belong to the part.
    pub(super) fn copied<K: Entity>(&self) -> impl Iterator<Item = K> + '_ {
        self.included.iter().enumerate().filter(|(_, included)| **included).map(|(i, _)| K::new(self.start + i))
    }

    /// Returns the part's keys of all live rows that belong to the part: copied and new ones.
    pub(super) fn live<K: Entity, V>(&self, table: &Table<K, V>) -> impl Iterator<Item = K> + use<K, V> {
        let mut live = vec![false; self.start];
        live.extend_from_slice(&self.included);
        live.resize(table.capacity(), true);
        table.erased().for_each(|key| live[key.index()] = false);
        live.into_iter().enumerate().filter(|(_, live)| *live).map(|(i, _)| K::new(i))
    }

    /// Appends the rows that are new in the part to the source.
    pub(super) fn append_new<K: Entity, V: Clone>(&mut self, part: &Table<K, V>, source: &mut Table<K, V>) {
        self.new = source.capacity();
        for row in &part.rows()[self.start + self.source.len()..] {
            source.push_new(row.clone());
        }
    }
}

impl RowMaps {
    /// Returns maps of a part all of whose rows, except those of its root, are new.
    pub(super) fn all_new() -> RowMaps {
        let map = |start| RowMap { source: 0..0, start, included: Vec::new(), new: 0 };
        RowMaps { ops: map(1), blocks: map(1), regions: map(1), values: map(0), exts: map(1), operands: map(0) }
    }
}

/// Remapping from the source to a part. `None` if a key belongs to a row outside of the part; only operands, uses of
/// values and successors may refer to such rows.
impl RowMaps {
    pub(super) fn remap_ops(&self, ops: &mut Table<Op, OpData>) -> Option<()> {
        for op in self.ops.copied::<Op>() {
            let row = &mut ops[op];
            // Only the functions themselves have a parent block outside of the part; they are linked later.
            row.parent = row.parent.get().and_then(|block| self.blocks.to_part(block)).into();
            (row.prev, row.next) = match row.parent == PackedOption::NONE {
                true => (PackedOption::NONE, PackedOption::NONE),
                false => (self.ops.to_part_known(row.prev), self.ops.to_part_known(row.next)),
            };
            row.ext = self.exts.to_part_known(row.ext);
            row.operands.0 = if row.operands.1 > 0 { self.operands.to_part(Use(row.operands.0))?.0 } else { 0 };
            row.results.0 = if row.results.1 > 0 { self.values.to_part(Value(row.results.0))?.0 } else { 0 };
        }
        Some(())
    }

    pub(super) fn remap_values(
        &self,
        values: &mut Table<Value, ValueData>,
        operand_values: &mut [Value],
        links: &mut [UseLink],
    ) -> Option<()> {
        for value in self.values.copied::<Value>() {
            let row = &mut values[value];
            row.first_use = match row.first_use.get() {
                None => PackedOption::NONE,
                Some(at) => self.operands.to_part(at)?.into(),
            };
            row.def = match row.def {
                Def::Result(op, i) => Def::Result(self.ops.to_part(op)?, i),
                Def::Arg(block, i) => Def::Arg(self.blocks.to_part(block)?, i),
            };
        }
        for at in self.operands.copied::<Use>() {
            let value = &mut operand_values[at.index()];
            *value = self.values.to_part(*value)?;
            let UseLink { owner, prev, next } = &mut links[at.index()];
            *owner = self.ops.to_part(*owner)?;
            for place in [prev, next] {
                if let Some(at) = place.get() {
                    *place = self.operands.to_part(at)?.into();
                }
            }
        }
        Some(())
    }

    pub(super) fn remap_blocks(
        &self,
        blocks: &mut Table<Block, BlockData>,
        regions: &mut Table<Region, RegionData>,
        exts: &mut Table<Ext, ExtData>,
    ) -> Option<()> {
        for region in self.regions.copied::<Region>() {
            let row = &mut regions[region];
            row.parent = self.ops.to_part_known(row.parent);
            (row.first, row.last) = (self.blocks.to_part_known(row.first), self.blocks.to_part_known(row.last));
        }
        for block in self.blocks.copied::<Block>() {
            let row = &mut blocks[block];
            row.parent = self.regions.to_part_known(row.parent);
            (row.prev, row.next) = (self.blocks.to_part_known(row.prev), self.blocks.to_part_known(row.next));
            (row.first, row.last) = (self.ops.to_part_known(row.first), self.ops.to_part_known(row.last));
            for arg in &mut row.args {
                *arg = self.values.to_part(*arg)?;
            }
        }
        for ext in self.exts.copied::<Ext>() {
            let row = &mut exts[ext];
            for region in &mut row.regions {
                *region = self.regions.to_part(*region)?;
            }
            for block in &mut row.successors {
                *block = self.blocks.to_part(*block)?;
            }
        }
        Some(())
    }
}

/// Remapping from a part to the source.
impl RowMaps {
    pub(super) fn copy_back_ops(&self, part: &Module, ops: &mut Table<Op, OpData>) {
        for op in self.ops.live(&part.ops) {
            let mut row = part.ops[op].clone();
            row.operands.0 = if row.operands.1 > 0 { self.operands.to_source(Use(row.operands.0)).0 } else { 0 };
            row.results.0 = if row.results.1 > 0 { self.values.to_source(Value(row.results.0)).0 } else { 0 };
            row.parent = self.blocks.to_source_packed(row.parent);
            (row.prev, row.next) = (self.ops.to_source_packed(row.prev), self.ops.to_source_packed(row.next));
            row.ext = self.exts.to_source_packed(row.ext);
            ops[self.ops.to_source(op)] = row;
        }
    }

    pub(super) fn copy_back_operands(&self, part: &Module, operand_values: &mut [Value], links: &mut [UseLink]) {
        for op in self.ops.live(&part.ops) {
            let (start, len) = part.ops[op].operands;
            for i in start..start + len {
                let UseLink { owner, prev, next } = part.links[i as usize];
                let at = self.operands.to_source(Use(i)).index();
                operand_values[at] = self.values.to_source(part.operand_values[i as usize]);
                links[at] = UseLink {
                    owner: self.ops.to_source(owner),
                    prev: self.operands.to_source_packed(prev),
                    next: self.operands.to_source_packed(next),
                };
            }
        }
    }

    pub(super) fn copy_back_values(&self, part: &Module, values: &mut Table<Value, ValueData>) {
        for value in self.values.live(&part.values) {
            let row = &part.values[value];
            let source = &mut values[self.values.to_source(value)];
            source.ty = row.ty;
            source.first_use = self.operands.to_source_packed(row.first_use);
            source.def = match row.def {
                Def::Result(op, i) => Def::Result(self.ops.to_source(op), i),
                Def::Arg(block, i) => Def::Arg(self.blocks.to_source(block), i),
            };
        }
    }

    /// Copies back blocks and regions, and the regions and successors of ops.
    pub(super) fn copy_back_blocks(
        &self,
        part: &Module,
        blocks: &mut Table<Block, BlockData>,
        regions: &mut Table<Region, RegionData>,
        exts: &mut Table<Ext, ExtData>,
    ) {
        for block in self.blocks.live(&part.blocks) {
            let mut row = part.blocks[block].clone();
            row.parent = self.regions.to_source_packed(row.parent);
            (row.prev, row.next) = (self.blocks.to_source_packed(row.prev), self.blocks.to_source_packed(row.next));
            (row.first, row.last) = (self.ops.to_source_packed(row.first), self.ops.to_source_packed(row.last));
            row.args.iter_mut().for_each(|arg| *arg = self.values.to_source(*arg));
            blocks[self.blocks.to_source(block)] = row;
        }
        for region in self.regions.live(&part.regions) {
            let row = &part.regions[region];
            let source = &mut regions[self.regions.to_source(region)];
            source.parent = self.ops.to_source_packed(row.parent);
            (source.first, source.last) =
                (self.blocks.to_source_packed(row.first), self.blocks.to_source_packed(row.last));
        }
        for ext in self.exts.live(&part.exts) {
            let mut row = part.exts[ext].clone();
            row.regions.iter_mut().for_each(|region| *region = self.regions.to_source(*region));
            row.successors.iter_mut().for_each(|block| *block = self.blocks.to_source(*block));
            exts[self.exts.to_source(ext)] = row;
        }
    }
}
