//! Transposed convolutions with constant filters: a convolution for each residue of the output position modulo the strides.
//!
//! The output positions of one residue read the same taps, at a distance of one: a convolution with stride 1 and part of the filter,
//! reversed.

use super::{ConvOptions, MAX_GROUPS, Transposed};
use crate::emit::{Emitter, ProductOperands};
use gradus_ir::{Module, Tensor, Type, Value};
use gradus_networks::layout::{ReductionOrder, SlidingWindow};

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
        let mut products = Vec::with_capacity(self.all.len());
        for residue in &self.all {
            let filters = e.constant(&self.filters_of(residue)?, self.filters.1)?;
            let windows = residue.iter().map(|along| along.window).collect();
            let bias = ProductOperands::of([("bias", self.of.bias)]);
            products.push(self.of.product(e, a, windows, filters, &bias, options)?);
        }
        if let [one] = products[..] { Some(one) } else { self.interleaved(e, &products) }
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

    /// Interleaves the outputs of all residues: rows of the result image.
    fn interleaved(&self, e: &mut Emitter<'_, '_>, products: &[Value]) -> Option<Value> {
        let w = &self.of.window;
        let (rank, filters) = (w.output.len(), (self.of.filters * self.of.groups) as i64);
        let each: Vec<i64> = (0..rank).map(|i| w.output[i].div_ceil(w.strides[i]) as i64).collect();
        let strides: Vec<i64> = w.strides.iter().map(|&stride| stride as i64).collect();
        let batch = self.of.input[0];
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
