//! stub
use gradus_ir::{Attr, Folded, OpArgs, Pattern};
pub(super) const FROM_ELEMENTS: &[Pattern] = &[];
pub(super) const TO_ELEMENTS: &[Pattern] = &[];
pub(super) const STEP: &[Pattern] = &[];
pub(super) fn fold_from_elements(_: &OpArgs<'_>, _: &[Option<Attr>]) -> Option<Folded> {
    None
}
pub(super) fn fold_to_elements(_: &OpArgs<'_>, _: &[Option<Attr>]) -> Option<Folded> {
    None
}
