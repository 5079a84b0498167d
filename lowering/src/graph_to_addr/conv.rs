//! Convolutions: which layout the image is read in, and the tables for it.

use super::choose::candidates;
use super::emit::{Emitter, ProductOperands};
use gradus_dialects::graph::convolution;
use gradus_dialects::layout::{
    self, AccessFunction, IndirectionTable, Layout, LayoutError, MAX_ENTRIES, MAX_PACKED_ELEMENTS, ReductionOrder,
    TiledLayout, ZERO_PAGE,
};
use gradus_ir::pass::Options;
use gradus_ir::{Builder, Module, Op, Value};
use gradus_reference_kernels::shape::Window;

/// Each group is ops of its own: of more there are none.
const MAX_GROUPS: u64 = 1 << 12;

/// How images are read, as the pass is told.
pub(super) struct Reading {
    /// The one that costs least if it is not said.
    layout: Option<TiledLayout>,
    /// The order of the summands; what suits the layout if it is not said.
    order: Option<ReductionOrder>,
    /// Padding is copied where fewer summands than these lie side by side.
    min_run: u64,
    /// From so many tiles on windows of three by three are fewer products; never if it is none.
    winograd: i64,
}

impl Reading {
    /// What the options of the pass say.
    pub(super) fn of(options: &Options) -> Result<Reading, String> {
        let text = options.text("layout");
        let wrong = |error: LayoutError| format!("for the --layout option: '{text}' is no layout: {error}");
        let layout = if text == "auto" { None } else { Some(text.parse().map_err(wrong)?) };
        let order = match options.text("order") {
            "channels-first" => Some(ReductionOrder::ChannelsFirst),
            "channels-last" => Some(ReductionOrder::ChannelsLast),
            _ => None,
        };
        let (min_run, winograd) = (u64::try_from(options.int("min-run")).unwrap_or(0), options.int("winograd"));
        Ok(Reading { layout, order, min_run, winograd })
    }

    /// The order of summands in a layout: if it is not said, channels are the innermost where they lie beside each other.
    fn order_in(&self, layout: &TiledLayout) -> ReductionOrder {
        self.order.unwrap_or_else(|| match layout.levels().last() {
            Some(level) if level.axis == 'C' => ReductionOrder::ChannelsLast,
            _ => ReductionOrder::ChannelsFirst,
        })
    }
}

/// Where products find the elements of the image.
enum Table {
    /// The groups share the table of rows, and each has its own of summands.
    Sums { base: Vec<i32>, relative: Vec<Vec<i32>> },
    /// One for each group.
    Each(Vec<IndirectionTable>),
}

/// How a convolution reads its image.
struct Plan<'a> {
    layout: &'a TiledLayout,
    order: ReductionOrder,
    /// Whether a copy with its padding is read, as if there were none.
    is_copied: bool,
    table: Table,
}

/// A convolution of known extents.
pub(super) struct Conv {
    pub x: Value,
    pub w: Value,
    pub operands: ProductOperands,
    /// Of the input: batch, channels, image.
    pub input: Vec<i64>,
    /// Of the filters: how many, channels of a group, extents.
    pub filters: Vec<i64>,
    pub group: u64,
    pub window: Window,
}

impl Conv {
    /// The convolution that an op of any kind is.
    pub(super) fn of(m: &Module, op: Op, operands: ProductOperands) -> Option<Conv> {
        let extents = |v| m.ctx.static_shape(m.value_type(v)).filter(|d| !d.contains(&0)).map(<[i64]>::to_vec);
        let args = m.args(op)?;
        let (x, w) = (args.opt_operand("x")?, args.opt_operand("w")?);
        let (input, filters) = (extents(x)?, extents(w)?);
        extents(m.result(op, 0))?;
        let (group, window) = convolution(m, op).ok()?;
        Some(Conv { x, w, operands, input, filters, group: group as u64, window })
    }

    /// How many groups there are, and the extents of filters.
    pub(super) fn groups(&self) -> (u64, &[i64]) {
        (self.group, &self.filters)
    }

    /// The same with fewer groups and other filters.
    pub(super) fn merged(self, group: u64, w: Value, filters: Vec<i64>) -> Conv {
        Conv { group, w, filters, ..self }
    }

    /// Whether each channel is a group of its own.
    pub(super) fn is_depthwise(&self) -> bool {
        self.group > 1 && self.filters[1] == 1 && self.filters[0] as u64 == self.group
    }

    pub(super) fn lower(&self, b: &mut Builder<'_>, op: Op, reading: &Reading) -> Option<Value> {
        if reading.winograd > 0
            && let Some(value) = self.lower_winograd(b, op, reading.winograd)
        {
            return Some(value);
        }
        let axes = axes(self.input.len())?;
        let last = channels_last(&axes)?;
        let layouts = match &reading.layout {
            Some(layout) => vec![layout.clone(), last.clone()],
            None => candidates(b.module, self, &axes, reading)?,
        };
        let plan = layouts.iter().find_map(|layout| self.plan(layout, &axes, reading))?;
        let mut e = Emitter::of(b, op);
        let x = if plan.is_copied { self.padded(&mut e)? } else { self.x };
        let a = e.pack(x, plan.layout, &axes)?;
        let rows = self.rows(&mut e, plan.order, &last, &axes)?;
        let mut products = Vec::new();
        for (g, (b, operands)) in rows.into_iter().zip(self.operands.split(&mut e, self.group)?).enumerate() {
            products.push(match &plan.table {
                Table::Sums { base, relative } => e.gemm(a, base, &relative[g], b, &operands)?,
                Table::Each(tables) => e.indirect_gemm(a, &tables[g], b, &operands)?,
            });
        }
        let product = e.concat(&products, 1)?;
        as_image(&mut e, op, product)
    }

    /// How to read an image in that layout. `None` if the layout is not one of such images, or the tables are too large.
    fn plan<'a>(&self, layout: &'a TiledLayout, axes: &str, reading: &Reading) -> Option<Plan<'a>> {
        let (access, placed, is_copied) = self.read(layout, axes, reading)?;
        Some(Plan { layout, order: reading.order_in(layout), is_copied, table: self.table(&access, &placed)? })
    }

    /// What is read of an image in a layout, and whether that is a copy with its padding.
    fn read(&self, layout: &TiledLayout, axes: &str, reading: &Reading) -> Option<(AccessFunction, Layout, bool)> {
        let order = reading.order_in(layout);
        let (access, image) = (self.access(order, true), placed(layout, axes, &self.input)?);
        let is_padded = self.window.pads_begin.iter().chain(&self.window.pads_end).any(|&pad| pad > 0);
        match is_padded && access.run(&image).ok()? < reading.min_run {
            true => Some((self.access(order, false), placed(layout, axes, &self.padded_extents())?, true)),
            false => Some((access, image, false)),
        }
    }

    /// How many runs of summands are read in a layout.
    pub(super) fn runs(&self, layout: &TiledLayout, axes: &str, reading: &Reading) -> Option<u64> {
        let (access, image, _) = self.read(layout, axes, reading)?;
        access.num_outputs().ok()?.checked_mul(access.depth().ok()? / access.run(&image).ok()?)
    }

    /// How many elements the image has.
    pub(super) fn elements(&self) -> f64 {
        self.input.iter().map(|&d| d as f64).product()
    }

    /// How many columns the product of a group has.
    pub(super) fn columns(&self) -> u64 {
        self.filters[0] as u64 / self.group
    }

    /// What the first group reads.
    fn access(&self, order: ReductionOrder, from_padding: bool) -> AccessFunction {
        access(&self.window, self.input[0] as u64, self.filters[1] as u64, order, from_padding)
    }

    /// Where each group reads. `None` if that, for all groups, is too large.
    fn table(&self, access: &AccessFunction, placed: &Layout) -> Option<Table> {
        let of_group = |g: u64| {
            let mut own = access.clone();
            own.start[1] = g as i64 * self.filters[1];
            own
        };
        let fits = |entries: u64| entries.checked_mul(self.group).is_some_and(|all| all <= MAX_ENTRIES);
        if self.group > MAX_GROUPS || !fits(access.depth().ok()?) {
            return None;
        }
        match access.tables(placed) {
            Ok(first) => {
                let mut relative = Vec::new();
                for g in 0..self.group {
                    // Of its rows only the first is looked at: the others are as far from it as in the first group.
                    let own = AccessFunction { m: Default::default(), ..of_group(g) }.tables(placed).ok()?;
                    let further = own.base[0] - first.base[0];
                    relative.push(own.relative.iter().map(|offset| offset + further).collect());
                }
                Some(Table::Sums { base: first.base, relative })
            }
            Err(LayoutError::TooLarge) => None,
            Err(_) => {
                let runs = access.depth().ok()? / access.run(placed).ok()?;
                if !fits(access.num_outputs().ok()?.saturating_mul(runs)) {
                    return None;
                }
                (0..self.group).map(|g| of_group(g).indirection(placed).ok()).collect::<Option<_>>().map(Table::Each)
            }
        }
    }

    /// The filters of each group as the rows of a matrix, in the order of the summands.
    fn rows(
        &self,
        e: &mut Emitter<'_, '_>,
        order: ReductionOrder,
        last: &TiledLayout,
        axes: &str,
    ) -> Option<Vec<Value>> {
        let ordered = match order {
            ReductionOrder::ChannelsFirst => self.w,
            ReductionOrder::ChannelsLast => e.pack(self.w, last, axes)?,
        };
        let depth = self.filters[1..].iter().product();
        let rows = e.reshape(ordered, &[self.filters[0], depth])?;
        e.split(rows, self.group)
    }

    /// Each channel by itself.
    pub(super) fn lower_depthwise(&self, b: &mut Builder<'_>, op: Op) -> Option<Value> {
        let axes = axes(self.input.len())?;
        let (last, table) = (channels_last(&axes)?, places(&self.window, &self.input)?);
        let mut e = Emitter::of(b, op);
        let a = e.pack(self.x, &last, &axes)?;
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

/// The letters of a tensor's axes: batch and channels, and of an image up to three.
pub(super) fn axes(rank: usize) -> Option<String> {
    let image = "DHW".get(3_usize.checked_sub(rank.checked_sub(2)?)?..)?;
    Some(format!("NC{image}"))
}

/// The same with channels last.
pub(super) fn channels_last(axes: &str) -> Option<TiledLayout> {
    format!("N{}C", &axes[2..]).parse().ok()
}

/// The layout of an image, unless it is mostly padding that nobody could hold.
fn placed(layout: &TiledLayout, axes: &str, image: &[i64]) -> Option<Layout> {
    layout.of(axes, image).ok().filter(|placed| placed.size() <= MAX_PACKED_ELEMENTS || placed.padding() == 0)
}

/// What a window over so many channels reads; from the start of the padding if that is not in the buffer.
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

/// Where the channels of each position of a window are, in an image of such extents whose channels are last: one run each.
pub(super) fn places(window: &Window, image: &[i64]) -> Option<IndirectionTable> {
    let axes = axes(image.len())?;
    let placed = channels_last(&axes)?.of(&axes, image).ok()?;
    let table = access(window, image[0] as u64, 1, ReductionOrder::ChannelsLast, true).indirection(&placed).ok()?;
    // Of a single channel, positions lie side by side.
    let all = |&base: &i32| (0..table.run as i32).map(move |i| if base == ZERO_PAGE { base } else { base + i });
    let bases = table.bases.iter().flat_map(all).collect();
    Some(IndirectionTable { bases, runs: table.runs * table.run, run: u64::try_from(image[1]).ok()? })
}

/// Rows of channels as the image that an op makes.
pub(super) fn as_image(e: &mut Emitter<'_, '_>, op: Op, rows: Value) -> Option<Value> {
    let ty = e.m().value_type(e.m().result(op, 0));
    let extents = e.m().ctx.static_shape(ty)?.to_vec();
    let axes = axes(extents.len())?;
    let last = channels_last(&axes)?;
    let pixels: Vec<i64> = [&extents[..1], &extents[2..], &extents[1..2]].concat();
    let pixels = e.reshape(rows, &pixels)?;
    e.unpack(pixels, &last, &axes, ty)
}
