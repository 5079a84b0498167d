//! Operators that are no op of the dialect. Those that run graphs of their own become ops of `scf`, whose regions hold the graphs.

use super::{Importer, Stop, conditional, loops, optional};
use crate::onnx::inline::VersionedNode;
use gradus_ir::Loc;

/// Imports a node whose operator is no op.
pub(super) type ImportControl = for<'a> fn(&mut Importer<'a>, &'a VersionedNode, Loc) -> Result<(), Stop>;

/// The operators.
const OPERATORS: &[(&str, ImportControl)] = &[
    ("If", conditional::choose),
    ("Loop", loops::repeat),
    ("Scan", loops::scan),
    ("SequenceMap", loops::map),
    ("Optional", optional::wrapped),
    ("OptionalGetElement", optional::wrapped),
    ("OptionalHasElement", optional::has_element),
    ("Identity", optional::identity),
];

/// Returns the function that imports an operator that is no op.
pub(super) fn operator(op_type: &str) -> Option<ImportControl> {
    OPERATORS.iter().find(|known| known.0 == op_type).map(|known| known.1)
}

/// Whether an operator that is no op is imported in another form.
pub fn has_form(op_type: &str) -> bool {
    operator(op_type).is_some()
}
