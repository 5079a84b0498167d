//! Support for slices and reshapes of tensors and memrefs: mixed static and dynamic lists, offsets with sizes and
//! strides, and reassociations.

mod extent;
mod mixed;
mod reassociation;
mod reshape;
mod slice;

pub use extent::has_constant_dimension;
pub use mixed::{Mixed, add_mixed, constant_entry, fold_entries, is_constant, mixed_entries, runtime_entries, split};
pub use reassociation::{
    REASSOCIATION, Reassociation, collapsing, compose, reassociation_attr, reassociation_of, regroup,
};
pub use reshape::{ReshapeOps, collapse_of_expand, compose_reshapes, expand_of_collapse, fold_reshape};
pub use slice::{RankError, Slice, dropped_dims, rank_reduced};
