//! The table rows that belong to a set of functions.

use super::row_maps::{RowMap, RowMaps};
use crate::entity::Entity;
use crate::module::{Module, Op};
use std::ops::Range;

/// Maximum ratio of copied rows to rows that belong to the functions.
const MAX_SPREAD: usize = 4;

/// A collector of the rows that belong to a set of functions, for all tables.
pub(super) struct RowCollector {
    ops: RowSet,
    blocks: RowSet,
    regions: RowSet,
    values: RowSet,
    exts: RowSet,
    operands: RowSet,
}

/// The collected rows of one table.
struct RowSet {
    included: Vec<bool>,
    count: usize,
    first: usize,
    end: usize,
}

impl RowSet {
    fn new(rows: usize) -> RowSet {
        RowSet { included: vec![false; rows], count: 0, first: rows, end: 0 }
    }

    #[inline]
    fn add(&mut self, rows: Range<usize>) {
        self.count += rows.len();
        if !rows.is_empty() {
            (self.first, self.end) = (self.first.min(rows.start), self.end.max(rows.end));
            self.included[rows].fill(true);
        }
    }

    fn map(self, start: usize) -> Option<RowMap> {
        let source = if self.count == 0 { 0..0 } else { self.first..self.end };
        let fits = source.len() <= MAX_SPREAD * self.count + 1024;
        fits.then(|| RowMap { included: self.included[source.clone()].to_vec(), source, start, new: 0 })
    }
}

impl RowCollector {
    pub(super) fn new(m: &Module) -> RowCollector {
        RowCollector {
            ops: RowSet::new(m.ops.capacity()),
            blocks: RowSet::new(m.blocks.capacity()),
            regions: RowSet::new(m.regions.capacity()),
            values: RowSet::new(m.values.capacity()),
            exts: RowSet::new(m.exts.capacity()),
            operands: RowSet::new(m.operand_values.len()),
        }
    }

    /// Collects the rows of the functions. In the part, one row precedes them in the tables of ops, blocks, regions and
    /// extensions: that of its root. `None` if the rows are too scattered.
    pub(super) fn maps(mut self, m: &Module, functions: &[Op]) -> Option<RowMaps> {
        let mut stack = functions.to_vec();
        while let Some(op) = stack.pop() {
            self.op(m, op);
            for &region in m.regions(op) {
                self.regions.add(region.index()..region.index() + 1);
                for block in m.region_blocks(region) {
                    self.blocks.add(block.index()..block.index() + 1);
                    m.block_args(block).iter().for_each(|arg| self.values.add(arg.index()..arg.index() + 1));
                    for inner in m.block_ops(block) {
                        match m.regions(inner) {
                            [] => self.op(m, inner),
                            _ => stack.push(inner),
                        }
                    }
                }
            }
        }
        Some(RowMaps {
            ops: self.ops.map(1)?,
            blocks: self.blocks.map(1)?,
            regions: self.regions.map(1)?,
            values: self.values.map(0)?,
            exts: self.exts.map(1)?,
            operands: self.operands.map(0)?,
        })
    }

    #[inline]
    fn op(&mut self, m: &Module, op: Op) {
        let row = &m.ops[op];
        let range = |(start, len): (u32, u32)| start as usize..(start + len) as usize;
        self.ops.add(op.index()..op.index() + 1);
        self.values.add(range(row.results));
        self.operands.add(range(row.operands));
        if let Some(ext) = row.ext.get() {
            self.exts.add(ext.index()..ext.index() + 1);
        }
    }
}
