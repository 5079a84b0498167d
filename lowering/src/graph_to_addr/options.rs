//! Options of the lowering of convolutions.

use crate::emit::Emitter;
use gradus_cost::Price;
use gradus_ir::pass::{OptionKind, Options, PassOption};
use gradus_networks::addr::Geometry;
use gradus_networks::layout::{AddressTable, Derivation, Encoding, LayoutError, ReductionOrder, TiledLayout};

/// The options of the pass.
pub(super) const OPTIONS: &[PassOption] = &[
    PassOption {
        name: "target",
        doc: "Choose layout, padding and algorithm of convolutions by cost on this target, see 'saturate'",
        kind: OptionKind::Text(""),
    },
    PassOption {
        name: "layout",
        doc: "Layout in which convolutions read images, with the dimensions N, C, H and W, or 'auto': channels last, or the cheapest",
        kind: OptionKind::Text("auto"),
    },
    PassOption {
        name: "order",
        doc: "Order of the summands of a convolution",
        kind: OptionKind::Word(
            "auto",
            &[
                ("auto", "channels-last if channels are innermost in the layout, otherwise channels-first"),
                ("channels-first", "channel, row, column"),
                ("channels-last", "row, column, channel"),
            ],
        ),
    },
    PassOption {
        name: "encoding",
        doc: "Encoding of the offsets of separable addresses",
        kind: OptionKind::Word(
            "absolute",
            &[
                ("absolute", "offsets from the base of the row"),
                ("running", "differences from the previous offset, which kernels add up"),
            ],
        ),
    },
    PassOption {
        name: "derivation",
        doc: "Derivation of the addresses; both give the same tables",
        kind: OptionKind::Word(
            "loops",
            &[
                ("loops", "loops over the points add up contributions of the dimensions"),
                ("coordinates", "the number of each point is divided into coordinates"),
            ],
        ),
    },
    PassOption {
        name: "geometry",
        doc: "Attach the geometry of its tables to each op, as the attribute 'addr.geometry'",
        kind: OptionKind::Bool(false),
    },
    PassOption {
        name: "min-run",
        doc: "Min. length of runs for which padding is addressed rather than copied, of integers or without a target",
        kind: OptionKind::Int(8),
    },
    PassOption {
        name: "algorithm",
        doc: "Algorithm of convolutions with f32",
        kind: OptionKind::Word(
            "auto",
            &[
                ("auto", "the cheapest on the target; direct without a target"),
                ("direct", "sums of products"),
                ("winograd", "F(2x2, 3x3) where it applies"),
            ],
        ),
    },
    PassOption {
        name: "winograd-strip",
        doc: "Max. number of products of a Winograd convolution held at once",
        kind: OptionKind::Int(1 << 19),
    },
    PassOption {
        name: "report",
        doc: "Emit a remark with the costs of the candidates for each convolution",
        kind: OptionKind::Bool(false),
    },
];

/// An algorithm of convolutions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Algorithm {
    Direct,
    Winograd,
}

/// The options for convolutions.
pub(super) struct ConvOptions {
    /// The prices of the target, which choose.
    pub price: Option<Price>,
    /// The layout of images; `None` for channels last, or the cheapest.
    pub layout: Option<TiledLayout>,
    /// The order of summands; `None` follows the layout.
    order: Option<ReductionOrder>,
    /// Length in elements of runs below which padding is copied instead of addressed, where prices do not choose.
    pub min_run: u64,
    /// The algorithm; `None` for the cheapest.
    pub algorithm: Option<Algorithm>,
    /// Maximum number of products of Winograd's algorithm held at once.
    pub strip: i64,
    /// Whether choices are reported.
    pub report: bool,
    encoding: Encoding,
    derivation: Derivation,
    /// Whether ops have the geometry of their tables as an attribute.
    geometry: bool,
}

impl ConvOptions {
    /// Reads the options, except for the target.
    pub(super) fn of(options: &Options) -> Result<ConvOptions, String> {
        let text = options.text("layout");
        let wrong = |error: LayoutError| format!("for the --layout option: '{text}' is not a layout: {error}");
        let layout = if text == "auto" { None } else { Some(text.parse().map_err(wrong)?) };
        let order = match options.text("order") {
            "channels-first" => Some(ReductionOrder::ChannelsFirst),
            "channels-last" => Some(ReductionOrder::ChannelsLast),
            _ => None,
        };
        let algorithm = match options.text("algorithm") {
            "direct" => Some(Algorithm::Direct),
            "winograd" => Some(Algorithm::Winograd),
            _ => None,
        };
        let strip = match options.int("winograd-strip") {
            strip @ 1.. => strip,
            strip => return Err(format!("for the --winograd-strip option: {strip} is not positive")),
        };
        let min_run = u64::try_from(options.int("min-run")).unwrap_or(0);
        let encoding = if options.text("encoding") == "running" { Encoding::Running } else { Encoding::Absolute };
        let derivation = match options.text("derivation") {
            "coordinates" => Derivation::Coordinates,
            _ => Derivation::Loops,
        };
        let [report, geometry] = ["report", "geometry"].map(|name| options.bool(name));
        Ok(ConvOptions {
            price: None,
            layout,
            order,
            min_run,
            algorithm,
            strip,
            report,
            encoding,
            derivation,
            geometry,
        })
    }

    /// Computes the table of a geometry.
    pub(super) fn table(&self, geometry: &Geometry) -> Option<AddressTable<'static>> {
        Some(geometry.table(self.derivation).ok()?.with_encoding(self.encoding))
    }

    /// Attaches the geometry of its table to the next table-driven op, if ops have it.
    pub(super) fn describe(&self, e: &mut Emitter<'_, '_>, geometry: &Geometry) {
        if self.geometry {
            e.describe(geometry);
        }
    }

    /// Returns the order of summands in a layout: channels innermost if they are contiguous.
    pub(super) fn order_in(&self, layout: &TiledLayout) -> ReductionOrder {
        self.order.unwrap_or_else(|| match layout.levels().last() {
            Some(level) if level.axis == 'C' => ReductionOrder::ChannelsLast,
            _ => ReductionOrder::ChannelsFirst,
        })
    }
}
