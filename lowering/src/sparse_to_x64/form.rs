//! The register tile of generated code, and the columns of its product.

use gradus_machines::x64::Width;

/// The register tile of the code: accumulators for `rows` rows of A and `vectors` vectors of columns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct RegisterTile {
    pub rows: usize,
    pub vectors: usize,
    pub width: Width,
}

/// The forms, each with as many accumulators as leave registers for B and a broadcast value.
pub(super) const FORMS: [RegisterTile; 7] = [
    RegisterTile { rows: 28, vectors: 1, width: Width::Zmm },
    RegisterTile { rows: 14, vectors: 2, width: Width::Zmm },
    RegisterTile { rows: 9, vectors: 3, width: Width::Zmm },
    RegisterTile { rows: 6, vectors: 4, width: Width::Zmm },
    RegisterTile { rows: 12, vectors: 1, width: Width::Ymm },
    RegisterTile { rows: 6, vectors: 2, width: Width::Ymm },
    RegisterTile { rows: 12, vectors: 1, width: Width::Xmm },
];

impl RegisterTile {
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

    /// Returns a form that divides `rows` rows into as many groups, of almost equal sizes.
    pub fn balanced(self, rows: usize) -> RegisterTile {
        RegisterTile { rows: rows.div_ceil(rows.div_ceil(self.rows)), ..self }
    }

    /// Whether values are operands in memory, broadcast by the multiply-add.
    pub fn folds_values(self) -> bool {
        self.width == Width::Zmm && self.vectors == 1
    }
}
