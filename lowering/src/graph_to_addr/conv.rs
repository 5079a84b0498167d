//! Lowering of convolutions: layout of the image, and address tables.

use super::MAX_GROUPS;
use super::options::ConvOptions;
use crate::emit::{Emitter, ProductOperands};
use crate::operands::extents;
use gradus_dialects::op_cost::{Contraction, OpCost};
use gradus_ir::{Builder, Module, Op, Refusal, Value};
use gradus_networks::addr::{Geometry, GeometryKind};
use gradus_networks::graph::{TensorSlice, convolution};
use gradus_networks::layout::{
    AccessFunction, Layout, LayoutError, Level, MAX_ENTRIES, MAX_PACKED_ELEMENTS, ReductionOrder, SlidingWindow,
    TiledLayout, bands, image_layout, result_layout,
};
use gradus_reference_kernels::shape::Window;
use std::sync::LazyLock;

/// The rule of ops without the operands of their declaration.
pub(super) const NOT_DECLARED: &str = "an op that is not as it is declared";

/// The letters of image dimensions, outermost first.
const IMAGE: &str = "DHW";

/// The access to the image of a convolution.
pub(super) struct Reading {
    pub layout: TiledLayout,
    /// Whether the image is copied with its padding; otherwise padding has no address.
    pub is_copied: bool,
}

/// A convolution of static shape.
pub(super) struct StaticConv {
    pub x: Value,
    pub w: Value,
    pub operands: ProductOperands,
    /// Extents of the input: batch, channels, image.
    pub input: Vec<i64>,
    /// Extents of the filters: number, channels per group, window.
    pub filters: Vec<i64>,
    pub group: u64,
    pub window: Window,
}

impl StaticConv {
    /// Returns the convolution that an op computes.
    pub(super) fn of(m: &Module, op: Op, operands: ProductOperands) -> Result<StaticConv, Refusal> {
        let extents = |v| extents(m, v).map(|all| all.into_iter().map(|d| d as i64).collect::<Vec<_>>());
        let args = m.args(op).ok_or(NOT_DECLARED)?;
        let operand = |name| args.opt_operand(name).ok_or(NOT_DECLARED);
        let (x, w) = (operand("x")?, operand("w")?);
        let (input, filters) = (extents(x)?, extents(w)?);
        extents(m.result(op, 0))?;
        // A bias of other extents is poison if another operand is, but undefined behavior in a product.
        if let Some(bias) = args.opt_operand("b") {
            extents(bias)?;
        }
        let (group, window) = convolution(m, op).map_err(|_| "a window that its operands do not have")?;
        Ok(StaticConv { x, w, operands, input, filters, group: group as u64, window })
    }

    /// Returns the refusal of an image of other axes.
    pub(super) fn other_axes(&self) -> Refusal {
        Refusal::of(self.x, "an image of {} axes").with([self.input.len()])
    }

    /// Returns the number of groups, and extents of the window.
    pub(super) fn groups(&self) -> (u64, &[i64]) {
        (self.group, &self.filters)
    }

    /// Returns the convolution with fewer groups and other filters.
    pub(super) fn merged(self, group: u64, w: Value, filters: Vec<i64>) -> StaticConv {
        StaticConv { group, w, filters, ..self }
    }

    /// Whether each channel is a group.
    pub(super) fn is_depthwise(&self) -> bool {
        self.group > 1 && self.filters[1] == 1 && self.filters[0] as u64 == self.group
    }

    /// Whether images have one or two dimensions, of floats of at most 32 bits.
    pub(super) fn is_planar(&self, m: &Module) -> bool {
        let elem = m.ctx.element_type(m.value_type(self.x));
        matches!(self.input.len(), 3 | 4)
            && m.ctx.dtype(elem).is_some_and(|dtype| dtype.is_float() && dtype.size() <= 4)
    }

    /// Lowers the op to products with address tables. `None` if the layout does not fit the image, or the tables are too
    /// large.
    pub(super) fn lower(
        &self,
        b: &mut Builder<'_>,
        op: Op,
        axes: &ImageAxes,
        reading: &Reading,
        options: &ConvOptions,
    ) -> Option<Value> {
        let geometry = self.geometry(reading, options);
        let rows = placed(&geometry).and(geometry.access().ok())?.num_outputs().ok()?;
        if self.group > MAX_GROUPS || rows > MAX_ENTRIES {
            return None;
        }
        let table = options.table(&geometry)?;
        let mut e = Emitter::of(b, op);
        options.describe(&mut e, &geometry);
        let x = if reading.is_copied { self.padded(&mut e)? } else { self.x };
        let a = e.pack(x, &reading.layout, axes.letters)?;
        let rows = self.rows(&mut e, options.order_in(&reading.layout), axes)?;
        let product = e.gemm(a, (&table, self.group as usize), rows, &self.operands)?;
        as_image(&mut e, op, product)
    }

    /// Returns the geometry of a reading.
    pub(super) fn geometry(&self, Reading { layout, is_copied }: &Reading, options: &ConvOptions) -> Geometry {
        Geometry {
            kind: GeometryKind::Conv,
            layout: layout.clone(),
            sizes: if *is_copied { self.padded_extents() } else { self.input.clone() },
            groups: self.group,
            windows: sliding(&self.window, !is_copied),
            order: options.order_in(layout),
        }
    }

    /// Returns the access to an image, and the image's layout.
    fn read(&self, reading: &Reading, options: &ConvOptions) -> Option<(AccessFunction, Layout)> {
        let geometry = self.geometry(reading, options);
        Some((geometry.access().ok()?, placed(&geometry)?))
    }

    /// Returns the accesses that are possible in a layout: padding by addresses or by a copy.
    pub(super) fn readings(&self, layout: &TiledLayout) -> Vec<Reading> {
        let copied = [false, true].into_iter().take(if self.window.is_padded() { 2 } else { 1 });
        copied.map(|is_copied| Reading { layout: layout.clone(), is_copied }).collect()
    }

    /// Returns the access in a layout where prices do not choose: padding is copied if runs are short.
    pub(super) fn reading(&self, layout: &TiledLayout, options: &ConvOptions) -> Option<Reading> {
        let reading = |is_copied| Reading { layout: layout.clone(), is_copied };
        let (access, image) = self.read(&reading(false), options)?;
        Some(reading(self.window.is_padded() && access.run(&image).ok()? < options.min_run))
    }

    /// Returns the cost descriptors of the ops that it becomes: the copy with padding, and the products.
    pub(super) fn ops(&self, reading: &Reading, options: &ConvOptions) -> Option<Vec<OpCost>> {
        let (access, image) = self.read(reading, options)?;
        let (rows, depth) = (access.num_outputs().ok()?, access.depth().ok()?);
        let runs = rows.checked_mul(depth / access.run(&image).ok()?)?;
        let products = Contraction { runs, ..Contraction::dense(self.group, rows / self.group, depth, self.columns()) };
        let copied = reading.is_copied.then(|| OpCost::Move(elements(&self.padded_extents())));
        Some(copied.into_iter().chain([OpCost::Contract(products)]).collect())
    }

    /// Returns the number of elements of the image.
    pub(super) fn elements(&self) -> u64 {
        elements(&self.input)
    }

    /// Returns the number of columns of a group's product.
    fn columns(&self) -> u64 {
        self.filters[0] as u64 / self.group
    }

    /// Returns the filters of all groups as rows of a matrix, in the order of the summands.
    fn rows(&self, e: &mut Emitter<'_, '_>, order: ReductionOrder, axes: &ImageAxes) -> Option<Value> {
        let ordered = match order {
            ReductionOrder::ChannelsFirst => self.w,
            ReductionOrder::ChannelsLast => e.pack(self.w, &axes.channels_last, axes.letters)?,
        };
        e.reshape(ordered, &[self.filters[0], self.filters[1..].iter().product()])
    }

    /// Lowers a depthwise convolution.
    pub(super) fn lower_depthwise(&self, b: &mut Builder<'_>, op: Op, options: &ConvOptions) -> Option<Value> {
        let axes = ImageAxes::of_rank(self.input.len())?;
        let geometry = places(&self.window, &self.input, &axes.channels_last);
        let table = options.table(&geometry)?;
        let mut e = Emitter::of(b, op);
        options.describe(&mut e, &geometry);
        let a = e.pack(self.x, &axes.channels_last, axes.letters)?;
        let positions = self.window.kernel.iter().product::<usize>() as i64;
        let rows = e.reshape(self.w, &[self.filters[0], positions])?;
        let w = e.transpose(rows)?;
        let sums = e.depthwise(a, &table, w, &self.operands)?;
        as_image(&mut e, op, sums)
    }

    /// The rows of an image that the convolution reads, with the extents of that image, if padding of the rows is that of the image.
    fn rows_of_image(&self, m: &Module) -> Option<(TensorSlice, Vec<i64>)> {
        let part = TensorSlice::of(m, self.x).filter(|part| part.axis == 2)?;
        let image = m.ctx.static_shape(m.value_type(part.whole))?;
        let (above, below) = (*self.window.pads_begin.first()?, *self.window.pads_end.first()?);
        let is_inside = (above == 0 || part.start == 0) && (below == 0 || part.start + part.extent == image[2]);
        is_inside.then(|| (part, image.to_vec()))
    }

    /// Lowers a convolution of images with channels first, possibly in bands if it is depthwise.
    pub(super) fn lower_planes(&self, b: &mut Builder<'_>, op: Op) -> Option<Value> {
        let axes = ImageAxes::of_rank(self.input.len())?;
        let ty = b.module.value_type(b.module.result(op, 0));
        let extents = b.module.ctx.static_shape(ty)?.to_vec();
        let in_bands = |layout: &TiledLayout, of| self.is_depthwise() && bands(layout, of) > Some(1);
        let layout = image_layout(b.module, op).filter(|layout| in_bands(layout, &self.input));
        let result = result_layout(b.module, op).filter(|layout| in_bands(layout, &extents));
        let mut geometry = places(&self.window, &self.input, layout.as_ref().unwrap_or(&axes.plain));
        let rows = self.rows_of_image(b.module).filter(|_| layout.is_none());
        let mut e = Emitter::of(b, op);
        let w = e.reshape(self.w, &[self.filters[0], self.filters[1..].iter().product()])?;
        let image = match (&layout, rows) {
            (Some(layout), _) => e.pack(self.x, layout, axes.letters)?,
            (None, Some((part, image))) => {
                geometry.windows[0].start += part.start;
                geometry.sizes = image;
                part.whole
            }
            (None, None) => self.x,
        };
        let of_result = result.as_ref().and_then(|layout| bands(layout, &extents));
        let sums = e.conv_planes(image, &geometry, w, (&self.operands, of_result))?;
        let Some(result) = result else { return e.reshape(sums, &extents) };
        let packed = e.reshape(sums, &result.extents(axes.letters, &extents).ok()?)?;
        e.unpack(packed, &result, axes.letters, ty)
    }

    fn padded_extents(&self) -> Vec<i64> {
        let around = self.window.pads_begin.iter().zip(&self.window.pads_end).map(|(&a, &b)| (a + b) as i64);
        let image = self.input[2..].iter().zip(around).map(|(&d, pads)| d + pads);
        self.input[..2].iter().copied().chain(image).collect()
    }

    fn padded(&self, e: &mut Emitter<'_, '_>) -> Option<Value> {
        let ends = [&self.window.pads_begin, &self.window.pads_end];
        let pads: Vec<i64> =
            ends.iter().flat_map(|pads| [0, 0].into_iter().chain(pads.iter().map(|&p| p as i64))).collect();
        e.pad(self.x, &pads, self.operands.get("a_zero"))
    }
}

/// The axes of a batch of images.
pub(super) struct ImageAxes {
    /// The letters of batch, channels, and up to three image dimensions: `NCHW`.
    pub letters: &'static str,
    /// The row-major layout: `NCHW`.
    pub plain: TiledLayout,
    /// The channels-last layout: `NHWC`.
    pub channels_last: TiledLayout,
}

impl ImageAxes {
    /// Returns the axes of a tensor of this rank. `None` if it is not a batch of images.
    pub(super) fn of_rank(rank: usize) -> Option<&'static ImageAxes> {
        /// For each rank from 2 on.
        static ALL: LazyLock<[ImageAxes; 4]> = LazyLock::new(|| {
            [("NC", "NC"), ("NCW", "NWC"), ("NCHW", "NHWC"), ("NCDHW", "NDHWC")].map(|(letters, channels_last)| {
                let [plain, channels_last] = [letters, channels_last].map(|order| order.parse().expect("a layout"));
                ImageAxes { letters, plain, channels_last }
            })
        });
        ALL.get(rank.checked_sub(2)?)
    }

    /// Returns a layout without the loops of image dimensions that these images do not have, and with loops of those that it
    /// lacks around the next inner one.
    ///
    /// # Errors
    /// Batch or channels are missing, or there are unknown dimensions.
    pub(super) fn adapted(&self, layout: &TiledLayout) -> Result<TiledLayout, LayoutError> {
        let mut levels = layout.levels().to_vec();
        levels.retain(|level| self.letters.contains(level.axis) || !IMAGE.contains(level.axis));
        for axis in IMAGE.chars().rev().filter(|&axis| self.letters.contains(axis)) {
            let inner = IMAGE.chars().skip_while(|&other| other != axis).skip(1);
            let is_inner = |level: &Level| level.tile.is_none() && inner.clone().any(|other| other == level.axis);
            if levels.iter().all(|level| level.axis != axis) {
                let at = levels.iter().position(is_inner).unwrap_or(levels.len());
                levels.insert(at, Level { axis, tile: None });
            }
        }
        let order: String = levels.iter().map(Level::to_string).collect();
        let adapted = order.parse::<TiledLayout>()?.with_pad(layout.pad());
        adapted.extents(self.letters, &vec![1; self.letters.len()])?;
        Ok(adapted)
    }
}

/// Returns the number of elements of a tensor with these extents.
fn elements(extents: &[i64]) -> u64 {
    extents.iter().fold(1, |n, &d| n.saturating_mul(d.cast_unsigned()))
}

/// Returns the layout of an image, unless it is mostly padding and too large.
fn placed(geometry: &Geometry) -> Option<Layout> {
    geometry.placed().ok().filter(|placed| placed.size() <= MAX_PACKED_ELEMENTS || placed.padding() == 0)
}

/// Returns the sliding windows along each axis, relative to the start of the padding if `from_padding`.
fn sliding(w: &Window, from_padding: bool) -> Vec<SlidingWindow> {
    let window = |i: usize| SlidingWindow {
        outputs: w.output[i] as u64,
        taps: w.kernel[i] as u64,
        stride: w.strides[i] as u64,
        dilation: w.dilations[i] as u64,
        start: if from_padding { -(w.pads_begin[i] as i64) } else { 0 },
    };
    (0..w.output.len()).map(window).collect()
}

/// Returns the geometry of window positions in an image, each with runs of the innermost channels.
pub(super) fn places(window: &Window, image: &[i64], layout: &TiledLayout) -> Geometry {
    let (windows, order) = (sliding(window, true), ReductionOrder::ChannelsLast);
    let (sizes, layout) = (image.to_vec(), layout.clone());
    Geometry { kind: GeometryKind::Windows, layout, sizes, groups: 1, windows, order }
}

/// Reshapes rows of channels to the result image of an op.
pub(super) fn as_image(e: &mut Emitter<'_, '_>, op: Op, rows: Value) -> Option<Value> {
    let rank = e.m().ctx.static_shape(e.m().value_type(e.m().result(op, 0)))?.len();
    as_image_in(e, op, rows, &ImageAxes::of_rank(rank)?.channels_last)
}

/// Reshapes the elements of a layout to the result image of an op.
pub(super) fn as_image_in(e: &mut Emitter<'_, '_>, op: Op, elements: Value, layout: &TiledLayout) -> Option<Value> {
    let ty = e.m().value_type(e.m().result(op, 0));
    let extents = e.m().ctx.static_shape(ty)?.to_vec();
    let axes = ImageAxes::of_rank(extents.len())?;
    let image = e.reshape(elements, &layout.extents(axes.letters, &extents).ok()?)?;
    e.unpack(image, layout, axes.letters, ty)
}
