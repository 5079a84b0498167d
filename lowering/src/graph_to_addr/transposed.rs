//! Lowering of transposed convolutions.
//!
//! Output position o reads, at tap v, the input position `(o + pad - v * dilation) / stride`, if the division is exact and the position
//! is in the input. Nothing is added otherwise, not even the product of zero and an infinite filter.
//!
//! | filters | lowering |
//! |---|---|
//! | constant, one channel per group and per filter | a depthwise convolution, with -1 for taps that read nothing |
//! | constant, other | a product for each residue of the output position, or one for all that read the same: `residues.rs` |
//! | other, or not finite, or without a tap for some residue | products with all taps, and their sums: `col2im.rs` |

mod col2im;
mod residues;

use super::choose::ConvChooser;
use super::conv::{ImageAxes, as_image};
use super::options::ConvOptions;
use super::{MAX_GROUPS, NO_TABLE, check_floats};
use crate::emit::{Emitter, ProductOperands};
use crate::operands::extents;
use gradus_ir::{Builder, DType, Module, Op, Refusal, Tensor, Value};
use gradus_networks::addr::{Geometry, GeometryKind};
use gradus_networks::graph::{ConvTransposeOp, transposed_convolution};
use gradus_networks::layout::{
    AddressTable, Index, MAX_ENTRIES, ReductionOrder, SlidingWindow, TiledLayout, ZERO_PAGE,
};
use gradus_reference_kernels::shape::Window;
use residues::Residues;

/// A transposed convolution of static shape.
struct Transposed {
    x: Value,
    w: Value,
    bias: Option<Value>,
    /// Extents of the input: batch, channels, image.
    input: Vec<i64>,
    groups: usize,
    /// Number of filters of a group.
    filters: usize,
    window: Window,
    axes: &'static ImageAxes,
    layout: TiledLayout,
    order: ReductionOrder,
}

/// Lowers `graph.conv_transpose` of static shape.
pub(super) fn lower(b: &mut Builder<'_>, op: Op, chooser: &ConvChooser<'_>) -> Result<Value, Refusal> {
    Transposed::of(b.module, op, chooser)?.lower(b, op, chooser.options)
}

impl Transposed {
    /// Returns the transposed convolution that an op computes.
    fn of(m: &Module, op: Op, chooser: &ConvChooser<'_>) -> Result<Transposed, Refusal> {
        let conv = ConvTransposeOp(op);
        let (x, w, bias) = (conv.x(m), conv.w(m), conv.b(m));
        [x, w, m.result(op, 0)].into_iter().chain(bias).try_for_each(|value| check_floats(m, value))?;
        let (input, shape) = (extents(m, x)?, extents(m, w)?);
        let input: Vec<i64> = input.into_iter().map(|d| d as i64).collect();
        let axes = ImageAxes::of_rank(input.len()).ok_or(Refusal::of(x, "an image of {} axes").with([input.len()]))?;
        let (groups, window) = transposed_convolution(m, op).map_err(|_| "a window that its operands do not have")?;
        let layout = chooser.layout(m, op, axes);
        let order = chooser.options.order_in(&layout);
        Ok(Transposed { x, w, bias, input, groups, filters: shape[1], window, axes, layout, order })
    }

    fn lower(&self, b: &mut Builder<'_>, op: Op, options: &ConvOptions) -> Result<Value, Refusal> {
        let mut e = Emitter::of(b, op);
        let rows = match self.finite_filters(e.m()) {
            Some(filters) if self.is_depthwise(&filters) => self.depthwise(&mut e),
            Some(filters) => Residues::of(self, filters, e.m()).and_then(|all| all.rows(&mut e, options)),
            None => None,
        };
        let rows = match rows {
            Some(rows) => rows,
            None => self.by_col2im(&mut e, options)?,
        };
        as_image(&mut e, op, rows).ok_or(NO_TABLE.into())
    }

    /// Returns the filters if they are constant and finite.
    fn finite_filters(&self, m: &Module) -> Option<Tensor> {
        let filters = m.ctx.dense_tensor(m.constant(self.w)?)?;
        filters.to_f64().iter().all(|filter| filter.is_finite()).then_some(filters)
    }

    /// Number of channels of a group.
    fn channels(&self) -> usize {
        self.input[1] as usize / self.groups
    }

    /// Number of taps of a filter.
    fn taps(&self) -> usize {
        self.window.kernel.iter().product()
    }

    /// Whether each channel is a group with one filter, of a type and in a layout that depthwise convolutions have.
    fn is_depthwise(&self, filters: &Tensor) -> bool {
        let is_single = self.groups > 1 && self.channels() == 1 && self.filters == 1;
        let has_type = matches!(filters.dtype(), DType::F32 | DType::F16 | DType::BF16);
        is_single && has_type && self.layout == self.axes.channels_last
    }

    /// Lowers a depthwise convolution.
    fn depthwise(&self, e: &mut Emitter<'_, '_>) -> Option<Value> {
        let rows = self.sources(self.input[1], 1, |_, _| 0)?;
        let table = AddressTable::indirect(rows.concat(), [rows.len(), self.taps()], self.input[1] as usize).ok()?;
        let a = e.pack(self.x, &self.axes.channels_last, self.axes.letters)?;
        let w = e.reshape(self.w, &[self.input[1], self.taps() as i64])?;
        let w = e.transpose(w)?;
        e.depthwise(a, &table, w, &ProductOperands::of([("bias", self.bias)]))
    }

    /// Returns the addresses that each output position and group of channels reads at each tap, positions outermost in row-major order:
    /// those of `channel(group, tap)` in an image with these channels last, and the extents of the input. `None` if there are too many.
    fn sources(&self, channels: i64, groups: usize, channel: impl Fn(usize, usize) -> usize) -> Option<Vec<Vec<i32>>> {
        let sizes = [&[self.input[0], channels], &self.input[2..]].concat();
        let image = self.axes.channels_last.of(self.axes.letters, &sizes).ok()?;
        let outputs = self.window.output.iter().try_fold(self.input[0] as usize, |n, &d| n.checked_mul(d))?;
        let rows = outputs.checked_mul(groups)?;
        if rows.checked_mul(self.taps())? as u64 > MAX_ENTRIES || image.size() > i32::MAX as u64 {
            return None;
        }
        let source = |row: usize, tap: usize| {
            let mut index = self.source(row / groups, tap)?;
            index[1] = channel(row % groups, tap) as u64;
            Some(image.offset(&index) as i32)
        };
        let sources = |row| (0..self.taps()).map(|tap| source(row, tap).unwrap_or(ZERO_PAGE)).collect();
        Some((0..rows).map(sources).collect())
    }

    /// Returns the index in the input, in channel 0, that an output position reads at a tap.
    fn source(&self, mut row: usize, mut tap: usize) -> Option<Index> {
        let w = &self.window;
        let mut index = Index::from_elem(0, self.input.len());
        for axis in (0..w.output.len()).rev() {
            let output = row % w.output[axis] + w.pads_begin[axis];
            let distance = output.checked_sub(tap % w.kernel[axis] * w.dilations[axis])?;
            let is_read = distance.is_multiple_of(w.strides[axis]) && distance / w.strides[axis] < w.input[axis];
            index[2 + axis] = is_read.then_some(distance / w.strides[axis])? as u64;
            (row, tap) = (row / w.output[axis], tap / w.kernel[axis]);
        }
        index[0] = row as u64;
        Some(index)
    }

    /// Creates the products of the windows of `x` with filters, `[M, K]` in the order of the summands.
    fn product(
        &self,
        e: &mut Emitter<'_, '_>,
        a: Value,
        windows: Vec<SlidingWindow>,
        filters: Value,
        operands: &ProductOperands,
        options: &ConvOptions,
    ) -> Option<Value> {
        let geometry = Geometry {
            kind: GeometryKind::Conv,
            layout: self.layout.clone(),
            sizes: self.input.clone(),
            groups: self.groups as u64,
            windows,
            order: self.order,
        };
        let table = options.table(&geometry)?;
        options.describe(e, &geometry);
        e.gemm(a, (&table, self.groups), filters, operands)
    }
}
