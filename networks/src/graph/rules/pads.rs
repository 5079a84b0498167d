//! Pads of convolutions: all begins, then all ends.

use super::extents::{ints, list, positions};
use gradus_ir::rules::Arg;
use gradus_ir::{Attr, Module};

/// Returns the attributes of a convolution after padding its 1x1 filters to 3x3.
pub(super) fn pad_by_one(m: &Module, x: &[Arg]) -> Option<Attr> {
    with_more(m, x[0], &[1; 4], &["dilations", "kernel_shape"])
}

/// Returns the pads from a 1x1 filter to 3x3: all begins, then all ends.
pub(super) fn pads_to_3x3(m: &Module, _: &[Arg]) -> Option<Attr> {
    Some(list(m, [0, 0, 1, 1].repeat(2)))
}

/// Returns the attributes of a convolution that pads its operand itself. Arguments: its attributes, those of the padding,
/// and the pads of all axes.
pub(super) fn padded(m: &Module, x: &[Arg]) -> Option<Attr> {
    let mode = m.ctx.dict_get(x[1].attr(), m.ctx.str("mode")).and_then(|a| m.ctx.as_str(a));
    let pads = positions(m, x[2])?;
    let (begins, ends) = pads.split_at(pads.len() / 2);
    let (Some((&[0, 0], begins)), Some((&[0, 0], ends))) = (begins.split_at_checked(2), ends.split_at_checked(2))
    else {
        return None;
    };
    let pads = [begins, ends].concat();
    let is_padding = mode.is_none_or(|mode| mode == "constant") && pads.iter().all(|&pad| pad >= 0);
    if is_padding { with_more(m, x[0], &pads, &[]) } else { None }
}

/// Returns the attributes of a convolution with larger pads and without the attributes `gone`.
fn with_more(m: &Module, attrs: Arg, more: &[i64], gone: &[&str]) -> Option<Attr> {
    let attr = |name: &str| m.ctx.dict_get(attrs.attr(), m.ctx.str(name));
    let mode = attr("auto_pad").and_then(|a| m.ctx.as_str(a));
    if mode.is_some_and(|mode| !["NOTSET", "VALID"].contains(&mode)) {
        return None;
    }
    let pads = ints(m, attrs, "pads").filter(|_| mode != Some("VALID")).unwrap_or_else(|| vec![0; more.len()]);
    if pads.len() != more.len() {
        return None;
    }
    let pads: Option<Vec<i64>> = pads.iter().zip(more).map(|(pad, more)| pad.checked_add(*more)).collect();
    let gone: Vec<_> = ["auto_pad", "pads"].iter().chain(gone).map(|name| m.ctx.str(name)).collect();
    let mut entries = m.ctx.dict_entries(attrs.attr()).to_vec();
    entries.retain(|(key, _)| !gone.contains(key));
    entries.push((m.ctx.str("pads"), m.ctx.i64_array_attr(&pads?)));
    Some(m.ctx.dict_attr(entries))
}
