//! The attribute `#layout.tiled<"HWKD8k8d", pad = 0>`.

use super::error::LayoutError;
use super::tiled::TiledLayout;
use gradus_ir::{Attr, AttrBody, AttrData, AttrKind, AttrText, Context, Piece, Type};

/// A tiled layout.
pub const TILED: AttrKind = AttrKind {
    summary: "tiled layout",
    check: |c, a| gradus_ir::verify::has_body(c, a, &TILED.text),
    text: AttrText::Body(&AttrBody {
        dialect: "layout",
        mnemonic: "tiled",
        doc: "an order of loops over dimensions (capital letters) and their tiles, outermost first, and the value of the \
              padding in partial tiles (0 by default)",
        examples: &["\"NCHW\"", "\"NCHW8c\"", "\"HWKD8k8d\"", "\"NHWC4w4c\", pad = -128"],
        parse: |body| match TiledLayout::parse_body(body) {
            Ok(layout) => Ok(layout.body()),
            Err(LayoutError::Text { at, message }) => Err((at, message)),
            Err(other) => Err((0, other.to_string())),
        },
    }),
};

impl TiledLayout {
    /// Returns the layout of a `#layout.tiled` attribute.
    pub fn from_attr(ctx: &Context, attr: Attr) -> Option<TiledLayout> {
        TiledLayout::parse_body(ctx.as_body(attr, "layout", "tiled")?).ok()
    }

    /// Returns the layout as a `#layout.tiled` attribute.
    pub fn to_attr(&self, ctx: &Context) -> Attr {
        let body = Box::new([Piece::Text(format!("tiled<{}>", self.body()).into())]);
        ctx.attr(AttrData::Dialect { dialect: ctx.str("layout"), body, ty: Type::NONE })
    }
}
