//! In which layout a convolution reads its image: the one in which that costs less.

use super::conv::{Conv, Reading, channels_last};
use gradus_dialects::layout::TiledLayout;
use gradus_ir::{Module, Value};

/// So many ops between an image and where it is from are looked at.
const MAX_STEPS: usize = 64;

/// So many columns are computed with what is read of an image once.
const COLUMNS: u64 = 64;

/// To begin a run of summands takes this part of the time that it takes to move an element elsewhere, as measured.
const RUN_COST: f64 = 0.125;

/// The layouts in which a convolution can read its image, the better one first: with channels last, as results are made, and
/// as it is, if it is one that nothing here made.
pub(super) fn candidates(m: &Module, conv: &Conv, axes: &str, reading: &Reading) -> Option<Vec<TiledLayout>> {
    let (last, plain): (TiledLayout, TiledLayout) = (channels_last(axes)?, axes.parse().ok()?);
    // Bytes are multiplied four of a run at a time.
    if m.ctx.float_kind(m.ctx.element_type(m.value_type(conv.x))).is_none() {
        return Some(vec![last]);
    }
    let panels = conv.columns().div_ceil(COLUMNS) as f64;
    let begun = |layout: &TiledLayout| Some(conv.runs(layout, axes, reading)? as f64 * panels * RUN_COST);
    let is_cheaper = || Some(begun(&plain)? < begun(&last)? + conv.elements());
    match is_given(m, conv.x) && is_cheaper() == Some(true) {
        true => Some(vec![plain, last]),
        false => Some(vec![last]),
    }
}

/// Whether a value is an argument or a constant, but for ops that keep its type.
fn is_given(m: &Module, mut value: Value) -> bool {
    for _ in 0..MAX_STEPS {
        let Some(op) = m.defining_op(value) else { return true };
        match m.operands(op).first() {
            None => return true,
            Some(&from) if m.value_type(from) == m.value_type(value) => value = from,
            Some(_) => return false,
        }
    }
    false
}
