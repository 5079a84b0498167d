//! Layouts of images in bands: groups of whole rows, each with all channels.

use super::{Level, TiledLayout};

/// Returns the letters of the axes of images of a rank for which there are kernels.
pub fn plane_letters(rank: usize) -> Option<&'static str> {
    ["NCW", "NCHW"].get(rank.checked_sub(3)?).copied()
}

/// Returns the layout of images with channels first in bands of `rows` rows, such as `NHC7hW`.
pub fn banded(rank: usize, rows: i64) -> Option<TiledLayout> {
    let letters = plane_letters(rank)?;
    let (first, rest) = letters[2..].split_at(1);
    format!("N{first}C{rows}{}{rest}", first.to_lowercase()).parse().ok()
}

/// Returns the number of bands in which images of these extents with channels first are in a layout: 1 for the row-major one, `None` for
/// those that are no bands of equal rows.
pub fn bands(layout: &TiledLayout, sizes: &[i64]) -> Option<i64> {
    let letters = plane_letters(sizes.len())?;
    if layout.order() == letters {
        return Some(1);
    }
    let rows = layout.levels().iter().find_map(|level: &Level| level.tile).and_then(|n| i64::try_from(n).ok())?;
    let is_banded = banded(sizes.len(), rows)?.order() == layout.order() && sizes[2] > 0 && sizes[2] % rows == 0;
    is_banded.then(|| sizes[2] / rows)
}
