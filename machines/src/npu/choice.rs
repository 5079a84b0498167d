//! The choices for the layers of a program: `#npu.tiles`, `#npu.planned`.

use crate::parameters::{number, word};
use gradus_dialects::constraint::{I64, STRING};
use gradus_ir::{Attr, AttrDecl, Context, ParamArgs, ParamError, Type, attr};

/// The tiles of a layer, and where its result is.
///
/// A tile is `rows` rows of the result by `kernels` kernels. `order` is the outer loop over tiles; the inner one is `serpentine` if it goes
/// back and forth, and so begins with the tile in SRAM. `weights` says whether all weights of the layer are in SRAM at once or each tile of
/// rows loads them again. The result is in SRAM from byte `at` on as long as it is live, or goes to DDR by tiles, or the next layer takes its
/// tiles (`to = "next"`). `mode` is the blocks of columns and channels of a product of elements, or those of constant weights if they are not
/// those of the multipliers; `operand` the operand of a product of two matrices that is the weights. A layer that copies bytes may have the
/// `unit` `mover` instead of the array.
#[attr(
    "npu.tiles",
    verify = |params| LayerTiles::of(params).map(drop),
    examples = &["rows = 8, kernels = 16", "rows = 1, kernels = 64, order = \"kernels\", weights = \"streamed\", to = \"sram\", at = 1024"]
)]
pub struct TilesAttr {
    /// Rows of the result.
    #[default = "0"]
    rows: Param<I64>,
    /// Kernels, which are whole groups of the array.
    #[default = "0"]
    kernels: Param<I64>,
    /// The outer loop: `rows` or `kernels`, `serpentine-rows` or `serpentine-kernels`.
    #[default = "\"rows\""]
    order: Param<STRING>,
    /// `kept` or `streamed`.
    #[default = "\"kept\""]
    weights: Param<STRING>,
    /// `ddr`, `sram` or `next`.
    #[default = "\"ddr\""]
    to: Param<STRING>,
    /// The first byte in SRAM.
    #[default = "0"]
    at: Param<I64>,
    /// The mode of a product of elements, such as `8c`, `4w4c` or `8w4c-by-columns`, or of constant weights, such as `2k4d`.
    #[default = "\"\""]
    mode: Param<STRING>,
    /// `left` or `right`.
    #[default = "\"\""]
    operand: Param<STRING>,
    /// `array` or `mover`.
    #[default = "\"array\""]
    unit: Param<STRING>,
}

/// Where the result of a layer is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Place {
    /// In DDR, stored by tiles.
    #[default]
    Ddr,
    /// In SRAM, from this byte on.
    Sram(usize),
    /// The next layer takes its tiles.
    Next,
}

/// The data of `#npu.tiles`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LayerTiles {
    /// Rows of the result.
    pub rows: usize,
    /// Kernels.
    pub kernels: usize,
    /// Whether rows are the outer loop.
    pub rows_outer: bool,
    /// Whether all weights of the layer are in SRAM at once.
    pub keeps_weights: bool,
    /// Whether the inner loop goes back and forth.
    pub serpentine: bool,
    /// Whether the mover copies slices instead of array and pipe.
    pub moved: bool,
    /// Where the result is.
    pub to: Place,
    /// The mode of a product of elements, or of constant weights; empty for that of the multipliers.
    pub mode: String,
    /// The operand of a product of matrices that is the weights, 0 or 1; `None` for other layers.
    pub operand: Option<usize>,
}

/// Names of the operands of a product.
const OPERANDS: [&str; 2] = ["left", "right"];
/// Names of the orders of loops: rows outside, kernels outside, and these with inner loops that go back and forth.
const ORDERS: [&str; 4] = ["rows", "kernels", "serpentine-rows", "serpentine-kernels"];
/// Names of the units that compute a layer.
const UNITS: [&str; 2] = ["array", "mover"];

impl LayerTiles {
    fn of(params: &ParamArgs<'_>) -> Result<LayerTiles, ParamError> {
        let count = |name, least| Ok::<usize, ParamError>(number(params, name, least)? as usize);
        let (at, order) = (count("at", 0)?, word(params, "order", &ORDERS)?);
        Ok(LayerTiles {
            rows: count("rows", 1)?,
            kernels: count("kernels", 1)?,
            rows_outer: order % 2 == 0,
            serpentine: order >= 2,
            moved: word(params, "unit", &UNITS)? == 1,
            keeps_weights: word(params, "weights", &["kept", "streamed"])? == 0,
            to: [Place::Ddr, Place::Sram(at), Place::Next][word(params, "to", &["ddr", "sram", "next"])?],
            mode: params.text("mode").unwrap_or("").to_owned(),
            operand: word(params, "operand", &["", OPERANDS[0], OPERANDS[1]])?.checked_sub(1),
        })
    }

    /// Returns the data of an attribute `#npu.tiles`.
    pub fn from_attr(ctx: &Context, attr: Attr) -> Option<LayerTiles> {
        LayerTiles::of(&TilesAttr::cast(ctx, attr)?.params(ctx)).ok()
    }

    /// Returns the attribute. Panics if the context has no dialect `npu`.
    pub fn to_attr(&self, ctx: &Context) -> Attr {
        let int = |n: usize| ctx.int_attr(Type::I64, n as i64);
        let (to, at) = match self.to {
            Place::Ddr => ("ddr", 0),
            Place::Sram(at) => ("sram", at),
            Place::Next => ("next", 0),
        };
        let attr = TilesAttr::get(
            ctx,
            int(self.rows),
            int(self.kernels),
            ctx.string_attr(ORDERS[usize::from(!self.rows_outer) + 2 * usize::from(self.serpentine)]),
            ctx.string_attr(if self.keeps_weights { "kept" } else { "streamed" }),
            ctx.string_attr(to),
            int(at),
            ctx.string_attr(&self.mode),
            ctx.string_attr(self.operand.map_or("", |side| OPERANDS[side])),
            ctx.string_attr(UNITS[usize::from(self.moved)]),
        );
        attr.expect("tiles of at least one row and kernel are tiles").0
    }
}

/// The machine for which a program is planned: one that has a part of a parameter only, whose programs the whole machine runs too.
///
/// Smaller tiles, and loads at other times, are sometimes faster than those that the whole machine would have.
#[attr("npu.planned", verify = |params| Planned::of(params).map(drop), examples = &["\"accumulators\", 2"])]
pub struct PlannedAttr {
    /// The parameter.
    parameter: Param<STRING>,
    /// Its divisor.
    divisor: Param<I64>,
}

/// The data of `#npu.planned`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Planned {
    /// The parameter.
    pub parameter: String,
    /// Its divisor.
    pub divisor: u32,
}

impl Planned {
    fn of(params: &ParamArgs<'_>) -> Result<Planned, ParamError> {
        let parameter = params.text("parameter").unwrap_or("").to_owned();
        Ok(Planned { parameter, divisor: number(params, "divisor", 1)? })
    }

    /// Returns the data of an attribute `#npu.planned`.
    pub fn from_attr(ctx: &Context, attr: Attr) -> Option<Planned> {
        Planned::of(&PlannedAttr::cast(ctx, attr)?.params(ctx)).ok()
    }

    /// Returns the attribute. Panics if the context has no dialect `npu`.
    pub fn to_attr(&self, ctx: &Context) -> Attr {
        let divisor = ctx.int_attr(Type::I64, i64::from(self.divisor));
        PlannedAttr::get(ctx, ctx.string_attr(&self.parameter), divisor).expect("a divisor is positive").0
    }
}
