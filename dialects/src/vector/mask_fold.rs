//! stub
use gradus_ir::{Attr, Folded, OpArgs, Pattern};
pub(super) const CREATE: &[Pattern] = &[];
pub(super) const MASKED: &[Pattern] = &[];
