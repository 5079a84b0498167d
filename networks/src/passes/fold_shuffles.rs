//! `fold-shuffles`: moves permutations of channels into the constants of table-driven products.

use super::by_patterns::{ByPatterns, names};
use super::propagate_layouts::{made, reshaped, transposition};
use crate::addr::{DepthwiseOp, GemmOp, constant_table, groups, has_stage};
use crate::graph::{ReshapeOp, TransposeOp};
use crate::layout::{AddressTable, Addressing, ZERO_PAGE};
use gradus_ir::pass::{FloatChange, Rewrites};
use gradus_ir::rewrite::Rewriter;
use gradus_ir::{Module, Op, OpDecl, OpState, PassInfo, Pattern, PatternRewriter, Tensor, Type, Value};
use std::ops::Range;

/// The declaration of the pass.
pub const INFO: PassInfo = PassInfo {
    name: "fold-shuffles",
    doc: "Fold permutations of channels into the tables and weights of products

# Before / After

```mlir
%0 = graph.reshape %x, %s : (tensor<4x6xf32>, tensor<3xi64>) -> tensor<4x2x3xf32>
%1 = graph.transpose %0 {perm = array<i64: 0, 2, 1>} : tensor<4x2x3xf32> -> tensor<4x3x2xf32>
%c = addr.gemm %1[%base + %relative], %b : (...) -> tensor<4x8xf32>          // relative = [0, 1, 2, 3, 4, 5]
// becomes, with the columns of %b in the order 0, 2, 4, 1, 3, 5:
%c = addr.gemm %0[%base + %relative], %b2 : (...) -> tensor<4x8xf32>
```

# Does

Reads the channels of a transposed tensor where they were before: a product reads each pixel's channels in the order of their old
addresses, with the constant right operand in the same order. A depthwise convolution is computed before the transposition, with its
weights and other operands per channel permuted, so that the product behind it can fold the transposition. This is how the channel
shuffle between group convolutions is free.

# Refuses

Tables and operands that are not constant; transpositions of other axes than the last ones, and those that other ops use; groups whose
channels are not at the same distances from each other; residuals of depthwise convolutions.

# Cost

Linear in the number of ops, and in the size of the changed constants.",
    rewrites: Rewrites::Names(|_| names(PATTERNS)),
    floats: |_| FloatChange::Reorders,
    statistics: &[("num-changes", "Number of changes")],
    make: |_| Ok(Box::new(ByPatterns(PATTERNS))),
    ..PassInfo::DEFAULT
};

const PATTERNS: &[Pattern] = &[
    Pattern { name: "depthwise-of-shuffle", run: |r, op| depthwise(r, op).is_some() },
    Pattern { name: "gemm-of-shuffle", run: |r, op| gemm(r, op).is_some() },
];

/// Maximum number of permuted channels.
const MAX_CHANNELS: i64 = 1 << 16;

/// A transposition of the last axes of a tensor, as a permutation of the channels into which they are merged.
struct Shuffle {
    /// The tensor before it.
    x: Value,
    /// The old index of each channel.
    from: Vec<usize>,
    /// Extents of the transposed axes before, and their permutation.
    extents: Vec<i64>,
    perm: Vec<i64>,
}

impl Shuffle {
    /// Returns the shuffle that defines a value, possibly through reshapes, all of which have one user.
    fn of(m: &Module, mut value: Value) -> Option<Shuffle> {
        while let Some(reshape) = ReshapeOp::defining(m, value).filter(|_| m.has_one_use(value)) {
            value = reshape.x(m);
        }
        let transpose = TransposeOp::defining(m, value).filter(|_| m.has_one_use(value))?;
        let (x, perm) = (transpose.x(m), m.args(transpose.0)?.ints("perm")?);
        let all = m.ctx.static_shape(m.value_type(x))?;
        let kept = perm.iter().zip(0..).take_while(|&(&axis, i)| axis == i).count();
        let (extents, perm) = (all.get(kept..)?.to_vec(), perm[kept..].iter().map(|axis| axis - kept as i64).collect());
        let channels = extents.iter().try_fold(1_i64, |n, &d| n.checked_mul(d))?;
        let mut shuffle = Shuffle { x, from: Vec::new(), extents, perm };
        if !(2..=MAX_CHANNELS).contains(&channels) {
            return None;
        }
        shuffle.from = (0..channels).map(|channel| shuffle.source(channel)).collect::<Option<_>>()?;
        Some(shuffle)
    }

    /// Returns the old index of a channel.
    fn source(&self, mut channel: i64) -> Option<usize> {
        let stride = |axis: usize| self.extents[axis + 1..].iter().product::<i64>();
        let mut from = 0;
        for &axis in self.perm.iter().rev() {
            let axis = usize::try_from(axis).ok()?;
            let extent = *self.extents.get(axis)?;
            from += channel % extent * stride(axis);
            channel /= extent;
        }
        usize::try_from(from).ok()
    }

    /// Composes separable addresses with the shuffle. `None` if the addresses of some rows are not those of channels of one
    /// pixel, or if the offsets of groups differ.
    fn fold(&self, base: &[i32], relative: &[i32], groups: usize) -> Option<Folded> {
        let (channels, mut offsets) = (i32::try_from(self.from.len()).ok()?, None);
        let (mut bases, mut orders) = (Vec::with_capacity(base.len()), Vec::with_capacity(groups));
        for rows in base.chunks_exact(base.len().checked_div(groups).filter(|&rows| rows > 0)?) {
            let first = rows[0].rem_euclid(channels);
            let source = |(k, &offset): (usize, &i32)| {
                let channel = usize::try_from(first.checked_add(offset)?).ok()?;
                Some((i32::try_from(*self.from.get(channel)?).ok()?, k))
            };
            let mut points = relative.iter().enumerate().map(source).collect::<Option<Vec<_>>>()?;
            points.sort_unstable();
            let start = points.first()?.0;
            let own: Vec<i32> = points.iter().map(|point| point.0 - start).collect();
            if *offsets.get_or_insert_with(|| own.clone()) != own {
                return None;
            }
            for row in rows {
                let pixel = row.checked_sub(first).filter(|pixel| pixel.rem_euclid(channels) == 0)?;
                bases.push(pixel.checked_add(start)?);
            }
            orders.push(points.into_iter().map(|point| point.1).collect());
        }
        Some(Folded { base: bases, relative: offsets?, orders })
    }
}

/// Addresses in the tensor before a shuffle.
struct Folded {
    base: Vec<i32>,
    relative: Vec<i32>,
    /// For each group, the old reduction point of each new one.
    orders: Vec<Vec<usize>>,
}

/// Reads the channels of a product where they were before a shuffle.
fn gemm(r: &mut Rewriter<'_>, op: Op) -> Option<()> {
    let m = r.module();
    let (gemm, args) = (GemmOp::cast(m, op)?, m.args(op)?);
    let (shuffle, groups) = (Shuffle::of(m, gemm.a(m))?, groups(&args)?);
    let table = constant_table(&args)?;
    let Addressing::Separable { base, relative } = table.addressing() else { return None };
    let Folded { base, relative, orders } = shuffle.fold(base, relative, groups)?;
    let factor = m.ctx.dense_tensor(m.constant(gemm.b(m))?)?;
    let &[columns, summands] = factor.shape() else { return None };
    let rows = columns / groups;
    let order = (0..columns).flat_map(|n| orders[n / rows].iter().map(move |k| n * summands + k));
    let factor = gathered(&factor, order);
    let relative = table.encoding().encode(&relative).into_owned();
    let shape =
        |v: Value| m.ctx.static_shape(m.value_type(v)).map(|d| d.iter().map(|&d| d as usize).collect::<Vec<_>>());
    let (bases, offsets) = (shape(gemm.base(m))?, shape(gemm.relative(m))?);
    let mut state = OpState::with_operands_of(m, op);
    let changed = [
        ("base", Tensor::from_vec(&bases, base), gemm.base(m)),
        ("relative", Tensor::from_vec(&offsets, relative), gemm.relative(m)),
        ("b", factor, gemm.b(m)),
    ];
    state.set_operand_group(GemmOp::INFO, "a", &[shuffle.x]);
    for (name, tensor, like) in changed {
        let value = constant(r, op, &tensor, like)?;
        state.set_operand_group(GemmOp::INFO, name, &[value]);
    }
    state.result_types.push(r.module().value_type(r.module().result(op, 0)));
    r.replace_with(op, state).ok().map(drop)
}

/// Computes a depthwise convolution before a shuffle.
fn depthwise(r: &mut Rewriter<'_>, op: Op) -> Option<()> {
    let m = r.module();
    let depthwise = DepthwiseOp::cast(m, op)?;
    let shuffle = Shuffle::of(m, depthwise.a(m)).filter(|_| !has_stage(m, op, "add"))?;
    let channels = shuffle.from.len();
    if !is_per_channel(&constant_table(&m.args(op)?)?, channels) {
        return None;
    }
    let ty = m.value_type(m.result(op, 0));
    let mut inverse = vec![0; channels];
    shuffle.from.iter().enumerate().for_each(|(new, &old)| inverse[old] = new);
    let mut state = OpState::with_operands_of(m, op);
    let mut changed = Vec::new();
    for name in ["b", "b_zero", "bias", "scale"] {
        let Some(value) = m.args(op)?.opt_operand(name) else { continue };
        let tensor = m.ctx.dense_tensor(m.constant(value)?)?;
        let rows = tensor.len().checked_div(channels).filter(|rows| rows * channels == tensor.len());
        match rows.filter(|_| tensor.shape().last() == Some(&channels)) {
            Some(rows) => {
                let order = (0..rows).flat_map(|row| inverse.iter().map(move |&from| row * channels + from));
                changed.push((name, gathered(&tensor, order), value));
            }
            None if tensor.shape().is_empty() => {}
            None => return None,
        }
    }
    state.set_operand_group(DepthwiseOp::INFO, "a", &[shuffle.x]);
    for (name, tensor, like) in changed {
        let value = constant(r, op, &tensor, like)?;
        state.set_operand_group(DepthwiseOp::INFO, name, &[value]);
    }
    state.result_types.push(ty);
    let sums = made(r, op, state)?;
    let shuffled = shuffled(r, op, sums, &shuffle)?;
    let state = reshaped(r, op, shuffled, ty)?;
    r.replace_with(op, state).ok().map(drop)
}

/// Whether all runs are the channels of a pixel.
fn is_per_channel(table: &AddressTable<'_>, channels: usize) -> bool {
    let is_pixel = |&at: &i32| at == ZERO_PAGE || usize::try_from(at).is_ok_and(|at| at.is_multiple_of(channels));
    let Addressing::Indirect { bases, .. } = table.addressing() else { return false };
    table.run() == channels && bases.iter().all(is_pixel)
}

/// Shuffles the columns of a matrix.
fn shuffled(r: &mut Rewriter<'_>, op: Op, rows: Value, shuffle: &Shuffle) -> Option<Value> {
    let m = r.module();
    let (shape, elem) = (m.ctx.static_shape(m.value_type(rows))?, m.ctx.element_type(m.value_type(rows)));
    let before = [&shape[..1], &shuffle.extents].concat();
    let perm: Vec<i64> = std::iter::once(0).chain(shuffle.perm.iter().map(|axis| axis + 1)).collect();
    let before = m.ctx.tensor_type(&before, elem);
    let state = reshaped(r, op, rows, before)?;
    let split = made(r, op, state)?;
    let state = transposition(r.module(), op, split, &perm)?;
    made(r, op, state)
}

/// Returns a tensor of the same type, whose elements are those at these indices.
fn gathered(tensor: &Tensor, indices: impl Iterator<Item = usize>) -> Tensor {
    let size = tensor.dtype().size();
    let at = |i: usize| -> Range<usize> { i * size..(i + 1) * size };
    let mut bytes = Vec::with_capacity(tensor.bytes().len());
    indices.for_each(|i| bytes.extend_from_slice(&tensor.bytes()[at(i)]));
    Tensor::new(tensor.dtype(), tensor.shape().to_vec(), bytes.into()).expect("there is an index for each element")
}

/// Creates a constant of the type of another.
fn constant(r: &mut Rewriter<'_>, op: Op, tensor: &Tensor, like: Value) -> Option<Value> {
    let m = r.module();
    let ty: Type = m.value_type(like);
    let attr = m.ctx.dense_attr(ty, tensor);
    r.constant(op, attr, ty)
}
