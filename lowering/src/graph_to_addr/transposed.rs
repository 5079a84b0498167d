//! Lowering of transposed convolutions: a convolution for each residue of the output position modulo the strides.
//!
//! Output position o reads, at tap v, the input position `(o + pad - v * dilation) / stride`, if the division is exact. The
//! positions of one residue read the same taps, at a distance of one: a convolution with stride 1 and part of the filter,
//! reversed.

use super::choose::Chooser;
use super::conv::{ImageAxes, as_image};
use super::options::ConvOptions;
use super::{MAX_GROUPS, are_lowered};
use crate::emit::{Emitter, ProductOperands};
use gradus_dialects::addr::{Geometry, GeometryKind};
use gradus_dialects::graph::{ConvTransposeOp, transposed_convolution};
use gradus_dialects::layout::{ReductionOrder, SlidingWindow, TiledLayout};
use gradus_ir::{Builder, Op, Tensor, Type, Value};
use gradus_reference_kernels::shape::Window;

/// Maximum number of residues, each of which is a product.
const MAX_RESIDUES: usize = 64;

/// A transposed convolution with constant filters.
struct Transposed {
    /// Extents of the input: batch, channels, image.
    input: Vec<i64>,
    groups: usize,
    window: Window,
    /// Filters, `[C, M / group, K...]`, and their element type.
    filters: (Tensor, Type),
    layout: TiledLayout,
    order: ReductionOrder,
}

/// The outputs of one residue along an axis.
#[derive(Clone)]
struct Residue {
    /// The taps in the order of the positions that they read.
    taps: Vec<usize>,
    window: SlidingWindow,
}

/// Lowers `graph.conv_transpose` of static shape with constant finite filters that have a tap for each residue. Other filters
/// would multiply the zeros around the input, where a transposed convolution adds nothing.
pub(super) fn lower(b: &mut Builder<'_>, op: Op, chooser: &Chooser<'_>) -> Option<Value> {
    let m = &*b.module;
    let conv = ConvTransposeOp(op);
    let (x, w, bias) = (conv.x(m), conv.w(m), conv.b(m));
    are_lowered(m, &[x, w, m.result(op, 0)]).then_some(())?;
    let input = m.ctx.static_shape(m.value_type(x))?.to_vec();
    let (axes, (groups, window)) = (ImageAxes::of_rank(input.len())?, transposed_convolution(m, op).ok()?);
    let filters = (m.ctx.dense_tensor(m.constant(w)?)?, m.ctx.element_type(m.value_type(w)));
    filters.0.to_f64().iter().all(|filter| filter.is_finite()).then_some(())?;
    let layout = chooser.layout(m, op, axes);
    let order = chooser.options.order_in(&layout);
    let all = Transposed { input, groups, window, filters, layout, order };
    let residues = all.residues()?;
    let mut e = Emitter::of(b, op);
    let a = e.pack(x, &all.layout, axes.letters)?;
    let mut products = Vec::with_capacity(residues.len());
    for residue in &residues {
        products.push(all.product(&mut e, a, bias, residue, chooser.options)?);
    }
    let rows = if let [one] = products[..] { one } else { all.interleaved(&mut e, &products)? };
    as_image(&mut e, op, rows)
}

impl Transposed {
    /// Returns the residues along each axis, for each combination in row-major order.
    fn residues(&self) -> Option<Vec<Vec<Residue>>> {
        let count = self.window.strides.iter().try_fold(1_usize, |n, &stride| n.checked_mul(stride))?;
        if count > MAX_RESIDUES || self.groups as u64 > MAX_GROUPS {
            return None;
        }
        let mut all = vec![Vec::new()];
        for axis in 0..self.window.output.len() {
            let along = self.along(axis)?;
            let extended = |some: &Vec<Residue>| {
                let some = some.clone();
                let with = move |residue: &Residue| some.iter().chain([residue]).cloned().collect::<Vec<_>>();
                along.iter().map(with).collect::<Vec<_>>()
            };
            all = all.iter().flat_map(extended).collect();
        }
        Some(all)
    }

    /// Returns the residues along an axis; `None` if one has no taps.
    fn along(&self, axis: usize) -> Option<Vec<Residue>> {
        let w = &self.window;
        let [stride, dilation, pad] = [w.strides[axis], w.dilations[axis], w.pads_begin[axis]].map(|n| n as i64);
        let outputs = w.output[axis].div_ceil(w.strides[axis]) as u64;
        let residue = |residue: i64| {
            let distance = |tap: usize| residue + pad - tap as i64 * dilation;
            let is_read = |tap: &usize| distance(*tap).rem_euclid(stride) == 0;
            let taps: Vec<usize> = (0..w.kernel[axis]).rev().filter(is_read).collect();
            let start = distance(*taps.first()?) / stride;
            let step = taps.get(1).map_or(1, |&second| distance(second) / stride - start);
            let (taps_read, dilation) = (taps.len() as u64, step.cast_unsigned());
            Some(Residue { taps, window: SlidingWindow { outputs, taps: taps_read, stride: 1, dilation, start } })
        };
        (0..stride).map(residue).collect()
    }

    /// Creates the product of a combination of residues.
    fn product(
        &self,
        e: &mut Emitter<'_, '_>,
        a: Value,
        bias: Option<Value>,
        residue: &[Residue],
        options: &ConvOptions,
    ) -> Option<Value> {
        let geometry = Geometry {
            kind: GeometryKind::Conv,
            layout: self.layout.clone(),
            sizes: self.input.clone(),
            groups: self.groups as u64,
            windows: residue.iter().map(|along| along.window).collect(),
            order: self.order,
        };
        let table = options.table(&geometry)?;
        options.describe(e, &geometry);
        let rows = e.constant(&self.rows(residue)?, self.filters.1)?;
        e.gemm(a, (&table, self.groups), rows, &ProductOperands::of([("bias", bias)]))
    }

    /// Returns the filters of a combination of residues, `[M, K]` in the order of the summands.
    fn rows(&self, residue: &[Residue]) -> Option<Tensor> {
        let filters = &self.filters.0;
        let (shape, size) = (filters.shape(), filters.dtype().size());
        let taps: Vec<usize> = residue.iter().enumerate().fold(vec![0], |all, (axis, along)| {
            let extent = shape[2 + axis];
            all.iter().flat_map(|&outer| along.taps.iter().map(move |tap| outer * extent + tap)).collect()
        });
        let (channels, each, positions) = (shape[0] / self.groups, shape[1], shape[2..].iter().product::<usize>());
        let mut bytes = Vec::with_capacity(shape[0] * each * taps.len() * size);
        let mut push = |group: usize, n: usize, c: usize, tap: usize| {
            let at = (((group * channels + c) * each + n) * positions + tap) * size;
            bytes.extend_from_slice(&filters.bytes()[at..at + size]);
        };
        for (group, n) in (0..self.groups).flat_map(|group| (0..each).map(move |n| (group, n))) {
            match self.order {
                ReductionOrder::ChannelsFirst => {
                    (0..channels).for_each(|c| taps.iter().for_each(|&tap| push(group, n, c, tap)));
                }
                ReductionOrder::ChannelsLast => {
                    taps.iter().for_each(|&tap| (0..channels).for_each(|c| push(group, n, c, tap)));
                }
            }
        }
        Tensor::new(filters.dtype(), vec![self.groups * each, channels * taps.len()], bytes.into()).ok()
    }

    /// Interleaves the outputs of all residues: rows of the result image.
    fn interleaved(&self, e: &mut Emitter<'_, '_>, products: &[Value]) -> Option<Value> {
        let w = &self.window;
        let (rank, filters) = (w.output.len(), self.filters.0.shape()[1] * self.groups);
        let each: Vec<i64> = (0..rank).map(|i| w.output[i].div_ceil(w.strides[i]) as i64).collect();
        let strides: Vec<i64> = w.strides.iter().map(|&stride| stride as i64).collect();
        let (batch, filters) = (self.input[0], filters as i64);
        let all = e.concat(products, 0)?;
        let apart = e.reshape(all, &[&strides[..], &[batch], &each, &[filters]].concat())?;
        let axis = |i: usize| [(rank + 1 + i) as i64, i as i64];
        let perm: Vec<i64> =
            [rank as i64].into_iter().chain((0..rank).flat_map(axis)).chain([2 * rank as i64 + 1]).collect();
        let together = e.permute(apart, &perm)?;
        let image: Vec<i64> = each.iter().zip(&strides).map(|(each, stride)| each * stride).collect();
        let image = [&[batch][..], &image, &[filters]].concat();
        let whole = e.reshape(together, &image)?;
        let wanted: Vec<i64> = [batch].into_iter().chain(w.output.iter().map(|&d| d as i64)).chain([filters]).collect();
        if image == wanted { Some(whole) } else { e.slice(whole, &wanted, &vec![1; wanted.len()]) }
    }
}
