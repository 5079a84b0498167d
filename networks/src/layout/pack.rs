//! `layout.pack` and `layout.unpack`.

use super::attr::Tiled;
use super::concrete_layout::Layout;
use super::copy_plan::Relayout;
use super::tiled::TiledLayout;
use gradus_dialects::constraint::{RANKED_TENSOR, STRING};
use gradus_dialects::op_cost::DeclaredCost;
use gradus_ir::eval::{Datum, Trap, floats_to_tensor, ints_to_tensor};
use gradus_ir::tensor::Tensor;
use gradus_ir::{Attr, AttrKind, DYNAMIC, Folded, Module, Op, OpArgs, OpDecl, Type, Violation, op};

/// Maximum number of elements that evaluation packs.
pub const MAX_PACKED_ELEMENTS: u64 = 1 << 27;

/// Dimension letters of a tensor.
const AXES: AttrKind = AttrKind { summary: "capital letters, one for each axis", ..STRING };

/// Packs a tensor into a tiled layout. The result is row-major, with one axis per level of the layout.
///
/// Partial tiles are filled with the layout's `pad`. `axes` names the operand's axes by the letters of the layout.
///
/// ```mlir
/// %p = layout.pack %x into <"NCHW8c"> : tensor<1x12x5x5xf32> -> tensor<1x2x5x5x8xf32>
/// %q = layout.pack %w into <"KDHW4d", pad = 1> {axes = "KHWD"} : tensor<4x3x3x6xi8> -> tensor<4x2x3x3x4xi8>
/// ```
#[op(
    "layout.pack",
    extensions = &[&DeclaredCost::RELAYOUT],
    infer = infer_pack,
    verify = verify_padding,
    fold = fold_in_order,
    eval = pack,
    moves = &["x"],
    format = "$x `into` $layout attr-dict `:` type($x) `->` type($y)"
)]
pub struct PackOp {
    /// Tensor to pack.
    x: Operand<RANKED_TENSOR>,
    /// Layout of the result.
    layout: Attribute<Tiled::KIND>,
    /// Letters of the operand's axes.
    #[default = "\"NCHW\""]
    axes: Attribute<AXES>,
    /// Packed tensor.
    y: OpResult<RANKED_TENSOR>,
}

/// Unpacks a tensor from a tiled layout: the inverse of `layout.pack`. Padding is dropped.
///
/// ```mlir
/// %x = layout.unpack %p from <"NCHW8c"> : tensor<1x2x5x5x8xf32> -> tensor<1x12x5x5xf32>
/// ```
#[op(
    "layout.unpack",
    extensions = &[&DeclaredCost::RELAYOUT],
    verify = verify_unpack,
    fold = fold_in_order,
    eval = unpack,
    moves = &["x"],
    format = "$x `from` $layout attr-dict `:` type($x) `->` type($y)"
)]
pub struct UnpackOp {
    /// Packed tensor.
    x: Operand<RANKED_TENSOR>,
    /// Layout of the operand.
    layout: Attribute<Tiled::KIND>,
    /// Letters of the result's axes.
    #[default = "\"NCHW\""]
    axes: Attribute<AXES>,
    /// Unpacked tensor.
    y: OpResult<RANKED_TENSOR>,
}

/// Returns the layout attribute of an op and its axis letters.
fn layout_and_axes<'a>(args: &OpArgs<'a>) -> Result<(TiledLayout, &'a str), Violation> {
    let layout = args.attr("layout").and_then(|a| TiledLayout::from_attr(args.ctx(), a)).ok_or("requires a layout")?;
    let axes = args.attr("axes").and_then(|a| args.ctx().as_str(a)).ok_or("requires the attribute 'axes'")?;
    Ok((layout, axes))
}

/// Returns the type of a tensor of type `ty` after packing.
fn packed_type(args: &OpArgs<'_>, ty: Type) -> Result<Type, Violation> {
    let (layout, axes) = layout_and_axes(args)?;
    let dims = args.ctx().shape(ty).ok_or("requires a tensor of known rank")?;
    let extents = layout.extents(axes, dims)?;
    Ok(args.ctx().tensor_type(&extents, args.ctx().element_type(ty)))
}

fn infer_pack(args: &OpArgs<'_>) -> Result<Vec<Type>, Violation> {
    Ok(vec![packed_type(args, args.operand_type(0))?])
}

/// Checks that the padding is a value of the element type.
fn verify_padding(m: &Module, op: Op) -> Result<(), Violation> {
    let Some(args) = m.args(op) else { return Ok(()) };
    let (pad, elem) = (layout_and_axes(&args)?.0.pad(), args.ctx().element_type(args.operand_type(0)));
    let width = args.ctx().int_width(elem).unwrap_or(64).min(64) as i32;
    let fits = pad.fract() == 0.0 && (-(2_f64.powi(width - 1))..2_f64.powi(width)).contains(&pad);
    if fits || args.ctx().float_kind(elem).is_some() {
        return Ok(());
    }
    Err(format!("padding {pad} is not a value of '{}'", args.ctx().display_type(elem)).into())
}

fn verify_unpack(m: &Module, op: Op) -> Result<(), Violation> {
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
    Err(format!("'{to}' packs into '{wanted}', not '{from}'").into())
}

/// Folds packing and unpacking that keep the order of elements.
fn fold_in_order(args: &OpArgs<'_>, _: &[Option<Attr>]) -> Option<Folded> {
    let (layout, axes) = layout_and_axes(args).ok()?;
    let is_same = args.result_types == [args.operand_type(0)] && layout.order() == axes;
    is_same.then(|| args.operands[0].into())
}

fn pack(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let (layout, axes) = layout_and_axes(args)?;
    let x = data[0].tensor()?;
    let sizes: Vec<i64> = x.shape().iter().map(|&d| d as i64).collect();
    let extents = layout.extents(axes, &sizes)?;
    let shape: Vec<usize> = extents.iter().map(|&d| d as usize).collect();
    let pad = match x.dtype().is_float() {
        true => floats_to_tensor(x.dtype(), &[1], vec![layout.pad()]),
        false => ints_to_tensor(x.dtype(), &[1], &[layout.pad() as i64]),
    };
    let [from, to] = plain_and_packed(&layout, axes, &sizes)?;
    let bytes = relaid_out(x, Relayout::new(&from, &to)?, pad.bytes())?;
    Ok(vec![Datum::Tensor(Tensor::new(x.dtype(), shape, bytes.into())?)])
}

fn unpack(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let (layout, axes) = layout_and_axes(args)?;
    let x = data[0].tensor()?;
    let sizes = args.result_types.first().and_then(|&ty| args.ctx().static_shape(ty));
    let sizes = sizes.ok_or_else(|| Trap::unsupported("unpacking to a dynamic shape"))?;
    let [to, from] = plain_and_packed(&layout, axes, sizes)?;
    if from.size() != x.len() as u64 {
        return Err(Trap::unsupported(format!("{} elements pack into {}, not {}", to.size(), from.size(), x.len())));
    }
    let zero = vec![0; x.dtype().size()];
    let bytes = relaid_out(x, Relayout::new(&from, &to)?, &zero)?;
    let shape = sizes.iter().map(|&d| d as usize).collect();
    Ok(vec![Datum::Tensor(Tensor::new(x.dtype(), shape, bytes.into())?)])
}

/// Returns the row-major layout and the packed layout of a tensor.
fn plain_and_packed(layout: &TiledLayout, axes: &str, sizes: &[i64]) -> Result<[Layout; 2], Violation> {
    let plain: TiledLayout = axes.parse()?;
    Ok([plain.of(axes, sizes)?, layout.of(axes, sizes)?])
}

/// Returns source and target layout of a `layout.pack` or `layout.unpack` with static shape, and the padding value.
pub fn pack_layouts(m: &Module, op: Op) -> Option<([Layout; 2], f64)> {
    let args = m.args(op)?;
    let (layout, axes) = layout_and_axes(&args).ok()?;
    let is_pack = PackOp::cast(m, op).is_some();
    let plain = if is_pack { args.operand_type(0) } else { m.value_type(m.result(op, 0)) };
    let [plain, packed] = plain_and_packed(&layout, axes, m.ctx.static_shape(plain)?).ok()?;
    Some(if is_pack { ([plain, packed], layout.pad()) } else { ([packed, plain], 0.0) })
}

/// Copies a tensor's bytes into the target layout; padding is set to `fill`.
fn relaid_out(x: &Tensor, relayout: Relayout<'_>, fill: &[u8]) -> Result<Vec<u8>, Violation> {
    let count = relayout.target_size();
    if count > MAX_PACKED_ELEMENTS {
        return Err(format!("more than {MAX_PACKED_ELEMENTS} elements").into());
    }
    let mut bytes = fill.repeat(count as usize);
    relayout.copy(x.bytes(), &mut bytes, x.dtype().size())?;
    Ok(bytes)
}
