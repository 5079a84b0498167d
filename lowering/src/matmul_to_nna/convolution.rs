//! Convolutions as products of their filters and patches, those of groups in a few products.

use super::im2col::PatchedImage;
use super::inputs::{Filters, PatchProduct};
use super::product::{Lowered, ProductInputs, possible};
use super::terms::{Requantize, TermList, check_sums, is_symmetric};
use crate::operands::{IntegerContraction, constant, extents};
use gradus_ir::{Module, Op, Refusal, Tensor, Value};
use gradus_networks::graph::convolution;
use gradus_simulators::nna::{CHANNELS, Shape};

/// Returns the product of a convolution's filters and patches, and its divisions into products of some groups each.
pub(super) fn convolve(
    m: &Module,
    op: Op,
    &IntegerContraction { factors: [x, w], zeros: [x_zero, w_zero], bias, .. }: &IntegerContraction,
    requantize: Option<&Requantize>,
) -> Result<Vec<Lowered>, Refusal> {
    let y = m.result(op, 0);
    let (groups, window) = convolution(m, op).map_err(|_| "a window that its operands do not have")?;
    let (image, filters) = (extents(m, x)?, extents(m, w)?);
    let (&[batch, channels, ..], &[rows, ..]) = (&image[..], &filters[..]) else {
        return Err(Refusal::of(x, "{} axes").with([image.len()]));
    };
    let result = m.ctx.static_shape(m.value_type(y)).ok_or(Refusal::of(y, "an unknown extent"))?.to_vec();
    let count = |value: Value| extents(m, value).map(|dims| dims.iter().product::<usize>());
    if let Some(zero) = x_zero.filter(|&zero| count(zero) != Ok(1)) {
        return Err(Refusal::of(zero, "a zero point of padding that is not a scalar"));
    }
    let initial = bias.is_some() || !is_symmetric(m, x, x_zero) || !is_symmetric(m, w, w_zero);
    let of_rows = |value: Value| {
        let all = vec![rows as i64];
        count(value).map(|n| TermList { value, extents: (n > 1).then(|| [all.clone(), all]) })
    };
    let (left_zero, of_bias) = (w_zero.map(of_rows).transpose()?, bias.map(of_rows).transpose()?);
    possible(parts(groups, rows).into_iter().map(|parts| {
        let image = PatchedImage { value: x, pad: x_zero, batch, channels, window: window.clone() };
        let depth = channels / parts * image.taps();
        let shape = Shape { rows: rows / parts, depth, columns: batch * image.positions() };
        (shape.columns > 0).then_some(()).ok_or(Refusal::of(y, "an extent of 0"))?;
        check_sums(m, shape.depth, bias, requantize.is_some())?;
        let filters = if groups == parts { Filters::Whole(w) } else { grouped(m, w, w_zero, groups / parts, shape)? };
        Ok(Lowered {
            shape,
            parts: (0..parts).map(|part| [part; 2]).collect(),
            mapping: None,
            left_zero: left_zero.clone(),
            right_zero: x_zero.map(|value| TermList { value, extents: None }),
            bias: of_bias.clone(),
            initial,
            requantize: requantize.cloned(),
            element: m.ctx.element_type(m.value_type(y)),
            inputs: ProductInputs::Convolution(PatchProduct { filters, image, result: result.clone() }),
        })
    }))
}

/// Returns the numbers of products into which a convolution with groups may be divided; cost chooses among them. 1: one product, with
/// zeros for the channels of other groups; `groups`: one for each group; and the least numbers whose rows fit into one or two kernels.
fn parts(groups: usize, rows: usize) -> Vec<usize> {
    let mut found = vec![1, groups];
    for most in [CHANNELS, 2 * CHANNELS] {
        found.extend((1..=groups).find(|parts| groups.is_multiple_of(*parts) && rows / parts <= most));
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Returns constant filters of products of `groups` groups each, with zero points for the channels of other groups.
fn grouped(m: &Module, w: Value, zero: Option<Value>, groups: usize, shape: Shape) -> Result<Filters, Refusal> {
    let tensor = constant(m, w)?;
    let zeros = match zero {
        Some(zero) => constant(m, zero)?.bytes().to_vec(),
        None => vec![0],
    };
    let (of_group, rows) = (shape.depth / groups, shape.rows / groups);
    let num_rows = tensor.len() / of_group;
    let mut bytes = Vec::with_capacity(num_rows * shape.depth);
    for (row, filter) in tensor.bytes().chunks_exact(of_group).enumerate() {
        let start = bytes.len();
        let of_row = zeros.get(if zeros.len() == 1 { 0 } else { row });
        bytes.resize(start + shape.depth, *of_row.ok_or("zero points of other rows")?);
        bytes[start + row % shape.rows / rows * of_group..][..of_group].copy_from_slice(filter);
    }
    let tensor = Tensor::new(tensor.dtype(), vec![num_rows, shape.depth], bytes.into());
    let tensor = tensor.map_err(|_| Refusal::of(w, "filters of other groups"))?;
    Ok(Filters::Constant(tensor, m.ctx.element_type(m.value_type(w))))
}
