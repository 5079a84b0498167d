//! stub
use gradus_ir::{Attr, Folded, OpArgs, Pattern};
pub(super) const LOAD: &[Pattern] = &[];
pub(super) const STORE: &[Pattern] = &[];
pub(super) const MASKED_LOAD: &[Pattern] = &[];
pub(super) const MASKED_STORE: &[Pattern] = &[];
pub(super) const EXPAND: &[Pattern] = &[];
pub(super) const COMPRESS: &[Pattern] = &[];
pub(super) const GATHER: &[Pattern] = &[];
pub(super) const SCATTER: &[Pattern] = &[];
