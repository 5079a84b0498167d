//! Why a layout, an access or a move cannot be.

use gradus_ir::eval::Trap;
use std::fmt;

/// Why a layout, an access or a move cannot be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LayoutError {
    /// The text is none of a layout.
    Text {
        /// Where in the text, in bytes.
        at: usize,
        /// What is wrong.
        message: String,
    },
    /// The layout or the tensor has an axis that the other lacks.
    Axis {
        /// Its letter.
        axis: char,
        /// Who lacks it.
        missing_in: &'static str,
    },
    /// There are not as many letters, sizes or indices as axes.
    Rank {
        /// How many there are.
        found: usize,
        /// How many axes there are.
        rank: usize,
    },
    /// A dimension has two letters, or its size is not known.
    Sizes,
    /// Elements do not go on from where they came to.
    Apart,
    /// There are more elements, or entries of a table, than can be addressed.
    TooLarge,
    /// An index goes beyond its axis.
    Outside {
        /// The letter of the axis.
        axis: char,
    },
    /// Addresses are no sum of a base and an offset: steps along the axis cross from one tile to another for some bases and
    /// not for others.
    Crosses {
        /// The letter of the axis.
        axis: char,
        /// How many elements of the axis a tile has.
        tile: u64,
    },
    /// Two layouts do not hold equally many elements.
    Elements {
        /// How many one holds.
        from: u64,
        /// How many the other holds.
        to: u64,
    },
    /// A block is not cut into whole slices.
    Slices {
        /// Elements of a block.
        block: u64,
        /// Elements of a slice.
        slice: u64,
    },
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LayoutError::Text { message, .. } => f.write_str(message),
            LayoutError::Axis { axis, missing_in } => write!(f, "the {missing_in} has no dimension '{axis}'"),
            LayoutError::Rank { found, rank } => write!(f, "{found} letters or indices for {rank} dimensions"),
            LayoutError::Sizes => f.write_str("expected a letter of its own and a known size for each dimension"),
            LayoutError::Apart => f.write_str("elements go on from elsewhere than they came to"),
            LayoutError::TooLarge => f.write_str("more elements than can be addressed"),
            LayoutError::Outside { axis } => write!(f, "an index is outside of dimension '{axis}'"),
            LayoutError::Crosses { axis, tile } => {
                write!(f, "steps along dimension '{axis}' cross its tiles of {tile} for some bases and not for others")
            }
            LayoutError::Elements { from, to } => write!(f, "{from} elements cannot become {to}"),
            LayoutError::Slices { block, slice } => write!(f, "a block of {block} has no whole slices of {slice}"),
        }
    }
}

impl std::error::Error for LayoutError {}

/// As a message of an op.
impl From<LayoutError> for String {
    fn from(error: LayoutError) -> String {
        error.to_string()
    }
}

impl From<LayoutError> for Trap {
    fn from(error: LayoutError) -> Trap {
        Trap::unsupported(error.to_string())
    }
}
