//! Conditions and computations of rules for neural networks. They fail for dynamic shapes.

use super::extents::{dims, inferred_shape, ints, list, shape};
use super::{broadcast, pads, poison, rounding, slice_bounds};
use gradus_ir::eval::floats_to_tensor;
use gradus_ir::rules::{Arg, ArgKind, RuleFunction};
use gradus_ir::{Attr, DType, DYNAMIC, Module, Tensor, Type};
use gradus_reference_kernels as kernels;
use gradus_reference_kernels::shape::PER_CHANNEL;

const TYPE: &[ArgKind] = &[ArgKind::Type];
const TYPES: &[ArgKind] = &[ArgKind::Type, ArgKind::Type];
const ATTR: &[ArgKind] = &[ArgKind::Attr];
const ATTR_TYPE: &[ArgKind] = &[ArgKind::Attr, ArgKind::Type];
const PERMS: &[ArgKind] = &[ArgKind::Attr, ArgKind::Attr, ArgKind::Type];
const NORM: &[ArgKind] = &[ArgKind::Attr; 5];
const NORM_BIAS: &[ArgKind] = &[ArgKind::Attr; 6];

#[rustfmt::skip]
pub(in crate::graph) const FUNCTIONS: &[&RuleFunction] = &[
    &RuleFunction::test("matrices", "two matrices of static shape", TYPES, |m, x| x.iter().all(|x| dims(m, *x).is_some_and(|d| d.len() == 2))),
    &RuleFunction::test("per_channel", "a tensor that broadcasts to the second one with one element per channel", TYPES, per_channel),
    &RuleFunction::test("row_of", "a vector along the last axis of the second type", TYPES, row_of),
    &RuleFunction::test("pointwise", "the attributes of an ungrouped convolution and the type of its 1x1 filters", ATTR_TYPE, pointwise),
    &RuleFunction::test("ungrouped", "attributes of an ungrouped convolution", ATTR, |m, x| int(m, x[0], "group", 1) == 1),
    &RuleFunction::test("inference", "attributes of a batch normalization in inference mode", ATTR, |m, x| int(m, x[0], "training_mode", 0) == 0),
    &RuleFunction::test("plain_gemm", "attributes of a gemm without scaling and transposition", ATTR, |m, x| plain_gemm(m, x[0])),
    &RuleFunction::test("reverses_axes", "attributes of a transposition that reverses all axes", ATTR, |m, x| ints(m, x[0], "perm").is_none_or(|p| p.iter().rev().copied().eq(0..p.len() as i64))),
    &RuleFunction::test("last_axis", "an axis attribute that is the last axis of a tensor", ATTR_TYPE, last_axis),
    &RuleFunction::test("known_extents", "a tensor of static shape", TYPE, |m, x| dims(m, x[0]).is_some()),
    &RuleFunction::test("stackable", "filters that can be concatenated with others along their first axis", TYPES, slice_bounds::stackable),
    &RuleFunction::test("is_1x1", "1x1 filters", TYPE, slice_bounds::is_1x1),
    &RuleFunction::test("nonnegative", "a scalar that is at least 0", ATTR, |m, x| m.ctx.as_uniform(x[0].attr()).is_some_and(|n| n >= 0.0)),
    &RuleFunction::test("ordered", "two scalars, the first at most the second", &[ArgKind::Attr; 2], ordered),
    &RuleFunction::test("unpoisoned", "a value without poison elements, computed by ops of this dialect from constants and arguments of public functions", &[ArgKind::Value], poison::is_unpoisoned),
    &RuleFunction::test("rounds_alike", "scales and zero points with which all pairs of bytes have the same product in floats and in integers", &[ArgKind::Attr; 6], rounding::rounds_alike),
    &RuleFunction::attr("origin", "the zero start of a slice", TYPE, slice_bounds::origin),
    &RuleFunction::attr("after_rows", "the start of the second part of a concatenation along axis 0", TYPE, |m, x| slice_bounds::start_after(m, x[0], 0)),
    &RuleFunction::attr("end_after_rows", "the end of the second part of a concatenation along axis 0", TYPES, |m, x| slice_bounds::end_after(m, x, 0)),
    &RuleFunction::attr("after_columns", "the start of the second part of a concatenation along axis 1", TYPE, |m, x| slice_bounds::start_after(m, x[0], 1)),
    &RuleFunction::attr("end_after_columns", "the end of the second part of a concatenation along axis 1", TYPES, |m, x| slice_bounds::end_after(m, x, 1)),
    &RuleFunction::attr("shifted", "an index in a slice, translated to the whole tensor", PERMS, slice_bounds::shifted),
    &RuleFunction::attr("pad_by_one", "the attributes of a convolution after padding its 1x1 filters to 3x3", ATTR, pads::pad_by_one),
    &RuleFunction::attr("pads_to_3x3", "the pads from a 1x1 filter to 3x3", TYPE, pads::pads_to_3x3),
    &RuleFunction::attr("padded", "the attributes of a convolution that pads its operand with zeros itself", &[ArgKind::Attr; 3], pads::padded),
    &RuleFunction::attr("channels", "the number of channels of a tensor", TYPE, |m, x| Some(m.ctx.int_attr(Type::I64, channels(m, x[0])?))),
    &RuleFunction::attr("extents", "the extents of a tensor", TYPE, |m, x| shape(m, &dims(m, x[0])?)),
    &RuleFunction::attr("channel_kernels", "the shape of 1x1 filters, one per channel", TYPE, channel_kernels),
    &RuleFunction::attr("inferred_extents", "the extents of a tensor, -1 for a dynamic one", TYPE, |m, x| inferred_shape(m, m.ctx.shape(x[0].ty())?)),
    &RuleFunction::attr("element", "the element type of a tensor", TYPE, |m, x| Some(m.ctx.type_attr(m.ctx.element_type(x[0].ty())))),
    &RuleFunction::attr("factor_groups", "the number of groups of the convolution that multiplies two tensors", TYPES, broadcast::factor_groups),
    &RuleFunction::attr("as_features", "the shape of the left factor as the image of a convolution", TYPES, broadcast::as_features),
    &RuleFunction::attr("as_factors", "the shape of the right factor as the filters of a convolution", TYPES, broadcast::as_factors),
    &RuleFunction::attr("expansion", "the shape with which the right factor is expanded", TYPES, broadcast::expansion),
    &RuleFunction::test("bytes", "a tensor of 8-bit integers", TYPE, |m, x| m.ctx.dtype(m.ctx.element_type(x[0].ty())).is_some_and(|of| matches!(of, DType::I8 | DType::U8))),
    &RuleFunction::test("decided_at_run_time", "two tensors whose broadcast depends on dynamic extents", TYPES, broadcast::decided_at_run_time),
    &RuleFunction::attr("all_channels", "the group count of a depthwise convolution of any number of channels", TYPE, |m, _| Some(m.ctx.int_attr(Type::I64, PER_CHANNEL))),
    &RuleFunction::attr("all_as_features", "the shape of one pixel with all elements as channels", TYPE, |m, _| Some(list(m, vec![1, -1, 1, 1]))),
    &RuleFunction::attr("all_as_factors", "the shape of 1x1 filters, one per element", TYPE, |m, _| Some(list(m, vec![-1, 1, 1, 1]))),
    &RuleFunction::attr("as_pixels", "the shape of a matrix as one pixel per row", TYPE, |m, x| shape(m, &with_ones(dims(m, x[0])?))),
    &RuleFunction::attr("as_filters", "the shape of a transposed matrix as one 1x1 filter per column", TYPE, |m, x| shape(m, &with_ones(dims(m, x[0])?.into_iter().rev().collect()))),
    &RuleFunction::attr("as_matrix", "the shape of 1x1 filters as a matrix", TYPE, |m, x| shape(m, dims(m, x[0])?.get(..2)?)),
    &RuleFunction::attr("as_columns", "the shape of a tensor with its spatial axes flattened", TYPE, |m, x| as_columns(&dims(m, x[0])?).and_then(|d| shape(m, &d))),
    &RuleFunction::attr("both_perms", "the composition of two permutations", PERMS, both_perms),
    &RuleFunction::attr("per_filter", "a constant per channel, or one for all, as a vector of a tensor's channels", ATTR_TYPE, per_filter),
    &RuleFunction::attr("scaled", "the products of a constant and a vector along its last axis, if all are finite", &[ArgKind::Attr; 2], scaled),
    &RuleFunction::attr("norm_filters", "filters scaled by a batch normalization", &[ArgKind::Attr; 4], norm_filters),
    &RuleFunction::attr("norm_bias", "the bias of a batch normalization", NORM, |m, x| norm_bias(m, None, x)),
    &RuleFunction::attr("norm_bias_of", "the bias of a batch normalization applied to an existing bias", NORM_BIAS, |m, x| norm_bias(m, Some(x[0]), &x[1..])),
];

fn count(dims: &[i64]) -> Option<i64> {
    dims.iter().try_fold(1i64, |n, &d| n.checked_mul(d)).filter(|&n| n > 0)
}

/// Returns the static extent of axis 1 of a tensor of rank 3 or more.
fn channels(m: &Module, ty: Arg) -> Option<i64> {
    let dims = m.ctx.shape(ty.ty()).filter(|dims| dims.len() >= 3)?;
    Some(dims[1]).filter(|&channels| channels > 0)
}

/// Returns the shape of 1x1 filters, one per channel of a tensor.
fn channel_kernels(m: &Module, x: &[Arg]) -> Option<Attr> {
    let mut kernels = vec![1; m.ctx.shape(x[0].ty())?.len()];
    *kernels.first_mut()? = channels(m, x[0])?;
    shape(m, &kernels)
}

fn with_ones(mut dims: Vec<i64>) -> Vec<i64> {
    dims.extend([1, 1]);
    dims
}

fn as_columns(dims: &[i64]) -> Option<Vec<i64>> {
    let (image, positions) = dims.split_at_checked(2)?;
    Some([image, &[count(positions)?]].concat())
}

fn int(m: &Module, attrs: Arg, name: &str, default: i64) -> i64 {
    m.ctx.dict_get(attrs.attr(), m.ctx.str(name)).and_then(|a| m.ctx.as_int(a)).unwrap_or(default)
}

fn float(m: &Module, attrs: Arg, name: &str, default: f64) -> f64 {
    m.ctx.dict_get(attrs.attr(), m.ctx.str(name)).and_then(|a| m.ctx.as_float(a)).unwrap_or(default)
}

fn per_channel(m: &Module, x: &[Arg]) -> bool {
    let (Some(few), Some(all), Some(channels)) = (dims(m, x[0]), m.ctx.shape(x[1].ty()), channels(m, x[1])) else {
        return false;
    };
    let Some(first) = all.len().checked_sub(few.len()).filter(|_| !all[2..].contains(&DYNAMIC)) else { return false };
    let one = |(i, &d): (usize, &i64)| d == if first + i == 1 { channels } else { 1 };
    first <= 1 && few.iter().enumerate().all(one)
}

fn row_of(m: &Module, x: &[Arg]) -> bool {
    let (Some(row), Some(all)) = (dims(m, x[0]), dims(m, x[1])) else { return false };
    let Some((last, ones)) = row.split_last() else { return false };
    all.len() >= 2 && all.last() == Some(last) && ones.len() <= 1 && ones.iter().all(|&d| d == 1)
}

fn pointwise(m: &Module, x: &[Arg]) -> bool {
    let all = |name: &str, n: i64| ints(m, x[0], name).is_none_or(|list| list.iter().all(|&i| i == n));
    let padding = m.ctx.dict_get(x[0].attr(), m.ctx.str("auto_pad")).and_then(|a| m.ctx.as_str(a));
    int(m, x[0], "group", 1) == 1
        && all("pads", 0)
        && all("strides", 1)
        && padding.is_none_or(|word| ["NOTSET", "VALID"].contains(&word))
        && dims(m, x[1]).is_some_and(|d| d.len() >= 3 && d[2..].iter().all(|&d| d == 1))
}

fn plain_gemm(m: &Module, attrs: Arg) -> bool {
    let transposes = ["transA", "transB"].into_iter().any(|name| int(m, attrs, name, 0) != 0);
    !transposes && ["alpha", "beta"].into_iter().all(|name| float(m, attrs, name, 1.0).to_bits() == 1f64.to_bits())
}

fn last_axis(m: &Module, x: &[Arg]) -> bool {
    let (axis, rank) = (m.ctx.as_int(x[0].attr()), dims(m, x[1]).map(|d| d.len() as i64));
    axis.zip(rank).is_some_and(|(axis, rank)| axis == -1 || axis == rank - 1)
}

/// Whether two scalars are ordered; a NaN is not.
fn ordered(m: &Module, args: &[Arg]) -> bool {
    let number = |i: usize| m.ctx.as_uniform(args[i].attr());
    number(0).zip(number(1)).is_some_and(|(first, second)| first <= second)
}

fn both_perms(m: &Module, x: &[Arg]) -> Option<Attr> {
    let rank = dims(m, x[2])?.len();
    let perm = |attrs| ints(m, attrs, "perm").unwrap_or_else(|| (0..rank as i64).rev().collect());
    let (last, first) = (perm(x[0]), perm(x[1]));
    let both: Option<Vec<i64>> = last.iter().map(|&i| first.get(usize::try_from(i).ok()?).copied()).collect();
    both.filter(|both| both.len() == rank).map(|both| m.ctx.i64_array_attr(&both))
}

fn tensor(m: &Module, constant: Arg) -> Option<Tensor> {
    m.ctx.dense_tensor(constant.attr())
}

/// Returns a tensor as a constant of the element type of another one.
fn constant(m: &Module, tensor: &Tensor, like: Arg) -> Option<Attr> {
    let elem = m.ctx.element_type(m.ctx.attr_type(like.attr())?);
    let dims: Vec<i64> = tensor.shape().iter().map(|&d| d as i64).collect();
    Some(m.ctx.dense_attr(m.ctx.tensor_type(&dims, elem), tensor))
}

/// Returns a constant with an element per channel of a tensor, or one for all channels, as a vector.
fn per_filter(m: &Module, x: &[Arg]) -> Option<Attr> {
    let (factors, all) = (tensor(m, x[0])?, m.ctx.shape(x[1].ty())?);
    let count = usize::try_from(channels(m, x[1])?).ok()?;
    if factors.len() == 1 && factors.rank() <= all.len() {
        return constant(m, &kernels::expand(&factors.reshape(vec![1]).ok()?, &[count as i64]).ok()?, x[0]);
    }
    let ty = Arg::Type(m.ctx.attr_type(x[0].attr())?);
    if !per_channel(m, &[ty, x[1]]) {
        return None;
    }
    constant(m, &factors.reshape(vec![count]).ok()?, x[0])
}

fn scaled(m: &Module, x: &[Arg]) -> Option<Attr> {
    let product = kernels::mul(&tensor(m, x[0])?, &tensor(m, x[1])?).ok()?;
    let finite = product.to_f64().iter().all(|x| x.is_finite());
    if finite { constant(m, &product, x[0]) } else { None }
}

/// Returns the scale of a batch normalization: `scale / sqrt(variance + epsilon)`.
fn factors(m: &Module, scale: Arg, variance: Arg, attrs: Arg) -> Option<Vec<f64>> {
    let epsilon = float(m, attrs, "epsilon", 1e-5);
    let (scale, variance) = (tensor(m, scale)?.to_f64(), tensor(m, variance)?.to_f64());
    if scale.len() != variance.len() {
        return None;
    }
    let all: Vec<f64> = scale.iter().zip(variance).map(|(s, v)| s / (v + epsilon).sqrt()).collect();
    all.iter().all(|f| f.is_finite()).then_some(all)
}

/// Scales filters by a batch normalization. Arguments: filters, scale, variance, attributes.
fn norm_filters(m: &Module, x: &[Arg]) -> Option<Attr> {
    let (filters, factors) = (tensor(m, x[0])?, factors(m, x[1], x[2], x[3])?);
    let size = filters.len() / factors.len().max(1);
    if filters.shape().first() != Some(&factors.len()) || size == 0 {
        return None;
    }
    let mut scaled = filters.to_f64();
    scaled.chunks_mut(size).zip(&factors).for_each(|(filter, factor)| filter.iter_mut().for_each(|w| *w *= factor));
    constant(m, &floats_to_tensor(filters.dtype(), filters.shape(), scaled), x[0])
}

/// Folds a batch normalization into a bias. Arguments: scale, bias, mean, variance, attributes.
fn norm_bias(m: &Module, before: Option<Arg>, x: &[Arg]) -> Option<Attr> {
    let factors = factors(m, x[0], x[3], x[4])?;
    let (bias, mean) = (tensor(m, x[1])?, tensor(m, x[2])?.to_f64());
    let before = match before {
        Some(before) => tensor(m, before)?.to_f64(),
        None => vec![0.0; mean.len()],
    };
    let added = bias.to_f64().into_iter().zip(factors).zip(mean.into_iter().zip(before));
    let all: Vec<f64> = added.map(|((bias, factor), (mean, before))| bias + (before - mean) * factor).collect();
    if all.len() != bias.len() || all.iter().any(|x| !x.is_finite()) {
        return None;
    }
    constant(m, &floats_to_tensor(bias.dtype(), bias.shape(), all), x[1])
}
