//! Packed rows of A: the tiles of a block, each with the elements of a summand contiguous, for all panels of B.

use super::Product;
use super::kernel::{OffsetWalk, SummandRun, ZEROS};
use gradus_networks::layout::ZERO_PAGE;
use std::ops::Range;

/// The tiles of some rows over a slice of the reduction dimension.
#[derive(Default)]
pub(super) struct PackedRows {
    data: Vec<f32>,
    tiles: Vec<PackedTile>,
}

/// A tile of packed rows.
pub(super) struct PackedTile {
    /// Offset of its first element.
    first: usize,
    /// The runs that it contains: all but padding at both ends.
    runs: Range<usize>,
}

impl PackedRows {
    /// Packs rows through the address table, `tile_rows` per tile. The product's addresses have been checked. Only runs of
    /// indirect tables, which have no offsets, are left out.
    pub(super) fn pack(
        &mut self,
        product: &Product<'_>,
        rows: Range<usize>,
        tile_rows: usize,
        (runs, walk): (&[SummandRun], OffsetWalk),
    ) {
        let of = product.addresses;
        self.tiles.clear();
        let size = rows.len() * runs.len() * of.run();
        if self.data.len() < size {
            self.data.resize(size, 0.0);
        }
        let mut rest = &mut self.data[..];
        let mut first = 0;
        for row in rows.clone().step_by(tile_rows) {
            let tile = row..(row + tile_rows).min(rows.end);
            let there = product.there(tile.clone(), runs);
            let (packed, others) = rest.split_at_mut(tile.len() * there.len() * of.run());
            rest = others;
            let (table, stride) = of.table();
            let table = &table[tile.start * stride..];
            let mut walk = walk;
            for (to, run) in packed.chunks_exact_mut((tile.len() * of.run()).max(1)).zip(&runs[there.clone()]) {
                let offset = walk.next(run);
                let row = |i: usize| match table[i * stride + run.column] {
                    ZERO_PAGE if of.has_holes() => &ZEROS[..of.run()],
                    at => &product.a[(at as isize + offset) as usize..][..of.run()],
                };
                match of.run() {
                    1 => to.iter_mut().enumerate().for_each(|(i, to)| *to = row(i)[0]),
                    _ => interleave(to, tile.len(), row),
                }
            }
            self.tiles.push(PackedTile { first, runs: there });
            first += packed.len();
        }
    }

    /// Returns the tile number `i`: its elements, and the runs that it contains.
    pub(super) fn tile(&self, i: usize) -> (&[f32], Range<usize>) {
        let tile = &self.tiles[i];
        (&self.data[tile.first..], tile.runs.clone())
    }
}

/// Writes rows of equal length interleaved: the first element of each row, then the second of each.
fn interleave<'a>(to: &mut [f32], rows: usize, row: impl Fn(usize) -> &'a [f32]) {
    match rows {
        6 => interleave_all(std::array::from_fn::<_, 6, _>(row), to),
        2 => interleave_all(std::array::from_fn::<_, 2, _>(row), to),
        _ => (0..rows).for_each(|i| to[i..].iter_mut().step_by(rows).zip(row(i)).for_each(|(to, &x)| *to = x)),
    }
}

/// Writes `R` rows interleaved, four elements of each at once.
fn interleave_all<const R: usize>(rows: [&[f32]; R], to: &mut [f32]) {
    let (to, _) = to.as_chunks_mut::<R>();
    let (quads, last) = to.as_chunks_mut::<4>();
    let whole = quads.len();
    for (k, to) in quads.iter_mut().enumerate() {
        for i in 0..R {
            let some = &rows[i].as_chunks::<4>().0[k];
            for j in 0..4 {
                to[j][i] = some[j];
            }
        }
    }
    for (j, to) in last.iter_mut().enumerate() {
        for i in 0..R {
            to[i] = rows[i][4 * whole + j];
        }
    }
}
