//! The register tile of generated code, and the columns of its product.

use gradus_dialects::x64::Width;

/// The register tile of the code: accumulators for `rows` rows of A and `vectors` vectors of columns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Form {
    pub rows: usize,
    pub vectors: usize,
    pub width: Width,
}

/// The forms, each with as many accumulators as leave registers for B and a broadcast value.
pub(super) const FORMS: [Form; 6] = [
    Form { rows: 28, vectors: 1, width: Width::Zmm },
    Form { rows: 14, vectors: 2, width: Width::Zmm },
    Form { rows: 9, vectors: 3, width: Width::Zmm },
    Form { rows: 6, vectors: 4, width: Width::Zmm },
    Form { rows: 12, vectors: 1, width: Width::Ymm },
    Form { rows: 6, vectors: 2, width: Width::Ymm },
];

/// The columns of a product.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Columns {
    /// Columns of the result.
    pub all: usize,
    /// Number of bands, matrices of as many columns each.
    pub bands: usize,
    /// Number of strips of equal width, the rows of an image, that are computed one by one.
    pub strips: usize,
    /// Elements of the dense operand from a strip to the next.
    pub pitch: usize,
}

impl Columns {
    /// Columns that follow each other in the dense operand too.
    pub fn adjacent(all: usize) -> Columns {
        Columns { all, bands: 1, strips: 1, pitch: 0 }
    }

    /// Columns of a band.
    pub fn band(self) -> usize {
        self.all / self.bands
    }

    /// Columns of a strip.
    pub fn strip(self) -> usize {
        self.all / self.strips
    }

    /// Elements of the dense operand from the first column to behind the last.
    pub fn reach(self) -> Option<usize> {
        (self.strips - 1).checked_mul(self.pitch)?.checked_add(self.strip())
    }
}

impl Form {
    /// Bytes of a row per step.
    pub fn panel_bytes(self) -> usize {
        self.vectors * self.width.bytes()
    }

    /// Columns of elements of a size per step.
    pub fn panel(self, element: usize) -> usize {
        self.panel_bytes() / element
    }

    /// Number of elements of a size that short displacements reach, on either side.
    pub fn reach(self, element: usize) -> usize {
        // Of EVEX, they count elements.
        if self.width == Width::Zmm { 128 } else { 128 / element }
    }

    /// The form with the same number of groups for `rows` rows, which have almost equal sizes.
    pub fn balanced(self, rows: usize) -> Form {
        Form { rows: rows.div_ceil(rows.div_ceil(self.rows)), ..self }
    }

    /// Whether values are operands in memory, broadcast by the multiply-add.
    pub fn folds_values(self) -> bool {
        self.width == Width::Zmm && self.vectors == 1
    }
}
