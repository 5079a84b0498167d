//! Lowering of convolutions: layout of the image, and address tables.

use super::emit::{Emitter, ProductOperands};
use gradus_dialects::graph::convolution;
use gradus_dialects::layout::{
    self, AccessFunction, AddressTable, Addressing, Layout, LayoutError, MAX_ENTRIES, MAX_PACKED_ELEMENTS,
    ReductionOrder, TiledLayout, ZERO_PAGE,
};
use gradus_ir::pass::Options;
use gradus_ir::{Builder, Module, Op, Value};
use gradus_reference_kernels::shape::Window;
use std::sync::LazyLock;

/// Maximum number of groups, each of which becomes separate ops.
const MAX_GROUPS: u64 = 1 << 12;

/// Options of the lowering of convolutions.
pub(super) struct ConvReadOptions {
    /// The layout; `None` chooses by cost.
    pub(super) layout: Option<TiledLayout>,
    /// The order of summands; `None` follows the layout.
    order: Option<ReductionOrder>,
    /// Length in elements of runs below which padding is copied instead of addressed.
    min_run: u64,
    pub(super) winograd: WinogradLimits,
    /// Columns of results computed per pass over the image.
    pub(super) column_panel: u64,
    /// Number of runs of summands that start in the time of moving an element.
    pub(super) runs_per_element: u64,
}

/// When a convolution is computed by Winograd's algorithm.
pub(super) struct WinogradLimits {
    /// Minimum number of tiles; 0 disables it.
    pub(super) tiles: i64,
    /// Minimum number of channels and of filters.
    pub(super) channels: i64,
    /// Minimum of channels · filters · tiles.
    pub(super) products: i64,
    /// Maximum number of products held at once.
    pub(super) strip: i64,
}

impl ConvReadOptions {
    /// Reads the options of the pass.
    pub(super) fn of(options: &Options) -> Result<ConvReadOptions, String> {
        let text = options.text("layout");
        let wrong = |error: LayoutError| format!("for the --layout option: '{text}' is no layout: {error}");
        let layout = if text == "auto" { None } else { Some(text.parse().map_err(wrong)?) };
        let order = match options.text("order") {
            "channels-first" => Some(ReductionOrder::ChannelsFirst),
            "channels-last" => Some(ReductionOrder::ChannelsLast),
            _ => None,
        };
        let positive = |name: &str| match options.int(name) {
            value @ 1.. => Ok(value),
            value => Err(format!("for the --{name} option: {value} is not positive")),
        };
        let winograd = WinogradLimits {
            tiles: options.int("winograd"),
            channels: positive("winograd-channels")?,
            products: positive("winograd-products")?,
            strip: positive("winograd-strip")?,
        };
        let min_run = u64::try_from(options.int("min-run")).unwrap_or(0);
        let [column_panel, runs_per_element] =
            [positive("column-panel")?, positive("runs-per-element")?].map(i64::cast_unsigned);
        Ok(ConvReadOptions { layout, order, min_run, winograd, column_panel, runs_per_element })
    }

    /// The order of summands in a layout: channels innermost if they are contiguous.
    fn order_in(&self, layout: &TiledLayout) -> ReductionOrder {
        self.order.unwrap_or_else(|| match layout.levels().last() {
            Some(level) if level.axis == 'C' => ReductionOrder::ChannelsLast,
            _ => ReductionOrder::ChannelsFirst,
        })
    }
}

/// The lowering of a convolution in one layout.
struct Plan<'a> {
    layout: &'a TiledLayout,
    order: ReductionOrder,
    /// Whether the image is copied with its padding.
    is_copied: bool,
    access: AccessFunction,
    image: Layout,
    /// The address table of the first group.
    table: AddressTable<'static>,
}

/// A convolution of static shape.
pub(super) struct Conv {
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

impl Conv {
    /// Returns the convolution that an op computes.
    pub(super) fn of(m: &Module, op: Op, operands: ProductOperands) -> Option<Conv> {
        let extents = |v| m.ctx.static_shape(m.value_type(v)).filter(|d| !d.contains(&0)).map(<[i64]>::to_vec);
        let args = m.args(op)?;
        let (x, w) = (args.opt_operand("x")?, args.opt_operand("w")?);
        let (input, filters) = (extents(x)?, extents(w)?);
        extents(m.result(op, 0))?;
        let (group, window) = convolution(m, op).ok()?;
        Some(Conv { x, w, operands, input, filters, group: group as u64, window })
    }

    /// Number of groups, and extents of the window.
    pub(super) fn groups(&self) -> (u64, &[i64]) {
        (self.group, &self.filters)
    }

    /// Returns the convolution with fewer groups and other filters.
    pub(super) fn merged(self, group: u64, w: Value, filters: Vec<i64>) -> Conv {
        Conv { group, w, filters, ..self }
    }

    /// Whether each channel is a group.
    pub(super) fn is_depthwise(&self) -> bool {
        self.group > 1 && self.filters[1] == 1 && self.filters[0] as u64 == self.group
    }

    /// Lowers the op to products with address tables, in the first of the layouts that is possible.
    pub(super) fn lower(
        &self,
        b: &mut Builder<'_>,
        op: Op,
        axes: &ImageAxes,
        layouts: &[TiledLayout],
        options: &ConvReadOptions,
    ) -> Option<Value> {
        let plan = layouts.iter().find_map(|layout| self.plan(layout, axes.letters, options))?;
        let mut e = Emitter::of(b, op);
        let x = if plan.is_copied { self.padded(&mut e)? } else { self.x };
        let a = e.pack(x, plan.layout, axes.letters)?;
        let rows = self.rows(&mut e, plan.order, axes)?;
        let mut products = Vec::new();
        for (g, (b, operands)) in rows.into_iter().zip(self.operands.split(&mut e, self.group)?).enumerate() {
            let later;
            let table = match g {
                0 => &plan.table,
                _ => {
                    later = self.table_of_group(&plan, g)?;
                    &later
                }
            };
            products.push(e.gemm(a, table, b, &operands)?);
        }
        let product = e.concat(&products, 1)?;
        as_image(&mut e, op, product)
    }

    /// Plans the lowering in a layout. `None` if the layout does not fit the image, or the tables are too large.
    fn plan<'a>(&self, layout: &'a TiledLayout, axes: &str, options: &ConvReadOptions) -> Option<Plan<'a>> {
        let (access, image, is_copied) = self.read(layout, axes, options)?;
        let table = self.table(&access, &image)?;
        Some(Plan { layout, order: options.order_in(layout), is_copied, access, image, table })
    }

    /// The access to an image in a layout, and whether the image is copied with its padding.
    fn read(
        &self,
        layout: &TiledLayout,
        axes: &str,
        options: &ConvReadOptions,
    ) -> Option<(AccessFunction, Layout, bool)> {
        let order = options.order_in(layout);
        let (access, image) = (self.access(order, true), placed(layout, axes, &self.input)?);
        let is_padded = self.window.pads_begin.iter().chain(&self.window.pads_end).any(|&pad| pad > 0);
        match is_padded && access.run(&image).ok()? < options.min_run {
            true => Some((self.access(order, false), placed(layout, axes, &self.padded_extents())?, true)),
            false => Some((access, image, false)),
        }
    }

    /// Number of runs of summands in a layout.
    pub(super) fn runs(&self, layout: &TiledLayout, axes: &str, options: &ConvReadOptions) -> Option<u64> {
        let (access, image, _) = self.read(layout, axes, options)?;
        access.num_outputs().ok()?.checked_mul(access.depth().ok()? / access.run(&image).ok()?)
    }

    /// Number of elements of the image.
    pub(super) fn elements(&self) -> f64 {
        self.input.iter().map(|&d| d as f64).product()
    }

    /// Number of columns of a group's product.
    pub(super) fn columns(&self) -> u64 {
        self.filters[0] as u64 / self.group
    }

    /// The access of the first group.
    fn access(&self, order: ReductionOrder, from_padding: bool) -> AccessFunction {
        access(&self.window, self.input[0] as u64, self.filters[1] as u64, order, from_padding)
    }

    /// The table of the first group. `None` if the tables of all groups are too large.
    fn table(&self, access: &AccessFunction, image: &Layout) -> Option<AddressTable<'static>> {
        let fits = |entries: u64| entries.checked_mul(self.group).is_some_and(|all| all <= MAX_ENTRIES);
        if self.group > MAX_GROUPS || !fits(access.depth().ok()?) {
            return None;
        }
        match access.separable_table(image) {
            Ok(table) => Some(table),
            Err(LayoutError::TooLarge) => None,
            Err(_) => {
                let runs = access.depth().ok()? / access.run(image).ok()?;
                fits(access.num_outputs().ok()?.saturating_mul(runs)).then(|| access.indirect_table(image).ok())?
            }
        }
    }

    /// The table of group `g`, which shares the base addresses of the first group if addresses are separable.
    fn table_of_group<'p>(&self, plan: &'p Plan<'_>, g: usize) -> Option<AddressTable<'p>> {
        let mut access = plan.access.clone();
        access.start[1] = g as i64 * self.filters[1];
        let Addressing::Separable { base, .. } = plan.table.addressing() else {
            return access.indirect_table(&plan.image).ok();
        };
        // Only the first row is computed; other rows have the same distances as in the first group.
        access.m.clear();
        let own = access.separable_table(&plan.image).ok()?;
        let first = i64::from(*base.first()?);
        let relative = own.row(0).map(|at| i32::try_from(at? - first).ok());
        Some(AddressTable::separable(&**base, relative.collect::<Option<Vec<_>>>()?))
    }

    /// The filters of each group as rows of a matrix, in the order of the summands.
    fn rows(&self, e: &mut Emitter<'_, '_>, order: ReductionOrder, axes: &ImageAxes) -> Option<Vec<Value>> {
        let ordered = match order {
            ReductionOrder::ChannelsFirst => self.w,
            ReductionOrder::ChannelsLast => e.pack(self.w, &axes.channels_last, axes.letters)?,
        };
        let depth = self.filters[1..].iter().product();
        let rows = e.reshape(ordered, &[self.filters[0], depth])?;
        e.split(rows, self.group)
    }

    /// Lowers a depthwise convolution.
    pub(super) fn lower_depthwise(&self, b: &mut Builder<'_>, op: Op) -> Option<Value> {
        let axes = ImageAxes::of_rank(self.input.len())?;
        let table = places(&self.window, &self.input)?;
        let mut e = Emitter::of(b, op);
        let a = e.pack(self.x, &axes.channels_last, axes.letters)?;
        let positions = self.window.kernel.iter().product::<usize>() as i64;
        let rows = e.reshape(self.w, &[self.filters[0], positions])?;
        let w = e.transpose(rows)?;
        let sums = e.depthwise(a, &table, w, &self.operands)?;
        as_image(&mut e, op, sums)
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
}

/// The layout of an image, unless it is mostly padding and too large.
fn placed(layout: &TiledLayout, axes: &str, image: &[i64]) -> Option<Layout> {
    layout.of(axes, image).ok().filter(|placed| placed.size() <= MAX_PACKED_ELEMENTS || placed.padding() == 0)
}

/// The access of a window over `channels` channels, relative to the start of the padding if `from_padding`.
fn access(w: &Window, batch: u64, channels: u64, order: ReductionOrder, from_padding: bool) -> AccessFunction {
    let window = |i: usize| layout::SlidingWindow {
        outputs: w.output[i] as u64,
        taps: w.kernel[i] as u64,
        stride: w.strides[i] as u64,
        dilation: w.dilations[i] as u64,
        start: if from_padding { -(w.pads_begin[i] as i64) } else { 0 },
    };
    let windows: Vec<_> = (0..w.output.len()).map(window).collect();
    AccessFunction::conv(batch, 1, channels, &windows, order)
}

/// The addresses of window positions in a channels-last image, one run each.
pub(super) fn places(window: &Window, image: &[i64]) -> Option<AddressTable<'static>> {
    let axes = ImageAxes::of_rank(image.len())?;
    let placed = axes.channels_last.of(axes.letters, image).ok()?;
    let access = access(window, image[0] as u64, 1, ReductionOrder::ChannelsLast, true);
    let table = access.indirect_table(&placed).ok()?;
    // With a single channel, positions of a row are contiguous.
    let address = |at: Option<i64>| at.map_or(Some(ZERO_PAGE), |at| i32::try_from(at).ok());
    let bases = (0..table.rows()).flat_map(|row| table.row(row)).map(address).collect::<Option<Vec<_>>>()?;
    AddressTable::indirect(bases, [table.rows(), table.depth()], usize::try_from(image[1]).ok()?).ok()
}

/// Reshapes rows of channels to the result image of an op.
pub(super) fn as_image(e: &mut Emitter<'_, '_>, op: Op, rows: Value) -> Option<Value> {
    let ty = e.m().value_type(e.m().result(op, 0));
    let extents = e.m().ctx.static_shape(ty)?.to_vec();
    let axes = ImageAxes::of_rank(extents.len())?;
    let pixels: Vec<i64> = [&extents[..1], &extents[2..], &extents[1..2]].concat();
    let pixels = e.reshape(rows, &pixels)?;
    e.unpack(pixels, &axes.channels_last, axes.letters, ty)
}
