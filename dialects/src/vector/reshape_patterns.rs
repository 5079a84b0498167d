//! stub
use gradus_ir::{Attr, Folded, OpArgs, Pattern};
pub(super) const BROADCAST: &[Pattern] = &[];
pub(super) const SHAPE_CAST: &[Pattern] = &[];
pub(super) const TRANSPOSE: &[Pattern] = &[];
pub(super) fn fold_broadcast(_: &OpArgs<'_>, _: &[Option<Attr>]) -> Option<Folded> {
    None
}
pub(super) fn fold_shape_cast(_: &OpArgs<'_>, _: &[Option<Attr>]) -> Option<Folded> {
    None
}
pub(super) fn fold_bitcast(_: &OpArgs<'_>, _: &[Option<Attr>]) -> Option<Folded> {
    None
}
pub(super) fn fold_transpose(_: &OpArgs<'_>, _: &[Option<Attr>]) -> Option<Folded> {
    None
}
