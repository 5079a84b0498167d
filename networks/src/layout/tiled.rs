//! Layout strings such as `HWKD8k8d`: layouts without sizes.

use super::error::LayoutError;
use smallvec::SmallVec;
use std::fmt;

/// Maximum number of levels of a layout.
const MAX_LEVELS: usize = 32;

/// A loop level of a layout string.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Level {
    /// Capital letter of the dimension.
    pub axis: char,
    /// Extent of an inner tile; `None` for the outermost loop of the dimension.
    pub tile: Option<u64>,
}

/// A tiled layout: an order of loops over dimensions and their tiles, outermost first, and the padding value of partial
/// tiles.
///
/// A capital letter is a dimension; a number with a small letter is an inner tile of it. Among several tiles of one
/// dimension, later ones are inner. A tile may precede its dimension: `2wHW` stores all even columns before all odd
/// ones.
///
/// ```
/// use gradus_networks::layout::TiledLayout;
///
/// let weights: TiledLayout = "HWKD8k8d".parse()?;
/// assert_eq!(weights.block(), 64);
/// let layout = weights.of("KHWD", &[8, 3, 3, 16])?;
/// assert_eq!(layout.offset(&[1, 0, 0, 9]), 73);
/// # Ok::<(), gradus_networks::layout::LayoutError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct TiledLayout {
    levels: SmallVec<[Level; 8]>,
    /// Bits of the padding value, so that layouts are comparable.
    pad: u64,
}

impl TiledLayout {
    /// Returns the levels, outermost first.
    pub fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// Returns the padding value of partial tiles, before rounding to the element type.
    pub fn pad(&self) -> f64 {
        f64::from_bits(self.pad)
    }

    /// Returns the same layout with another padding value.
    #[must_use]
    pub fn with_pad(mut self, pad: f64) -> TiledLayout {
        self.pad = pad.to_bits();
        self
    }

    /// Returns the number of elements of the innermost tiles, that is, of the levels inside the last dimension.
    pub fn block(&self) -> u64 {
        self.levels.iter().rev().map_while(|l| l.tile).product()
    }

    /// Returns the product of the tile extents of a dimension, to a multiple of which the dimension is padded.
    pub fn tile(&self, axis: char) -> u64 {
        self.levels.iter().filter(|l| l.axis == axis).filter_map(|l| l.tile).product()
    }

    /// Appends inner levels: `HWC` then `4w4c` is `HWC4w4c`.
    ///
    /// # Errors
    /// When the result is not a valid layout.
    pub fn then(&self, inner: &str) -> Result<TiledLayout, LayoutError> {
        let text = format!("{}{inner}", self.order());
        let pad = self.pad();
        text.parse().map(|l: TiledLayout| l.with_pad(pad))
    }

    /// Renames the dimensions: `HWC4w4c` with `K` for `C` is `HWK4w4k`.
    ///
    /// # Errors
    /// When two dimensions get the same letter, or a new name is not a capital letter.
    pub fn renamed(&self, rename: impl Fn(char) -> char) -> Result<TiledLayout, LayoutError> {
        let level = |l: &Level| Level { axis: rename(l.axis), ..*l }.to_string();
        let text: String = self.levels.iter().map(level).collect();
        text.parse().map(|l: TiledLayout| l.with_pad(self.pad()))
    }

    /// Returns the layout string, without the padding.
    pub fn order(&self) -> String {
        self.levels.iter().map(Level::to_string).collect()
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.tile {
            Some(tile) => write!(f, "{tile}{}", self.axis.to_ascii_lowercase()),
            None => write!(f, "{}", self.axis),
        }
    }
}

impl std::str::FromStr for TiledLayout {
    type Err = LayoutError;

    fn from_str(order: &str) -> Result<TiledLayout, LayoutError> {
        let mut levels: SmallVec<[Level; 8]> = SmallVec::new();
        let mut places: SmallVec<[usize; 8]> = SmallVec::new();
        let mut at = 0;
        while at < order.len() {
            if levels.len() == MAX_LEVELS {
                return text(at, format!("a layout has at most {MAX_LEVELS} levels"));
            }
            let (level, end) = parse_level(order, at)?;
            if level.tile.is_none() && levels.contains(&level) {
                return text(at, format!("duplicate dimension '{}'", level.axis));
            }
            levels.push(level);
            places.push(at);
            at = end;
        }
        let is_whole = |l: &Level| levels.iter().any(|d| d.axis == l.axis && d.tile.is_none());
        if let Some(i) = levels.iter().position(|l| !is_whole(l)) {
            return text(places[i], format!("a tile of '{0}' without a dimension '{0}'", levels[i].axis));
        }
        let tiles = levels.iter().filter_map(|l| l.tile);
        if tiles.into_iter().try_fold(1_u64, u64::checked_mul).is_none_or(|n| n > i64::MAX as u64) {
            return text(0, "the product of the tile sizes is too large");
        }
        Ok(TiledLayout { levels, pad: 0 })
    }
}

fn text<T>(at: usize, message: impl Into<String>) -> Result<T, LayoutError> {
    Err(LayoutError::Text { at, message: message.into() })
}

/// Parses the level at `at`. Returns it and its end.
fn parse_level(order: &str, at: usize) -> Result<(Level, usize), LayoutError> {
    let digits = order[at..].bytes().take_while(u8::is_ascii_digit).count();
    let end = at + digits;
    let Some(letter) = order[end..].chars().next() else {
        return text(end, "expected a letter after the tile size");
    };
    if !letter.is_ascii_alphabetic() {
        return text(end, format!("expected a letter for a dimension, got '{}'", letter.escape_debug()));
    }
    let axis = letter.to_ascii_uppercase();
    match (digits, letter.is_ascii_uppercase()) {
        (0, true) => return Ok((Level { axis, tile: None }, end + 1)),
        (0, false) => return text(end, format!("expected a tile size before '{letter}'")),
        (_, true) => return text(end, format!("expected a small letter after the tile size, got '{letter}'")),
        _ => {}
    }
    match order[at..end].parse() {
        Ok(tile) if order.as_bytes()[at] != b'0' => Ok((Level { axis, tile: Some(tile) }, end + 1)),
        Ok(_) => text(at, "a tile size must not start with 0"),
        Err(_) => text(at, "tile size is too large"),
    }
}
