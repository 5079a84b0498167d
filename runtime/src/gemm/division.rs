//! How threads divide a product: blocks of rows, with few of these the groups of panels of each block, and with few groups smaller blocks.

use crate::workers::Workers;
use std::ops::Range;

/// Approximate number of rows per block (`mc`). All blocks have about the same size, so that none reads B for few rows.
const MAX_ROWS: usize = 192;

/// One of equally large parts of a product's groups of panels.
#[derive(Clone, Copy)]
pub(super) struct GroupPart {
    index: usize,
    of: usize,
}

impl GroupPart {
    /// Returns the part's groups of `groups`.
    pub fn range(self, groups: usize) -> Range<usize> {
        self.index * groups / self.of..(self.index + 1) * groups / self.of
    }
}

/// The extents of one product, or of several with equally many rows, that threads divide among them.
pub(super) struct SharedExtents {
    /// Number of rows.
    pub rows: usize,
    /// Number of rows per register tile; blocks consist of whole tiles.
    pub tile_rows: usize,
    /// Number of groups of panels of the first product.
    pub groups: usize,
    /// Number of products.
    pub products: usize,
    /// Approximate number of vector operations.
    pub steps: usize,
}

impl SharedExtents {
    /// Calls `compute` for each block with the number of its product, its rows, and its part of the product's groups. All threads get
    /// equally many blocks.
    pub fn share(&self, workers: &Workers, compute: impl Fn(usize, Range<usize>, GroupPart) + Sync) {
        let &SharedExtents { rows, tile_rows, products, .. } = self;
        let groups = self.groups.max(1);
        let threads = workers.for_steps(self.steps);
        let (wanted, blocks) = (if threads > 1 { 2 * threads } else { 1 }, rows.div_ceil(MAX_ROWS).max(1));
        let parts = wanted.div_ceil(blocks * products).min(groups);
        let blocks = blocks.max(wanted.div_ceil(parts * products));
        let is_even = (blocks * parts * products).is_multiple_of(threads);
        let blocks = if is_even { blocks } else { blocks.next_multiple_of(threads) };
        let per_block = rows.div_ceil(blocks).next_multiple_of(tile_rows).max(1);
        let blocks = rows.div_ceil(per_block);
        workers.share(threads, 0..blocks * products * parts, |i| {
            let (block, i) = (i / (products * parts) * per_block, i % (products * parts));
            compute(
                i / parts,
                block.min(rows)..(block + per_block).min(rows),
                GroupPart { index: i % parts, of: parts },
            );
        });
    }
}
