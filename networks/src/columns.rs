//! The columns of a matrix that is computed from an image: strips, the rows of the image, and bands, matrices of some of its rows each.

use gradus_ir::{Context, OpArgs, Type, Violation};

/// Maximum number of strips: more than rows of an image, and calls for them take milliseconds even without columns.
const MAX_STRIPS: u64 = 1 << 20;

/// The columns of a product. Column `j` of a strip of `all / strips` reads the operand `j` behind the first one, and from strip to strip `pitch`
/// further on. The result is a matrix, `[M, N]`, or in bands, `[B, M, N / B]`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Columns {
    /// Number of columns of all bands, which strips divide.
    pub all: usize,
    /// Number of bands of the result, at least 1: matrices of as many columns, one after the other.
    pub bands: usize,
    /// Number of strips of all bands, which bands divide, at least 1.
    pub strips: usize,
    /// Distance from a strip to the next in the operand: elements, or the unit of an op.
    pub pitch: usize,
}

impl Columns {
    /// Columns that follow each other in the operand too.
    pub fn adjacent(all: usize) -> Columns {
        Columns { all, bands: 1, strips: 1, pitch: 0 }
    }

    /// Reads the attributes `strips` and `pitch` of an op with a result of these extents, whose operand has a size in the unit of the pitch.
    ///
    /// # Errors
    /// The violated rule.
    pub fn of(args: &OpArgs<'_>, result: &[u64], operand: u64) -> Result<Columns, Violation> {
        let (bands, columns) = match *result {
            [_, columns] => (1, columns),
            [bands, _, columns] => (bands, columns),
            _ => return Err("requires a matrix, or bands of one, as result".into()),
        };
        let int = |name| args.int(name).and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
        let (strips, pitch) = match ["strips", "pitch"].map(|name| args.attr(name).is_some()) {
            [false, false] => (1, 0),
            [true, true] => (int("strips"), int("pitch")),
            _ => return Err("requires both 'strips' and 'pitch', or neither".into()),
        };
        if bands == 0 || strips == 0 || strips % bands != 0 || columns % (strips / bands) != 0 {
            return Err(format!("requires strips that divide {bands} bands of {columns} columns").into());
        }
        if strips > MAX_STRIPS || (strips - 1).checked_mul(pitch).is_none_or(|start| start > operand) {
            return Err(format!("requires at most {MAX_STRIPS} strips that begin in its operand").into());
        }
        let all = bands.checked_mul(columns).ok_or("requires a smaller result")?;
        let size = |n: u64| usize::try_from(n).map_err(|_| "requires a smaller result");
        Ok(Columns { all: size(all)?, bands: size(bands)?, strips: size(strips)?, pitch: size(pitch)? })
    }

    /// Columns of a band.
    pub fn band(self) -> usize {
        self.all / self.bands
    }

    /// Columns of a strip.
    pub fn strip(self) -> usize {
        self.all / self.strips
    }

    /// Strips of a band.
    pub fn strips_of_band(self) -> usize {
        self.strips / self.bands
    }

    /// Places in the operand from that of the first column to behind that of the last; `None` if they overflow.
    pub fn reach(self) -> Option<usize> {
        (self.strips - 1).checked_mul(self.pitch)?.checked_add(self.strip())
    }

    /// Whether bands divide the strips, and strips the columns.
    pub fn is_even(self) -> bool {
        let is_divided = |n: usize, by: usize| by > 0 && n.is_multiple_of(by);
        is_divided(self.all, self.strips) && is_divided(self.strips, self.bands)
    }
}

/// The extents of a type of static shape.
pub fn extents(ctx: &Context, ty: Type) -> Option<Vec<u64>> {
    ctx.static_shape(ty)?.iter().map(|&d| u64::try_from(d).ok()).collect()
}
