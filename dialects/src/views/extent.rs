//! Queries of extents.

use gradus_ir::{Module, Op};

/// Whether the dimension of an extent query is constant and in range, as MLIR asks of one that is hoisted: the query is defined, also
/// of poison.
pub fn has_constant_dimension(m: &Module, op: Op) -> bool {
    let &[source, index] = m.operands(op) else { return false };
    let rank = m.ctx.shape(m.value_type(source)).map_or(0, <[i64]>::len);
    m.constant_int(index).and_then(|i| usize::try_from(i).ok()).is_some_and(|i| i < rank)
}
