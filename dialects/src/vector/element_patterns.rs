//! stub
use gradus_ir::{Attr, Folded, OpArgs, Pattern};
pub(super) const EXTRACT: &[Pattern] = &[];
pub(super) const INSERT: &[Pattern] = &[];
