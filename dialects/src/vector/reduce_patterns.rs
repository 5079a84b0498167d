//! stub
use gradus_ir::{Attr, Folded, OpArgs, Pattern};
pub(super) const REDUCTION: &[Pattern] = &[];
pub(super) const MULTI_REDUCTION: &[Pattern] = &[];
pub(super) fn fold_multi_reduction(_: &OpArgs<'_>, _: &[Option<Attr>]) -> Option<Folded> {
    None
}
