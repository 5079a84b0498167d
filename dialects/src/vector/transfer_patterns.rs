//! stub
use gradus_ir::{Attr, Folded, OpArgs, Pattern};
pub(super) const READ: &[Pattern] = &[];
pub(super) const WRITE: &[Pattern] = &[];
pub(super) fn fold_read(_: &OpArgs<'_>, _: &[Option<Attr>]) -> Option<Folded> {
    None
}
pub(super) fn fold_write(_: &OpArgs<'_>, _: &[Option<Attr>]) -> Option<Folded> {
    None
}
