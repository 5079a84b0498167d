use gradus_ir::{Attr, Folded, OpArgs};
pub(super) fn fold_extract(_: &OpArgs<'_>, _: &[Option<Attr>]) -> Option<Folded> {
    None
}
pub(super) fn fold_insert(_: &OpArgs<'_>, _: &[Option<Attr>]) -> Option<Folded> {
    None
}
