//! Ops that create tensors: constants, ranges, one-hot vectors, triangles, and shapes.

use super::args::{Inputs, int, one, unary};
use super::{DENSE, GENERIC, infer, onnx_type};
use gradus_dialects::constraint::{I64, I64_TENSOR, INT_TENSOR, TENSOR};
use gradus_dialects::op_cost::DeclaredCost;
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{Attr, DYNAMIC, Folded, OpArgs, OpDecl, OpInfo, Tensor, Traits, Type, Violation, op};
use gradus_reference_kernels as kernels;
use gradus_reference_kernels::shape::{normalize_axis, slice_axis};

/// Constant tensor.
///
/// ```mlir
/// %cst = graph.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
/// ```
#[op(
    "graph.constant",
    traits = Traits::CONSTANT_LIKE,
    format = "attr-dict $value",
    infer = infer_constant,
    eval = constant,
    result_names = |_, _| vec![(0, "cst".to_owned())]
)]
pub struct ConstantOp {
    /// Elements; they determine the result type.
    value: Attribute<DENSE>,
    /// Constant tensor.
    result: OpResult<TENSOR>,
}

fn infer_constant(args: &OpArgs<'_>) -> infer::Types {
    let value = args.attr("value").ok_or("requires attribute 'value'")?;
    Ok(vec![args.ctx().attr_type(value).ok_or("requires an attribute 'value' that has a type")?])
}

fn constant(args: &OpArgs<'_>, _: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let tensor = args.attr("value").and_then(|a| infer::attr_tensor(args.module, a));
    one(tensor.ok_or_else(|| "a constant without numeric elements".into()))
}

/// Tensor of the given shape filled with one value.
///
/// ```mlir
/// %y = graph.constant_of_shape %shape {value = dense<1> : tensor<1xi64>} : (tensor<2xi64>) -> tensor<?x?xi64>
/// ```
#[op(
    "graph.constant_of_shape",
    format = GENERIC,
    infer = infer_constant_of_shape,
    fold = fold_constant_of_shape,
    eval = constant_of_shape
)]
pub struct ConstantOfShapeOp {
    /// Extents.
    shape: Operand<I64_TENSOR>,
    /// Fill value, a tensor of one element; f32 zero when absent.
    value: OptAttribute<DENSE>,
    /// Filled tensor.
    y: OpResult<TENSOR>,
}

fn infer_constant_of_shape(args: &OpArgs<'_>) -> infer::Types {
    let elem = match args.attr("value") {
        Some(value) => {
            let ctx = args.ctx();
            let ty = ctx.attr_type(value).ok_or("requires an attribute 'value' that has a type")?;
            if ctx.static_shape(ty).is_none_or(|s| infer::product(s) != 1) {
                return Err("requires an attribute 'value' of one element".into());
            }
            ctx.element_type(ty)
        }
        None => Type::F32,
    };
    let given = infer::ints(args, "shape");
    if given.as_ref().is_some_and(|s| s.iter().any(|&d| d < 0)) {
        return Err("requires a shape without negative extents".into());
    }
    infer::one(args, given.or_else(|| infer::list_len(args, "shape").map(infer::unknown)), elem)
}

/// Folds to a splat, for any number of elements.
fn fold_constant_of_shape(args: &OpArgs<'_>, _: &[Option<Attr>]) -> Option<Folded> {
    let ctx = args.ctx();
    let &[ty] = args.result_types else { return None };
    infer::always(args, "shape").filter(|_| ctx.static_shape(ty).is_some_and(|shape| !shape.contains(&0)))?;
    let value = match args.attr("value") {
        Some(attr) => infer::attr_tensor(args.module, attr)?,
        None => Tensor::scalar(0f32),
    };
    Some(ctx.dense_attr(ty, &value).into())
}

fn constant_of_shape(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let value = match args.attr("value") {
        Some(attr) => {
            infer::attr_tensor(args.module, attr).ok_or_else(|| Trap::unsupported("elements of this type"))?
        }
        None => Tensor::scalar(0f32),
    };
    one(kernels::constant_of_shape(&Inputs::new(args, data).ints("shape")?.unwrap_or_default(), &value))
}

/// Range `start, start + delta, ...` up to `limit`, exclusive. The length is `max(0, ceil((limit - start) / delta))`; poison if the
/// step is 0, or the length is not a number or not that of the type.
///
/// ```mlir
/// %y = graph.range %start, %limit, %delta : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
/// ```
#[op("graph.range", format = GENERIC, infer = infer_range, eval = range)]
pub struct RangeOp {
    /// First element, a scalar.
    start: Operand<TENSOR>,
    /// Exclusive limit, a scalar.
    limit: Operand<TENSOR>,
    /// Step, a scalar.
    delta: Operand<TENSOR>,
    /// ONNX type number of the accumulator for 16-bit floats; ignored.
    #[default = "1 : i64"]
    stash_type: OptAttribute<I64>,
    /// Range, a vector.
    y: OpResult<TENSOR>,
}

fn infer_range(args: &OpArgs<'_>) -> infer::Types {
    let elem = infer::common_elem(args, &["start", "limit", "delta"])?;
    let ctx = args.ctx();
    let is_one = |&ty: &Type| ctx.static_shape(ty).is_none_or(|shape| shape.iter().all(|&extent| extent == 1));
    if !(0..3).all(|i| is_one(&args.operand_type(i))) {
        return Err("requires a start, a limit and a step of one element".into());
    }
    infer::one(args, Some(vec![range_len(args).unwrap_or(DYNAMIC)]), elem)
}

/// Returns the number of elements if the operands are constant.
fn range_len(args: &OpArgs<'_>) -> Option<i64> {
    let [start, limit, delta] = ["start", "limit", "delta"].map(|name| infer::constant(args, name));
    i64::try_from(kernels::range_len(&start?, &limit?, &delta?).ok()??).ok()
}

fn range(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    let (start, limit, delta) = (i.get("start")?, i.get("limit")?, i.get("delta")?);
    let ty = args.result_types[0];
    let declared = args.ctx().static_shape(ty).and_then(|shape| shape.first().copied());
    match kernels::range_len(start, limit, delta)? {
        Some(count) if declared.is_none_or(|declared| i128::try_from(count) == Ok(declared.into())) => {
            let range = kernels::range(start, limit, delta).map_err(|long| Trap::Limit(long.to_string()))?;
            Ok(vec![Datum::Tensor(range)])
        }
        _ => Ok(vec![args.ctx().poison_of(ty)]),
    }
}

/// One-hot encoding: a new axis of extent `depth` holds the on-value at the index and the off-value elsewhere.
///
/// `values` holds the off-value, then the on-value.
///
/// ```mlir
/// %y = graph.one_hot %i, %depth, %values : (tensor<4xi64>, tensor<i64>, tensor<2xf32>) -> tensor<4x?xf32>
/// ```
#[op("graph.one_hot", format = GENERIC, infer = infer_one_hot, eval = one_hot)]
pub struct OneHotOp {
    /// Indices of the on-values; negative ones count from the end.
    indices: Operand<TENSOR>,
    /// Extent of the new axis, a scalar.
    depth: Operand<TENSOR>,
    /// Off-value and on-value, `[2]`.
    values: Operand<TENSOR>,
    /// Position of the new axis in the result.
    #[default = "-1 : i64"]
    axis: OptAttribute<I64>,
    /// One-hot vectors.
    y: OpResult<TENSOR>,
}

/// Returns the extent of the new axis from a number of any type.
fn depth(t: &Tensor) -> Option<i64> {
    match t.to_i64() {
        Some(v) => v.first().copied(),
        None => t.to_f64().first().map(|&v| v as i64),
    }
}

fn infer_one_hot(args: &OpArgs<'_>) -> infer::Types {
    let (elem, axis) = (infer::elem(args, "values")?, int(args, "axis")?);
    let Some(mut dims) = infer::dims(args, "indices") else { return infer::one(args, None, elem) };
    let extent = infer::constant(args, "depth").and_then(|t| depth(&t)).unwrap_or(DYNAMIC);
    if extent < 0 && extent != DYNAMIC {
        return Err(format!("cannot have a depth of {extent}").into());
    }
    dims.insert(normalize_axis(axis, dims.len() + 1)?, extent);
    infer::one(args, Some(dims), elem)
}

fn one_hot(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    let extent = depth(i.get("depth")?).ok_or_else(|| Trap::unsupported("an empty depth"))?;
    one(kernels::one_hot(i.get("indices")?, extent, i.get("values")?, int(args, "axis")?))
}

/// Upper or lower triangular part of matrices; the rest is zero.
///
/// ```mlir
/// %y = graph.trilu %x, %k {upper = 0 : i64} : (tensor<4x4xf32>, tensor<i64>) -> tensor<4x4xf32>
/// ```
#[op("graph.trilu", format = GENERIC, infer = infer_trilu, eval = trilu)]
pub struct TriluOp {
    /// Matrices, `[..., M, N]`.
    x: Operand<TENSOR>,
    /// Diagonal that bounds the triangle, a scalar; 0 (main diagonal) when absent.
    k: OptOperand<INT_TENSOR>,
    /// Whether the upper triangle is kept, else the lower one.
    #[default = "1 : i64"]
    upper: OptAttribute<I64>,
    /// Triangular matrices.
    y: OpResult<TENSOR>,
}

fn infer_trilu(args: &OpArgs<'_>) -> infer::Types {
    match infer::dims(args, "x") {
        Some(dims) if dims.len() < 2 => Err(format!("requires matrices, not {}", infer::display(&dims)).into()),
        _ => infer::same(args),
    }
}

fn trilu(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    one(kernels::trilu(i.get("x")?, i.int("k")?.unwrap_or(0), args.flag("upper")))
}

/// Matrix with ones on a diagonal and zeros elsewhere, in the shape of the operand.
///
/// ```mlir
/// %y = graph.eye_like %x {k = 1 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
/// ```
#[op("graph.eye_like", format = GENERIC, infer = infer_eye_like, eval = eye_like)]
pub struct EyeLikeOp {
    /// A 2-D tensor; only its shape is used.
    x: Operand<TENSOR>,
    /// ONNX type number of the result's element type; that of the operand when absent.
    dtype: OptAttribute<I64>,
    /// Diagonal of the ones: 0 is the main one, positive ones are above it.
    #[default = "0 : i64"]
    k: OptAttribute<I64>,
    /// Matrix with ones on the diagonal.
    y: OpResult<TENSOR>,
}

fn eye_type(args: &OpArgs<'_>) -> Result<Type, Violation> {
    match args.int("dtype") {
        Some(n) => onnx_type(args.ctx(), n).ok_or_else(|| format!("{n} is not an ONNX type number").into()),
        None => infer::elem(args, "x"),
    }
}

fn infer_eye_like(args: &OpArgs<'_>) -> infer::Types {
    let dims = infer::dims(args, "x").unwrap_or_else(|| infer::unknown(2));
    if dims.len() != 2 {
        return Err(format!("requires a matrix, not {}", infer::display(&dims)).into());
    }
    infer::one(args, Some(dims), eye_type(args)?)
}

fn eye_like(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let dtype = args.ctx().dtype(eye_type(args)?).ok_or_else(|| Trap::unsupported("elements of this type"))?;
    one(kernels::eye_like(Inputs::new(args, data).get("x")?.shape(), int(args, "k")?, dtype))
}

/// Shape of a tensor as a vector, from axis `start` to `end`, exclusive.
///
/// ```mlir
/// %y = graph.shape %x {start = 1 : i64} : (tensor<2x?x4xf32>) -> tensor<2xi64>
/// ```
#[op(
    "graph.shape",
    extensions = &[&DeclaredCost::VIEW],
    format = GENERIC,
    infer = infer_shape,
    fold = fold_shape,
    eval = |args, data| unary(data, |x| kernels::shape_of(x, int(args, "start")?, args.int("end")))
)]
pub struct ShapeOp {
    /// Operand.
    x: Operand<TENSOR>,
    /// End axis, exclusive; the rank when absent.
    end: OptAttribute<I64>,
    /// Start axis.
    #[default = "0 : i64"]
    start: OptAttribute<I64>,
    /// Extents.
    y: OpResult<I64_TENSOR>,
}

/// Returns the selected extents of the operand.
fn shape_part(args: &OpArgs<'_>) -> Result<infer::Dims, Violation> {
    let Some(dims) = infer::dims(args, "x") else { return Ok(None) };
    let (first, count) = slice_axis(dims.len(), int(args, "start")?, args.int("end").unwrap_or(i64::MAX), 1)?;
    Ok(Some(dims[first..first + count].to_vec()))
}

fn infer_shape(args: &OpArgs<'_>) -> infer::Types {
    let count = shape_part(args)?.and_then(|d| i64::try_from(d.len()).ok()).unwrap_or(DYNAMIC);
    infer::one(args, Some(vec![count]), Type::I64)
}

/// Returns a constant if its type is the result type.
fn folded(args: &OpArgs<'_>, tensor: &Tensor) -> Option<Folded> {
    let ctx = args.ctx();
    let ty = ctx.tensor_type(&infer::extents(tensor.shape()), Type::I64);
    (args.result_types == [ty]).then(|| ctx.dense_attr(ty, tensor).into())
}

fn fold_shape(args: &OpArgs<'_>, _: &[Option<Attr>]) -> Option<Folded> {
    let dims = shape_part(args).ok()??;
    infer::all_known(&dims)?;
    folded(args, &Tensor::from_vec(&[dims.len()], dims))
}

/// Number of elements of a tensor.
///
/// ```mlir
/// %y = graph.size %x : (tensor<2x3xf32>) -> tensor<i64>
/// ```
#[op(
    "graph.size",
    format = GENERIC,
    infer = |args| infer::one(args, Some(vec![]), Type::I64),
    fold = fold_size,
    eval = |_, data| unary(data, kernels::size_of)
)]
pub struct SizeOp {
    /// Operand.
    x: Operand<TENSOR>,
    /// Number of elements, a scalar.
    y: OpResult<I64_TENSOR>,
}

fn fold_size(args: &OpArgs<'_>, _: &[Option<Attr>]) -> Option<Folded> {
    match infer::product(&infer::dims(args, "x")?) {
        DYNAMIC => None,
        n => folded(args, &Tensor::scalar(n)),
    }
}

/// Ops of this file.
pub(super) const OPS: &[&[&OpInfo]] = &[&[
    ConstantOp::INFO,
    ConstantOfShapeOp::INFO,
    RangeOp::INFO,
    OneHotOp::INFO,
    TriluOp::INFO,
    EyeLikeOp::INFO,
    ShapeOp::INFO,
    SizeOp::INFO,
]];
