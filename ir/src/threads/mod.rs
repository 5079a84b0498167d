//! Functions as modules of their own, which threads work on.

pub(crate) mod module_split;
pub(crate) mod partition;
