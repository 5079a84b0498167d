//! Errors of layouts, access functions and layout conversions.

use gradus_ir::eval::Trap;
use std::fmt;

/// An invalid layout, access function or layout conversion.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LayoutError {
    /// A syntax error in a layout string.
    Text {
        /// Byte offset in the text.
        at: usize,
        /// Description of the error.
        message: String,
    },
    /// A dimension of either the layout or the tensor is missing in the other.
    Axis {
        /// The letter of the dimension.
        axis: char,
        /// `"layout"` or `"tensor"`.
        missing_in: &'static str,
    },
    /// The number of letters, sizes or indices differs from the rank.
    Rank {
        /// Number of letters, sizes or indices.
        found: usize,
        /// Number of axes.
        rank: usize,
    },
    /// A letter occurs twice, or a size is negative or dynamic.
    Sizes,
    /// The second conversion of a composition starts from another layout.
    NotComposable,
    /// The number of elements or table entries exceeds the limit.
    TooLarge,
    /// An index is out of bounds.
    OutOfBounds {
        /// The letter of the axis.
        axis: char,
    },
    /// Addresses are not the sum of a base and an offset, because steps along the axis cross tiles from some bases
    /// only.
    NotSeparable {
        /// The letter of the axis.
        axis: char,
        /// Elements per tile along the axis.
        tile: u64,
    },
    /// The numbers of elements of source and target differ.
    Elements {
        /// Source elements.
        from: u64,
        /// Target elements.
        to: u64,
    },
    /// The block size is not a multiple of the slice size.
    Slices {
        /// Elements per block.
        block: u64,
        /// Elements per slice.
        slice: u64,
    },
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LayoutError::Text { message, .. } => f.write_str(message),
            LayoutError::Axis { axis, missing_in } => write!(f, "the {missing_in} has no dimension '{axis}'"),
            LayoutError::Rank { found, rank } => write!(f, "{found} letters or indices for {rank} dimensions"),
            LayoutError::Sizes => f.write_str("expected a unique letter and a static size for each dimension"),
            LayoutError::NotComposable => {
                f.write_str("the second conversion does not start from the first one's target layout")
            }
            LayoutError::TooLarge => f.write_str("too many elements"),
            LayoutError::OutOfBounds { axis } => write!(f, "an index of dimension '{axis}' is out of bounds"),
            LayoutError::NotSeparable { axis, tile } => {
                write!(
                    f,
                    "the layout is not separable in dimension '{axis}': steps cross its tiles of {tile} from some bases only"
                )
            }
            LayoutError::Elements { from, to } => write!(f, "source has {from} elements, target has {to}"),
            LayoutError::Slices { block, slice } => write!(f, "slice size {slice} does not divide block size {block}"),
        }
    }
}

gradus_ir::declared_error!(LayoutError);

impl From<LayoutError> for Trap {
    fn from(error: LayoutError) -> Trap {
        Trap::unsupported(error.to_string())
    }
}
