//! The attribute `#layout.tiled<"HWKD8k8d", pad = 0>`.

use super::error::LayoutError;
use super::tiled::TiledLayout;
use gradus_dialects::constraint::{NUMBER, STRING};
use gradus_ir::{Attr, AttrDecl, Context, Module, Op, ParamArgs, ParamError, Type, attr};

/// Name of the discardable attribute of an op that reads and writes images in a chosen layout, a `#layout.tiled`.
pub const IMAGES: &str = "layout.images";

/// Name of the discardable attribute of an op that writes images in another layout than it reads, a `#layout.tiled`.
pub const RESULTS: &str = "layout.results";

/// Returns the layout in which an op reads and writes images, if it has one as an attribute.
pub fn image_layout(m: &Module, op: Op) -> Option<TiledLayout> {
    layout_attr(m, op, IMAGES)
}

/// Returns the layout in which an op writes images, if it has one as an attribute.
pub fn result_layout(m: &Module, op: Op) -> Option<TiledLayout> {
    layout_attr(m, op, RESULTS)
}

fn layout_attr(m: &Module, op: Op, name: &str) -> Option<TiledLayout> {
    TiledLayout::from_attr(&m.ctx, m.ctx.dict_get(m.attrs(op), m.ctx.str(name))?)
}

/// A tiled layout.
///
/// An order of loops over dimensions and their tiles, outermost first: capital letters are dimensions, a number with a small
/// letter is a tile of one.
#[attr(
    "layout.tiled",
    verify = |params| layout(params).map(|_| ()),
    examples = &["\"NCHW\"", "\"NCHW8c\"", "\"HWKD8k8d\"", "\"NHWC4w4c\", pad = -128"]
)]
pub struct Tiled {
    /// The layout string, such as `HWKD8k8d`.
    order: Param<STRING>,
    /// The value of the padding in partial tiles.
    #[default = "0.0 : f64"]
    pad: Param<NUMBER>,
}

/// Returns the layout with these parameters.
fn layout(params: &ParamArgs<'_>) -> Result<TiledLayout, ParamError> {
    let order: Result<TiledLayout, LayoutError> = params.text("order").unwrap_or("").parse();
    match order {
        Ok(layout) => Ok(layout.with_pad(params.float("pad").unwrap_or(0.0))),
        Err(LayoutError::Text { at, message }) => Err(ParamError::of("order", at, message)),
        Err(other) => Err(other.to_string().into()),
    }
}

impl TiledLayout {
    /// Returns the layout of a `#layout.tiled` attribute.
    pub fn from_attr(ctx: &Context, attr: Attr) -> Option<TiledLayout> {
        layout(&Tiled::cast(ctx, attr)?.params(ctx)).ok()
    }

    /// Returns the layout as a `#layout.tiled` attribute. Panics if the context has no dialect `layout`.
    pub fn to_attr(&self, ctx: &Context) -> Attr {
        let pad = ctx.float_attr(Type::F64, self.pad());
        let tiled = Tiled::get(ctx, ctx.string_attr(&self.order()), pad);
        tiled.expect("the order of a layout is a layout string").0
    }
}
