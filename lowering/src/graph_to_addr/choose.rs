//! Selection of a lowering of convolutions by cost: image layout, padding by addresses or by a copy, and algorithm.

use super::conv::{ImageAxes, Reading, StaticConv};
use super::lock;
use super::options::{Algorithm, ConvOptions};
use super::winograd::Tiles;
use gradus_cost::Price;
use gradus_dialects::op_cost::OpCost;
use gradus_ir::{Builder, Diagnostic, Module, Op, Refusal, Value};
use gradus_networks::addr::Geometry;
use gradus_networks::layout::{LayoutError, TiledLayout, bands, image_layout};
use std::fmt;
use std::sync::Mutex;

/// Maximum number of ops followed from an image to its source.
const MAX_STEPS: usize = 64;

/// A layout of images.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ImageLayout {
    /// Row-major, or in bands of rows.
    ChannelsFirst,
    ChannelsLast,
    Other,
}

/// A candidate lowering of a convolution.
enum ConvLowering {
    Direct(Reading),
    Winograd(Tiles),
}

/// The selection of lowerings of convolutions, with the remarks on it and the refused ops.
pub(super) struct ConvChooser<'a> {
    pub options: &'a ConvOptions,
    pub remarks: Mutex<Vec<Diagnostic>>,
    pub refused: Mutex<Vec<(Op, Refusal)>>,
}

impl ConvChooser<'_> {
    /// Lowers a convolution by the cheapest candidate; without a target, as the options say.
    pub(super) fn lower(&self, b: &mut Builder<'_>, op: Op, conv: &StaticConv) -> Option<Value> {
        let axes = ImageAxes::of_rank(conv.input.len())?;
        let mut candidates = self.candidates(b.module, op, conv, axes);
        if let Some(price) = self.options.price.as_ref().filter(|_| candidates.len() > 1) {
            let is_given = is_given(b.module, conv.x);
            let cost =
                |candidate: &ConvLowering| Some(cost(&candidate.ops(conv, axes, self.options, is_given)?, price));
            let mut priced: Vec<(u64, ConvLowering)> =
                candidates.into_iter().filter_map(|candidate| Some((cost(&candidate)?, candidate))).collect();
            priced.sort_by_key(|candidate| candidate.0);
            self.remark(b.module, op, &priced);
            candidates = priced.into_iter().map(|candidate| candidate.1).collect();
        }
        let lowered = candidates.iter().find_map(|candidate| match candidate {
            ConvLowering::Direct(reading) => {
                self.explain(b.module, op, &conv.geometry(reading, self.options));
                conv.lower(b, op, axes, reading, self.options)
            }
            ConvLowering::Winograd(tiles) => conv.lower_winograd(b, op, tiles, self.options),
        });
        lowered.or_else(|| conv.lower(b, op, axes, &conv.reading(&axes.channels_last, self.options)?, self.options))
    }

    /// Returns the candidates that are possible and allowed by the options.
    fn candidates(&self, m: &Module, op: Op, conv: &StaticConv, axes: &ImageAxes) -> Vec<ConvLowering> {
        let ConvOptions { price, layout, algorithm, strip, .. } = self.options;
        let is_float = m.ctx.float_kind(m.ctx.element_type(m.value_type(conv.x))).is_some();
        let tiles = || Tiles::of(m, conv, *strip).map(ConvLowering::Winograd);
        let winograd = match algorithm {
            Some(Algorithm::Winograd) => tiles(),
            None if price.is_some() => tiles(),
            _ => None,
        };
        if *algorithm == Some(Algorithm::Winograd) && winograd.is_some() {
            return Vec::from_iter(winograd);
        }
        // Bytes are multiplied in groups of four within a run, so their channels are last.
        let is_priced = is_float && price.is_some();
        let chosen = self.layout(m, op, axes);
        let layouts = match layout {
            None if is_priced && is_given(m, conv.x) => vec![&axes.channels_last, &axes.plain],
            _ => vec![&chosen],
        };
        let readings = layouts.into_iter().flat_map(|layout| match is_priced {
            true => conv.readings(layout),
            false => Vec::from_iter(conv.reading(layout, self.options)),
        });
        winograd.into_iter().chain(readings.map(ConvLowering::Direct)).collect()
    }

    /// Returns the layout in which an op reads and writes images: that of its attribute, or of the options, with the dimensions of the
    /// image; otherwise channels last.
    pub(super) fn layout(&self, m: &Module, op: Op, axes: &ImageAxes) -> TiledLayout {
        let of_op = image_layout(m, op);
        let Some(layout) = of_op.as_ref().or(self.options.layout.as_ref()) else { return axes.channels_last.clone() };
        axes.adapted(layout).unwrap_or_else(|why| {
            let (layout, last) = (layout.order(), axes.channels_last.order());
            self.add(m, op, format!("images are read in {last} instead of {layout}: {why}"));
            axes.channels_last.clone()
        })
    }

    /// Returns the layout of a convolution, without remarks; channels last if the image does not have that of the options.
    pub(super) fn layout_of(&self, m: &Module, op: Op, conv: &StaticConv) -> Option<ImageLayout> {
        let axes = ImageAxes::of_rank(conv.input.len())?;
        let of_op = image_layout(m, op);
        let layout = of_op.as_ref().or(self.options.layout.as_ref()).and_then(|layout| axes.adapted(layout).ok());
        Some(match layout {
            Some(layout) if bands(&layout, &conv.input).is_some() => ImageLayout::ChannelsFirst,
            Some(layout) if layout.order() != axes.channels_last.order() => ImageLayout::Other,
            _ => ImageLayout::ChannelsLast,
        })
    }

    /// Adds a remark if the layout that the options name is not separable.
    pub(super) fn explain(&self, m: &Module, op: Op, geometry: &Geometry) {
        let checked = geometry.access().and_then(|access| access.check_separable(&geometry.placed()?));
        if let (Some(_), Err(why @ LayoutError::NotSeparable { .. })) = (&self.options.layout, checked) {
            self.add(m, op, format!("addresses in {} are indirect: {why}", geometry.layout.order()));
        }
    }

    /// Adds a remark.
    pub(super) fn add(&self, m: &Module, op: Op, message: String) {
        let remark = Diagnostic::remark(m.loc(op), message);
        lock(&self.remarks).push(remark);
    }

    /// Adds a remark with the costs of all candidates, the cheapest first.
    fn remark(&self, m: &Module, op: Op, candidates: &[(u64, ConvLowering)]) {
        if !self.options.report {
            return;
        }
        let costs: Vec<String> = candidates.iter().map(|(cost, candidate)| format!("{candidate} {cost}")).collect();
        self.add(m, op, format!("costs: {}", costs.join(", ")));
    }
}

/// Returns the total price of the ops.
fn cost(ops: &[OpCost], price: &Price) -> u64 {
    ops.iter().map(|&op| price.of(op)).fold(0, u64::saturating_add)
}

impl ConvLowering {
    /// Returns the cost descriptors of the ops that it becomes. `None` if it is not possible.
    fn ops(&self, conv: &StaticConv, axes: &ImageAxes, options: &ConvOptions, is_given: bool) -> Option<Vec<OpCost>> {
        // The image of an argument or constant is packed; others are produced with channels last.
        let is_packed = |layout| is_given && layout != &axes.plain;
        let (mut ops, is_packed) = match self {
            ConvLowering::Direct(reading) => (conv.ops(reading, options)?, is_packed(&reading.layout)),
            ConvLowering::Winograd(tiles) => (tiles.ops(), is_packed(&axes.channels_last)),
        };
        ops.extend(is_packed.then(|| OpCost::Move(conv.elements())));
        Some(ops)
    }
}

impl fmt::Display for ConvLowering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConvLowering::Direct(reading) => {
                write!(
                    f,
                    "direct in {}{}",
                    reading.layout.order(),
                    if reading.is_copied { " with copied padding" } else { "" }
                )
            }
            ConvLowering::Winograd(_) => f.write_str("winograd"),
        }
    }
}

/// Whether a value is an argument or a constant, looking through ops that preserve its type.
fn is_given(m: &Module, mut value: Value) -> bool {
    for _ in 0..MAX_STEPS {
        let Some(op) = m.defining_op(value) else { return true };
        match m.operands(op).first() {
            None => return true,
            Some(&from) if m.value_type(from) == m.value_type(value) => value = from,
            Some(_) => return false,
        }
    }
    false
}
