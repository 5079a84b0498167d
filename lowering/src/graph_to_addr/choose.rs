//! Choice of the algorithm of a convolution, and of the layout in which it reads its image, by cost.

use super::conv::{Conv, ConvReadOptions, ImageAxes};
use gradus_dialects::layout::TiledLayout;
use gradus_ir::{Builder, Module, Op, Value};

/// Maximum number of ops followed from an image to its source.
const MAX_STEPS: usize = 64;

/// Lowers a convolution, by Winograd's algorithm if the options select it and it applies.
pub(super) fn lower(b: &mut Builder<'_>, op: Op, conv: &Conv, options: &ConvReadOptions) -> Option<Value> {
    if options.winograd.tiles > 0
        && let Some(value) = conv.lower_winograd(b, op, &options.winograd)
    {
        return Some(value);
    }
    let axes = ImageAxes::of_rank(conv.input.len())?;
    let layouts = match &options.layout {
        Some(layout) => vec![layout.clone(), axes.channels_last.clone()],
        None => candidates(b.module, conv, axes, options)?,
    };
    conv.lower(b, op, axes, &layouts, options)
}

/// The candidate layouts, best first: channels last, in which results are produced, and the given layout of an argument
/// or constant.
fn candidates(m: &Module, conv: &Conv, axes: &ImageAxes, options: &ConvReadOptions) -> Option<Vec<TiledLayout>> {
    let last = axes.channels_last.clone();
    // Bytes are multiplied in groups of four within a run.
    if m.ctx.float_kind(m.ctx.element_type(m.value_type(conv.x))).is_none() {
        return Some(vec![last]);
    }
    let panels = conv.columns().div_ceil(options.column_panel) as f64 / options.runs_per_element as f64;
    let begun = |layout: &TiledLayout| Some(conv.runs(layout, axes.letters, options)? as f64 * panels);
    let is_cheaper = || Some(begun(&axes.plain)? < begun(&last)? + conv.elements());
    match is_given(m, conv.x) && is_cheaper() == Some(true) {
        true => Some(vec![axes.plain.clone(), last]),
        false => Some(vec![last]),
    }
}

/// Whether a value is an argument or a constant, looking through ops that preserve its type.
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
