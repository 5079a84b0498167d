//! `pack` and `unpack`: tensors whose elements are in the order of a layout.

use super::attr::TILED;
use super::moves::Relayout;
use super::placed::Layout;
use super::tiled::TiledLayout;
use crate::constraint::{RANKED_TENSOR, STRING};
use gradus_ir::eval::{Datum, Trap, floats_to_tensor, ints_to_tensor};
use gradus_ir::tensor::Tensor;
use gradus_ir::work::Work;
use gradus_ir::{Attr, AttrKind, DYNAMIC, Folded, Module, Op, OpArgs, OpDecl, Type, op};

/// A tensor with more elements is not packed when it is evaluated.
pub const MAX_PACKED: u64 = 1 << 27;

/// The letters of a tensor's axes.
const AXES: AttrKind = AttrKind { summary: "capital letters, one for each axis", ..STRING };

/// The elements in the order of a layout: row-major, the result has an axis for each level of the layout.
///
/// Where a tile reaches beyond its dimension, the result has the layout's padding. `axes` names the operand's axes, by the
/// letters of the layout.
///
/// ```mlir
/// %p = layout.pack %x into <"NCHW8c"> : tensor<1x12x5x5xf32> -> tensor<1x2x5x5x8xf32>
/// %q = layout.pack %w into <"KDHW4d", pad = 1> {axes = "KHWD"} : tensor<4x3x3x6xi8> -> tensor<4x2x3x3x4xi8>
/// ```
#[op(
    "layout.pack",
    work = Work::moved,
    infer = infer_pack,
    verify = verify_padding,
    fold = fold_in_order,
    eval = pack,
    format = "$x `into` $layout attr-dict `:` type($x) `->` type($y)"
)]
pub struct PackOp {
    /// The tensor.
    x: Operand<RANKED_TENSOR>,
    /// The order of its elements.
    layout: Attribute<TILED>,
    /// The letters of the tensor's axes.
    #[default = "\"NCHW\""]
    axes: Attribute<AXES>,
    /// The elements in that order.
    y: OpResult<RANKED_TENSOR>,
}

/// The tensor whose elements are given in the order of a layout: what `layout.pack` was given. Padding is dropped.
///
/// ```mlir
/// %x = layout.unpack %p from <"NCHW8c"> : tensor<1x2x5x5x8xf32> -> tensor<1x12x5x5xf32>
/// ```
#[op(
    "layout.unpack",
    work = Work::moved,
    verify = verify_unpack,
    fold = fold_in_order,
    eval = unpack,
    format = "$x `from` $layout attr-dict `:` type($x) `->` type($y)"
)]
pub struct UnpackOp {
    /// The elements in that order.
    x: Operand<RANKED_TENSOR>,
    /// The order of the elements.
    layout: Attribute<TILED>,
    /// The letters of the result's axes.
    #[default = "\"NCHW\""]
    axes: Attribute<AXES>,
    /// The tensor.
    y: OpResult<RANKED_TENSOR>,
}

/// The layout that an op names, and the letters of the tensor's axes.
fn named<'a>(args: &OpArgs<'a>) -> Result<(TiledLayout, &'a str), String> {
    let layout = args.attr("layout").and_then(|a| TiledLayout::from_attr(args.ctx(), a)).ok_or("requires a layout")?;
    let axes = args.attr("axes").and_then(|a| args.ctx().as_str(a)).ok_or("requires the letters of axes")?;
    Ok((layout, axes))
}

/// The type of a tensor of type `ty` in the layout that an op names.
fn packed_type(args: &OpArgs<'_>, ty: Type) -> Result<Type, String> {
    let (layout, axes) = named(args)?;
    let dims = args.ctx().shape(ty).ok_or("requires a tensor of known rank")?;
    let extents = layout.extents(axes, dims)?;
    Ok(args.ctx().tensor_type(&extents, args.ctx().element_type(ty)))
}

fn infer_pack(args: &OpArgs<'_>) -> Result<Vec<Type>, String> {
    Ok(vec![packed_type(args, args.operand_type(0))?])
}

/// That padding is a number of the elements' type.
fn verify_padding(m: &Module, op: Op) -> Result<(), String> {
    let Some(args) = m.args(op) else { return Ok(()) };
    let (pad, elem) = (named(&args)?.0.pad(), args.ctx().element_type(args.operand_type(0)));
    let width = args.ctx().int_width(elem).unwrap_or(64).min(64) as i32;
    let fits = pad.fract() == 0.0 && (-(2_f64.powi(width - 1))..2_f64.powi(width)).contains(&pad);
    if fits || args.ctx().float_kind(elem).is_some() {
        return Ok(());
    }
    Err(format!("padding {pad} is no '{}'", args.ctx().display_type(elem)))
}

fn verify_unpack(m: &Module, op: Op) -> Result<(), String> {
    verify_padding(m, op)?;
    let Some(args) = m.args(op) else { return Ok(()) };
    let (ctx, from, to) = (args.ctx(), args.operand_type(0), m.value_type(m.result(op, 0)));
    let wanted = packed_type(&args, to)?;
    let same = |(&a, &b): (&i64, &i64)| a == b || a == DYNAMIC || b == DYNAMIC;
    let (found, extents) = (ctx.shape(from).unwrap_or(&[]), ctx.shape(wanted).unwrap_or(&[]));
    let fits = found.len() == extents.len() && found.iter().zip(extents).all(same);
    if fits && ctx.element_type(from) == ctx.element_type(to) {
        return Ok(());
    }
    let [to, wanted, from] = [to, wanted, from].map(|ty| ctx.display_type(ty).to_string());
    Err(format!("'{to}' packed is '{wanted}', not '{from}'"))
}

/// The operand, when its elements are in that order already.
fn fold_in_order(args: &OpArgs<'_>, _: &[Option<Attr>]) -> Option<Folded> {
    let (layout, axes) = named(args).ok()?;
    let is_same = args.result_types == [args.operand_type(0)] && layout.order() == axes;
    is_same.then(|| args.operands[0].into())
}

fn pack(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let (layout, axes) = named(args)?;
    let x = data[0].tensor()?;
    let sizes: Vec<i64> = x.shape().iter().map(|&d| d as i64).collect();
    let extents = layout.extents(axes, &sizes)?;
    let shape: Vec<usize> = extents.iter().map(|&d| d as usize).collect();
    let pad = match x.dtype().is_float() {
        true => floats_to_tensor(x.dtype(), &[1], vec![layout.pad()]),
        false => ints_to_tensor(x.dtype(), &[1], &[layout.pad() as i64]),
    };
    let [from, to] = orders(&layout, axes, &sizes)?;
    let bytes = moved(x, Relayout::new(&from, &to)?, pad.bytes())?;
    Ok(vec![Datum::Tensor(Tensor::new(x.dtype(), shape, bytes.into())?)])
}

fn unpack(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let (layout, axes) = named(args)?;
    let x = data[0].tensor()?;
    let sizes = args.result_types.first().and_then(|&ty| args.ctx().static_shape(ty));
    let sizes = sizes.ok_or_else(|| Trap::unsupported("unpacking to a shape that is not known"))?;
    let [to, from] = orders(&layout, axes, sizes)?;
    if from.size() != x.len() as u64 {
        return Err(Trap::unsupported(format!("{} elements packed are {}, not {}", to.size(), from.size(), x.len())));
    }
    let zero = vec![0; x.dtype().size()];
    let bytes = moved(x, Relayout::new(&from, &to)?, &zero)?;
    let shape = sizes.iter().map(|&d| d as usize).collect();
    Ok(vec![Datum::Tensor(Tensor::new(x.dtype(), shape, bytes.into())?)])
}

/// A tensor's elements in row-major order and in that of a layout.
fn orders(layout: &TiledLayout, axes: &str, sizes: &[i64]) -> Result<[Layout; 2], String> {
    let plain: TiledLayout = axes.parse()?;
    Ok([plain.of(axes, sizes)?, layout.of(axes, sizes)?])
}

/// For a `layout.pack` or `layout.unpack` of known extents: where elements are, where they go, and what is where none go.
pub fn packing(m: &Module, op: Op) -> Option<([Layout; 2], f64)> {
    let args = m.args(op)?;
    let (layout, axes) = named(&args).ok()?;
    let is_pack = PackOp::cast(m, op).is_some();
    let plain = if is_pack { args.operand_type(0) } else { m.value_type(m.result(op, 0)) };
    let [plain, packed] = orders(&layout, axes, m.ctx.static_shape(plain)?).ok()?;
    Some(if is_pack { ([plain, packed], layout.pad()) } else { ([packed, plain], 0.0) })
}

/// The bytes of a tensor elsewhere, and of `fill` where there are none.
fn moved(x: &Tensor, relayout: Relayout<'_>, fill: &[u8]) -> Result<Vec<u8>, String> {
    let count = relayout.target_size();
    if count > MAX_PACKED {
        return Err(format!("more than {MAX_PACKED} elements"));
    }
    let mut bytes = fill.repeat(count as usize);
    relayout.copy(x.bytes(), &mut bytes, x.dtype().size())?;
    Ok(bytes)
}
