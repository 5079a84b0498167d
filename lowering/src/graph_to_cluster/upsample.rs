//! Nearest upsampling: a copy of the input to each phase of the output, the rows and columns at a distance of the factors.

use super::region::Region;
use gradus_simulators::cluster::Tile;

/// The rows or columns of a box that are at one phase: the first of them, and the index of its source.
struct PhaseRange {
    first: u32,
    source: u32,
    count: u32,
}

/// Returns the phases of a range of an axis, none of which is empty.
fn phases(factor: u32, lo: u32, hi: u32) -> impl Iterator<Item = PhaseRange> {
    let of = move |first: u32| PhaseRange { first, source: first / factor, count: (hi - first).div_ceil(factor) };
    (lo..hi.min(lo + factor)).map(of)
}

/// Returns the tiles of each copy, of the input and of the output. `input` has the box `needed`, and `output` the box `region`.
pub fn copies(factors: [u32; 2], [input, output]: [Tile; 2], [needed, region]: [&Region; 2]) -> Vec<[Tile; 2]> {
    let of_axis = |i: usize| phases(factors[i], region.lo[i], region.hi[i]);
    let copy = |rows: &PhaseRange, cols: PhaseRange| {
        let size = |tile: Tile| Tile { rows: rows.count, cols: cols.count, ..tile };
        let from = [rows.source - needed.lo[0], cols.source - needed.lo[1]];
        let to = [rows.first - region.lo[0], cols.first - region.lo[1]];
        let offset = |tile: Tile, at: [u32; 2]| tile.offset + at[0] * tile.row + at[1] * tile.pixel;
        let output = Tile {
            offset: offset(output, to),
            row: factors[0] * output.row,
            pixel: factors[1] * output.pixel,
            ..size(output)
        };
        [Tile { offset: offset(input, from), ..size(input) }, output]
    };
    of_axis(0).flat_map(|rows| of_axis(1).map(move |cols| copy(&rows, cols)).collect::<Vec<_>>()).collect()
}
