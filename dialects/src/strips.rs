//! The columns of a matrix that is computed from an image: strips, the rows of the image, and bands, matrices of some of its rows each.

use gradus_ir::{Context, OpArgs, Type};

/// Maximum number of strips: more than rows of an image, and calls for them take milliseconds even without columns.
const MAX_STRIPS: u64 = 1 << 20;

/// The division of the columns of a result, `[M, N]`, or in bands, `[B, M, N / B]`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Strips {
    /// Number of bands of the result, at least 1.
    pub bands: u64,
    /// Number of strips of all bands, at least 1 for each.
    pub all: u64,
    /// Distance from a strip to the next in the operand.
    pub pitch: u64,
}

impl Strips {
    /// Reads the attributes `strips` and `pitch` of an op with a result of these extents, whose operand has a size in the unit of the pitch.
    ///
    /// # Errors
    /// The violated rule.
    pub(crate) fn of(args: &OpArgs<'_>, result: &[u64], operand: u64) -> Result<Strips, String> {
        let (bands, columns) = match *result {
            [_, columns] => (1, columns),
            [bands, _, columns] => (bands, columns),
            _ => return Err("requires a matrix, or bands of one, as result".into()),
        };
        let int = |name| args.int(name).and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
        let (all, pitch) = match ["strips", "pitch"].map(|name| args.attr(name).is_some()) {
            [false, false] => (1, 0),
            [true, true] => (int("strips"), int("pitch")),
            _ => return Err("requires both 'strips' and 'pitch', or neither".into()),
        };
        if bands == 0 || all == 0 || all % bands != 0 || columns % (all / bands) != 0 {
            return Err(format!("requires strips that divide {bands} bands of {columns} columns"));
        }
        if all > MAX_STRIPS || (all - 1).checked_mul(pitch).is_none_or(|start| start > operand) {
            return Err(format!("requires at most {MAX_STRIPS} strips that begin in its operand"));
        }
        Ok(Strips { bands, all, pitch })
    }
}

/// The extents of a type of static shape.
pub(crate) fn extents(ctx: &Context, ty: Type) -> Option<Vec<u64>> {
    ctx.static_shape(ty)?.iter().map(|&d| u64::try_from(d).ok()).collect()
}
