//! `fold-packs`: table-driven products write the layout in which their result is read.

use super::by_patterns::{ByPatterns, names};
use super::propagate_layouts::{made, reshaped};
use crate::addr::{GemmOp, IndirectGemmOp, has_stage};
use crate::graph::ReshapeOp;
use crate::layout::{PackOp, TiledLayout, UnpackOp};
use gradus_ir::pass::Rewrites;
use gradus_ir::rewrite::Rewriter;
use gradus_ir::{Module, Op, OpDecl, OpState, PassInfo, Pattern, PatternRewriter, Type};

/// The declaration of the pass.
pub const INFO: PassInfo = PassInfo {
    name: "fold-packs",
    doc: "Fold changes of layout into the products before them

# Before / After

```mlir
%0 = addr.gemm %a[%base + %relative], %b : (...) -> tensor<36x32xf32>
%1 = graph.reshape %0, %s : (tensor<36x32xf32>, tensor<4xi64>) -> tensor<1x6x6x32xf32>
%2 = layout.unpack %1 from <\"NHWC\"> : tensor<1x6x6x32xf32> -> tensor<1x32x6x6xf32>
%3 = layout.pack %2 into <\"NCHW8c\"> : tensor<1x32x6x6xf32> -> tensor<1x4x6x6x8xf32>
// becomes:
%0 = addr.gemm %a[%base + %relative], %b {block = 8 : i64} : (...) -> tensor<4x36x8xf32>
%3 = graph.reshape %0, %s2 : (tensor<4x36x8xf32>, tensor<5xi64>) -> tensor<1x4x6x6x8xf32>
```

# Does

A product computes rows of all columns, which is an image with channels last. If its only use is a change of that layout in which blocks of
columns come before all rows, the product gets the attribute `block` and writes this layout: `NCHW8c` with blocks of eight columns, `NCHW` with
blocks of one. It follows `fuse-epilogues`, which fuses ops on rows.

# Refuses

Images of which several are in a batch, whose blocks are between them; other changes of layout; products with a residual, which has rows, or
whose rows something else uses.

# Cost

Linear in the number of ops.",
    statistics: &[("num-changes", "Number of changes")],
    rewrites: Rewrites::Names(|_| names(PATTERNS)),
    make: |_| Ok(Box::new(ByPatterns(PATTERNS))),
    ..PassInfo::DEFAULT
};

const PATTERNS: &[Pattern] = &[
    Pattern { name: "pack-of-product", run: |r, op| pack(r, op).is_some() },
    Pattern { name: "unpack-of-product", run: |r, op| unpack(r, op).is_some() },
];

/// A product whose rows are an image with channels last, which is unpacked.
struct UnpackedImage {
    product: Op,
    /// The letters of the axes of the unpacked image, and its extents.
    axes: String,
    sizes: Vec<i64>,
    /// The letters of the rows, in their order, and of the columns.
    rows: String,
    columns: char,
}

impl UnpackedImage {
    /// Recognizes the operand of `layout.unpack`.
    fn of(m: &Module, unpack: UnpackOp) -> Option<UnpackedImage> {
        let args = m.args(unpack.0)?;
        let layout = TiledLayout::from_attr(&m.ctx, args.attr("layout")?)?;
        let axes = m.ctx.as_str(args.attr("axes")?)?.to_owned();
        let sizes = m.ctx.static_shape(m.value_type(m.result(unpack.0, 0)))?.to_vec();
        let (mut rows, is_plain) = (layout.order(), layout.levels().len() == axes.len());
        let columns = rows.pop().filter(|_| is_plain)?;
        let mut value = unpack.x(m);
        while let Some(reshape) = ReshapeOp::defining(m, value).filter(|_| m.has_one_use(value)) {
            value = reshape.x(m);
        }
        let product = m.defining_op(value).filter(|_| m.has_one_use(value))?;
        let extent = sizes[axes.find(columns).filter(|&at| at < sizes.len())?];
        let &[_, n] = m.ctx.static_shape(m.value_type(value))? else { return None };
        let is_product = m.is_one_of(product, &[GemmOp::INFO, IndirectGemmOp::INFO]);
        let is_product = is_product && !has_stage(m, product, "add");
        (is_product && n == extent).then_some(UnpackedImage { product, axes, sizes, rows, columns })
    }

    /// Whether blocks of `block` columns one behind the other are the image in this layout.
    fn has_layout(&self, block: u64, layout: &TiledLayout) -> Option<bool> {
        let inner = if block == 1 { String::new() } else { format!("{block}{}", self.columns.to_ascii_lowercase()) };
        let blocks: TiledLayout = format!("{}{}{inner}", self.columns, self.rows).parse().ok()?;
        let [blocks, layout] = [&blocks, layout].map(|layout| layout.of(&self.axes, &self.sizes).ok());
        Some(blocks?.has_same_offsets(&layout?))
    }
}

/// Writes the layout of a `layout.pack` of an unpacked image.
fn pack(r: &mut Rewriter<'_>, op: Op) -> Option<()> {
    let m = r.module();
    let pack = PackOp::cast(m, op)?;
    let unpack = UnpackOp::defining(m, pack.x(m)).filter(|_| m.has_one_use(pack.x(m)))?;
    let (image, args) = (UnpackedImage::of(m, unpack)?, m.args(op)?);
    let layout = TiledLayout::from_attr(&m.ctx, args.attr("layout")?)?;
    let block = layout.tile(image.columns);
    let same = m.ctx.as_str(args.attr("axes")?)? == image.axes && image.has_layout(block, &layout)?;
    if same { write(r, op, &image, block) } else { None }
}

/// Writes the image as it is unpacked.
fn unpack(r: &mut Rewriter<'_>, op: Op) -> Option<()> {
    let m = r.module();
    let unpack = UnpackOp::cast(m, op)?;
    let is_packed = |(user, _): (Op, usize)| PackOp::cast(m, user).is_some();
    let image = UnpackedImage::of(m, unpack).filter(|_| !m.uses(m.result(op, 0)).any(is_packed))?;
    let plain: TiledLayout = image.axes.parse().ok()?;
    if image.has_layout(1, &plain)? { write(r, op, &image, 1) } else { None }
}

/// Replaces an op by the product in blocks of columns.
fn write(r: &mut Rewriter<'_>, op: Op, image: &UnpackedImage, block: u64) -> Option<()> {
    let m = r.module();
    let (product, block) = (image.product, i64::try_from(block).ok()?);
    let ty = m.value_type(m.result(product, 0));
    let &[rows, columns] = m.ctx.static_shape(ty)? else { return None };
    let blocks = columns.checked_div(block).filter(|blocks| blocks * block == columns)?;
    let mut state = OpState::with_operands_of(m, product);
    let inner = m.ctx.tensor_type(&[blocks, rows, block], m.ctx.element_type(ty));
    state.set_inherent(&m.ctx, "block", Some(m.ctx.int_attr(Type::I64, block)));
    state.result_types.push(inner);
    let result = m.value_type(m.result(op, 0));
    let written = made(r, op, state)?;
    let state = reshaped(r, op, written, result)?;
    r.replace_with(op, state).ok().map(drop)
}
