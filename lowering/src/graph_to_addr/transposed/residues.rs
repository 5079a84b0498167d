//! Transposed convolutions with constant filters: a convolution for each residue of the output position modulo the strides.
//!
//! The output positions of one residue read the same taps, at a distance of one: a convolution with stride 1 and part of the filter,
//! reversed.

use super::{ConvOptions, MAX_GROUPS, Transposed};
use crate::emit::{Emitter, ProductOperands};
use gradus_ir::{Module, Tensor, Type, Value};
use gradus_networks::layout::{ReductionOrder, SlidingWindow};
use gradus_reference_kernels as kernels;

/// Maximum number of residues, each of which is a product.
const MAX_RESIDUES: usize = 64;

/// The residues of a transposed convolution.
pub(super) struct Residues<'a> {
    of: &'a Transposed,
    /// Filters, `[C, M / group, K...]`, and their element type.
    filters: (Tensor, Type),
    /// Residues along each axis, for each combination in row-major order.
    all: Vec<Vec<Residue>>,
}

/// The outputs of one residue along an axis.
#[derive(Clone)]
struct Residue {
    /// The taps in the order of the positions that they read.
    taps: Vec<usize>,
    window: SlidingWindow,
}

impl Residues<'_> {
    /// Returns the residues; `None` if there are too many, or one has no taps.
    pub(super) fn of<'a>(of: &'a Transposed, filters: Tensor, m: &Module) -> Option<Residues<'a>> {
        let count = of.window.strides.iter().try_fold(1_usize, |n, &stride| n.checked_mul(stride))?;
        if count > MAX_RESIDUES || of.groups as u64 > MAX_GROUPS {
            return None;
        }
        let mut all = vec![Vec::new()];
        for axis in 0..of.window.output.len() {
            let along = along(of, axis)?;
            let extended = |some: &Vec<Residue>| {
                let some = some.clone();
                let with = move |residue: &Residue| some.iter().chain([residue]).cloned().collect::<Vec<_>>();
                along.iter().map(with).collect::<Vec<_>>()
            };
            all = all.iter().flat_map(extended).collect();
        }
        Some(Residues { of, filters: (filters, m.ctx.element_type(m.value_type(of.w))), all })
    }

    /// Lowers to rows of the result with channels last.
    pub(super) fn rows(&self, e: &mut Emitter<'_, '_>, options: &ConvOptions) -> Option<Value> {
        let a = e.pack(self.of.x, &self.of.layout, self.of.axes.letters)?;
        if let Some(operands) = self.joint_operands(e.m()) {
            return self.joint(e, a, operands, options);
        }
        let mut products = Vec::with_capacity(self.all.len());
        for residue in &self.all {
            let filters = e.constant(&self.filters_of(residue)?, self.filters.1)?;
            let bias = ProductOperands::of([("bias", self.of.bias)]);
            products.push(self.of.product(e, a, windows(residue), filters, &bias, options)?);
        }
        if let [one] = products[..] { Some(one) } else { self.of_products(e, &products) }
    }

    /// Returns the filters of all residues, and the bias of each, if all read the same windows.
    fn joint_operands(&self, m: &Module) -> Option<(Tensor, Option<Tensor>)> {
        let (first, others) = self.all.split_first()?;
        let is_same = |residue: &Vec<Residue>| windows(residue) == windows(first);
        if self.of.groups > 1 || others.is_empty() || !others.iter().all(is_same) {
            return None;
        }
        let joined = |parts: Vec<Tensor>| kernels::concat(&parts.iter().collect::<Vec<_>>(), 0).ok();
        let filters = joined(self.all.iter().map(|residue| self.filters_of(residue)).collect::<Option<_>>()?)?;
        let bias = match self.of.bias {
            Some(bias) => Some(joined(vec![m.ctx.dense_tensor(m.constant(bias)?)?; self.all.len()])?),
            None => None,
        };
        Some((filters, bias))
    }

    /// Lowers residues that read the same windows to one product, whose columns are the filters of all.
    fn joint(
        &self,
        e: &mut Emitter<'_, '_>,
        a: Value,
        (filters, bias): (Tensor, Option<Tensor>),
        options: &ConvOptions,
    ) -> Option<Value> {
        let filters = e.constant(&filters, self.filters.1)?;
        let bias = if let Some(bias) = bias { Some(e.constant(&bias, self.filters.1)?) } else { None };
        let operands = ProductOperands::of([("bias", bias)]);
        let product = self.of.product(e, a, windows(self.all.first()?), filters, &operands, options)?;
        let ([batch, each, strides, filters], rank) = (self.extents(), self.of.window.output.len());
        let apart = e.reshape(product, &[&batch[..], &each, &strides, &filters].concat())?;
        let axes = (0..rank).flat_map(|i| [1 + i as i64, (1 + rank + i) as i64]);
        let perm: Vec<i64> = [0].into_iter().chain(axes).chain([2 * rank as i64 + 1]).collect();
        self.interleaved(e, apart, &perm)
    }

    /// Returns the filters of a combination of residues, `[M, K]` in the order of the summands.
    fn filters_of(&self, residue: &[Residue]) -> Option<Tensor> {
        let (filters, groups) = (&self.filters.0, self.of.groups);
        let (shape, size) = (filters.shape(), filters.dtype().size());
        let taps: Vec<usize> = residue.iter().enumerate().fold(vec![0], |all, (axis, along)| {
            let extent = shape[2 + axis];
            all.iter().flat_map(|&outer| along.taps.iter().map(move |tap| outer * extent + tap)).collect()
        });
        let (channels, each, positions) = (self.of.channels(), shape[1], self.of.taps());
        let mut bytes = Vec::with_capacity(shape[0] * each * taps.len() * size);
        let mut push = |group: usize, n: usize, c: usize, tap: usize| {
            let at = (((group * channels + c) * each + n) * positions + tap) * size;
            bytes.extend_from_slice(&filters.bytes()[at..at + size]);
        };
        for (group, n) in (0..groups).flat_map(|group| (0..each).map(move |n| (group, n))) {
            match self.of.order {
                ReductionOrder::ChannelsFirst => {
                    (0..channels).for_each(|c| taps.iter().for_each(|&tap| push(group, n, c, tap)));
                }
                ReductionOrder::ChannelsLast => {
                    taps.iter().for_each(|&tap| (0..channels).for_each(|c| push(group, n, c, tap)));
                }
            }
        }
        Tensor::new(filters.dtype(), vec![groups * each, channels * taps.len()], bytes.into()).ok()
    }

    /// Interleaves the outputs of a product for each residue.
    fn of_products(&self, e: &mut Emitter<'_, '_>, products: &[Value]) -> Option<Value> {
        let ([batch, each, strides, filters], rank) = (self.extents(), self.of.window.output.len());
        let all = e.concat(products, 0)?;
        let apart = e.reshape(all, &[&strides[..], &batch, &each, &filters].concat())?;
        let axes = (0..rank).flat_map(|i| [(rank + 1 + i) as i64, i as i64]);
        let perm: Vec<i64> = [rank as i64].into_iter().chain(axes).chain([2 * rank as i64 + 1]).collect();
        self.interleaved(e, apart, &perm)
    }

    /// Returns the extents of a result that is divided by residues: batch, positions of a residue, residues, and filters.
    fn extents(&self) -> [Vec<i64>; 4] {
        let (w, filters) = (&self.of.window, (self.of.filters * self.of.groups) as i64);
        let each = w.output.iter().zip(&w.strides).map(|(output, &stride)| output.div_ceil(stride) as i64).collect();
        let strides = w.strides.iter().map(|&stride| stride as i64).collect();
        [vec![self.of.input[0]], each, strides, vec![filters]]
    }

    /// Makes rows of the result image of a result that is divided by residues, where `perm` has the residues of an axis after its positions.
    fn interleaved(&self, e: &mut Emitter<'_, '_>, apart: Value, perm: &[i64]) -> Option<Value> {
        let [batch, each, strides, filters] = self.extents();
        let together = e.permute(apart, perm)?;
        let image: Vec<i64> = each.iter().zip(&strides).map(|(each, stride)| each * stride).collect();
        let image = [&batch[..], &image, &filters].concat();
        let whole = e.reshape(together, &image)?;
        let outputs: Vec<i64> = self.of.window.output.iter().map(|&d| d as i64).collect();
        let wanted = [&batch[..], &outputs, &filters].concat();
        if image == wanted { Some(whole) } else { e.slice(whole, &wanted, &vec![1; wanted.len()]) }
    }
}

/// Returns the windows of a combination of residues.
fn windows(residue: &[Residue]) -> Vec<SlidingWindow> {
    residue.iter().map(|along| along.window).collect()
}

/// Returns the residues along an axis; `None` if one has no taps.
fn along(of: &Transposed, axis: usize) -> Option<Vec<Residue>> {
    let w = &of.window;
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
