//! Which rows belong to some functions.

use super::windows::{Window, Windows};
use crate::entity::Entity;
use crate::module::{Module, Op};
use std::ops::Range;

/// A window may hold so many rows for each one that belongs to the share.
const MAX_SPREAD: usize = 4;

/// Finds out which rows belong to some functions.
pub(super) struct Claims {
    ops: Claim,
    blocks: Claim,
    regions: Claim,
    values: Claim,
    exts: Claim,
    operands: Claim,
}

/// The claimed rows of a table.
struct Claim {
    mine: Vec<bool>,
    count: usize,
    first: usize,
    end: usize,
}

impl Claim {
    fn new(rows: usize) -> Claim {
        Claim { mine: vec![false; rows], count: 0, first: rows, end: 0 }
    }

    #[inline]
    fn add(&mut self, rows: Range<usize>) {
        self.count += rows.len();
        if !rows.is_empty() {
            (self.first, self.end) = (self.first.min(rows.start), self.end.max(rows.end));
            self.mine[rows].fill(true);
        }
    }

    fn window(self, start: usize) -> Option<Window> {
        let home = if self.count == 0 { 0..0 } else { self.first..self.end };
        let fits = home.len() <= MAX_SPREAD * self.count + 1024;
        fits.then(|| Window { mine: self.mine[home.clone()].to_vec(), home, start, new: 0 })
    }
}

impl Claims {
    pub(super) fn new(m: &Module) -> Claims {
        Claims {
            ops: Claim::new(m.ops.capacity()),
            blocks: Claim::new(m.blocks.capacity()),
            regions: Claim::new(m.regions.capacity()),
            values: Claim::new(m.values.capacity()),
            exts: Claim::new(m.exts.capacity()),
            operands: Claim::new(m.operand_values.len()),
        }
    }

    /// Claims what is in the functions. A share has one row of its own for its root op, block and region.
    pub(super) fn windows(mut self, m: &Module, functions: &[Op]) -> Option<Windows> {
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
        Some(Windows {
            ops: self.ops.window(1)?,
            blocks: self.blocks.window(1)?,
            regions: self.regions.window(1)?,
            values: self.values.window(0)?,
            exts: self.exts.window(1)?,
            operands: self.operands.window(0)?,
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
