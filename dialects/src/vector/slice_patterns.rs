//! stub
use gradus_ir::{Attr, Folded, OpArgs, Pattern};
pub(super) const EXTRACT: &[Pattern] = &[];
pub(super) const INSERT: &[Pattern] = &[];
pub(super) fn fold_extract(_: &OpArgs<'_>, _: &[Option<Attr>]) -> Option<Folded> {
    None
}
pub(super) fn fold_insert(_: &OpArgs<'_>, _: &[Option<Attr>]) -> Option<Folded> {
    None
}
