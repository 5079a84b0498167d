//! Quantized ops: an integer q represents the real number `(q - zero_point) * scale`.

use super::args::{Inputs, conv, int, one, several};
use super::linear::{conv_cost, conv_shape, matmul_cost, matmul_shape};
use super::unary::checked;
use super::{GENERIC, conv_op, infer, onnx_dtype, onnx_type};
use gradus_dialects::constraint::{BYTE_TENSOR, FLOAT_TENSOR, I64, I64_ARRAY, INT_TENSOR, STRING, TENSOR};
use gradus_dialects::op_cost::DeclaredCost;
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{DType, DYNAMIC, OpArgs, OpDecl, OpInfo, Traits, Type, Violation, op};
use gradus_reference_kernels as kernels;

/// Integer matrix product of 8-bit tensors: `(a - a_zero_point)(b - b_zero_point)` in i32.
///
/// A zero point is a scalar, or one per row of `a` or column of `b`.
///
/// ```mlir
/// %y = graph.matmul_integer %a, %b a_zero %z : (tensor<4x8xui8>, tensor<8x3xi8>, tensor<ui8>) -> tensor<4x3xi32>
/// ```
#[op(
    "graph.matmul_integer",
    traits = Traits::OPERAND_SEGMENTS,
    format = "$a `,` $b (`a_zero` $a_zero_point^)? (`b_zero` $b_zero_point^)? attr-dict `:` functional-type(operands, results)",
    infer = |args| infer::one(args, matmul_shape(args)?, Type::I32),
    extensions = &[&DeclaredCost(matmul_cost)],
    eval = matmul_integer
)]
pub struct MatMulIntegerOp {
    /// Left operand.
    a: Operand<BYTE_TENSOR>,
    /// Right operand.
    b: Operand<BYTE_TENSOR>,
    /// Zero point of `a`.
    a_zero_point: OptOperand<BYTE_TENSOR>,
    /// Zero point of `b`.
    b_zero_point: OptOperand<BYTE_TENSOR>,
    /// Product.
    y: OpResult<INT_TENSOR>,
}

/// Evaluates an integer product with optional zero points.
///
/// # Errors
/// The trap of operands without values.
pub fn matmul_integer(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    one(kernels::matmul_integer(i.get("a")?, i.get("b")?, i.opt("a_zero_point")?, i.opt("b_zero_point")?))
}

conv_op! {
    /// Integer convolution of 8-bit tensors, with zero points subtracted, in i32.
    ///
    /// `x_zero_point` is a scalar, `w_zero_point` a scalar or one per output channel. Attributes are those of `graph.conv`.
    ///
    /// ```mlir
    /// %y = graph.conv_integer %x, %w x_zero %z : (tensor<1x3x8x8xui8>, tensor<4x3x3x3xi8>, tensor<ui8>) -> tensor<1x4x6x6xi32>
    /// ```
    #[op(
        "graph.conv_integer",
        traits = Traits::OPERAND_SEGMENTS,
        format = "$x `,` $w (`x_zero` $x_zero_point^)? (`w_zero` $w_zero_point^)? attr-dict `:` functional-type(operands, results)",
        infer = |args| infer::one(args, conv_shape(args)?, Type::I32),
        extensions = &[&DeclaredCost(conv_cost)],
        eval = conv_integer,
        verify = |m, op| checked(m, op, conv)
    )]
    pub struct ConvIntegerOp {
        /// Input, `[N, C, D...]`.
        x: Operand<BYTE_TENSOR>,
        /// Filters, `[M, C / group, K...]`.
        w: Operand<BYTE_TENSOR>,
        /// Zero point of the input.
        x_zero_point: OptOperand<BYTE_TENSOR>,
        /// Zero point of the filters.
        w_zero_point: OptOperand<BYTE_TENSOR>,
    } -> INT_TENSOR
}

fn conv_integer(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    let (x_zero, w_zero) = (i.opt("x_zero_point")?, i.opt("w_zero_point")?);
    one(kernels::conv_integer(i.get("x")?, i.get("w")?, x_zero, w_zero, &conv(args)?))
}

/// Quantized matrix product: dequantizes, multiplies and requantizes.
///
/// Products accumulate exactly in 32 bits. Scale and zero point of `a` may be per row, those of `b` per column.
///
/// ```mlir
/// %y = graph.qlinear_matmul %a, %sa, %za, %b, %sb, %zb, %sy, %zy : (tensor<4x8xui8>, tensor<f32>, tensor<ui8>, tensor<8x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<4x3xui8>
/// ```
#[op(
    "graph.qlinear_matmul",
    format = GENERIC,
    infer = infer_qlinear_matmul,
    extensions = &[&DeclaredCost(matmul_cost)],
    eval = qlinear_matmul
)]
pub struct QLinearMatMulOp {
    /// Left operand.
    a: Operand<BYTE_TENSOR>,
    /// Scale of `a`.
    a_scale: Operand<FLOAT_TENSOR>,
    /// Zero point of `a`.
    a_zero_point: Operand<BYTE_TENSOR>,
    /// Right operand.
    b: Operand<BYTE_TENSOR>,
    /// Scale of `b`.
    b_scale: Operand<FLOAT_TENSOR>,
    /// Zero point of `b`.
    b_zero_point: Operand<BYTE_TENSOR>,
    /// Scale of the result.
    y_scale: Operand<FLOAT_TENSOR>,
    /// Zero point of the result.
    y_zero_point: Operand<BYTE_TENSOR>,
    /// Product.
    y: OpResult<BYTE_TENSOR>,
}

fn infer_qlinear_matmul(args: &OpArgs<'_>) -> infer::Types {
    infer::common_elem(args, &["a", "a_zero_point"])?;
    infer::common_elem(args, &["b", "b_zero_point"])?;
    require_parameters(args, &["a", "b", "y"])?;
    infer::one(args, matmul_shape(args)?, infer::elem(args, "y_zero_point")?)
}

/// Checks that scale and zero point have the same shape if both have several elements, and those of the result have one.
fn require_parameters(args: &OpArgs<'_>, values: &[&str]) -> Result<(), Violation> {
    for value in values {
        let (scale, zero) = (format!("{value}_scale"), format!("{value}_zero_point"));
        let (Some(a), Some(b)) = (infer::dims(args, &scale), infer::dims(args, &zero)) else { continue };
        let [of_scale, of_zero] = [&a, &b].map(|dims| infer::product(dims));
        let is_same = a.len() == b.len() && a.iter().zip(&b).all(|(&a, &b)| infer::unify(a, b).is_ok());
        if !is_same && ![of_scale, of_zero].contains(&1) {
            return Err(format!("requires '{scale}' and '{zero}' of the same shape, or one element").into());
        }
        if *value == "y" && ![of_scale, of_zero].iter().all(|n| [1, DYNAMIC].contains(n)) {
            return Err(format!("requires one element in '{scale}' and '{zero}', not {of_scale}").into());
        }
    }
    Ok(())
}

/// Returns a quantized operand.
pub(super) fn quantized<'a>(
    i: Inputs<'a>,
    value: &str,
    scale: &str,
    zero: &str,
) -> Result<kernels::Quantized<'a>, Trap> {
    Ok(kernels::Quantized { value: i.get(value)?, scale: i.get(scale)?, zero: i.get(zero)? })
}

fn qlinear_matmul(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    let a = quantized(i, "a", "a_scale", "a_zero_point")?;
    let b = quantized(i, "b", "b_scale", "b_zero_point")?;
    one(kernels::qlinear_matmul(a, b, i.get("y_scale")?, i.get("y_zero_point")?))
}

conv_op! {
    /// Quantized convolution: dequantizes, convolves and requantizes.
    ///
    /// Products accumulate exactly in 32 bits. The bias is i32 with the scale `x_scale * w_scale`. Scale and zero point of
    /// the filters may be per output channel. Attributes are those of `graph.conv`.
    ///
    /// ```mlir
    /// %y = graph.qlinear_conv %x, %sx, %zx, %w, %sw, %zw, %sy, %zy, %b : (tensor<1x3x8x8xui8>, tensor<f32>, tensor<ui8>, tensor<4x3x3x3xi8>, tensor<4xf32>, tensor<4xi8>, tensor<f32>, tensor<ui8>, tensor<4xi32>) -> tensor<1x4x6x6xui8>
    /// ```
    #[op(
        "graph.qlinear_conv",
        format = GENERIC,
        infer = infer_qlinear_conv,
        extensions = &[&DeclaredCost(conv_cost)],
        eval = qlinear_conv,
        verify = |m, op| checked(m, op, conv)
    )]
    pub struct QLinearConvOp {
        /// Input, `[N, C, D...]`.
        x: Operand<BYTE_TENSOR>,
        /// Scale of the input.
        x_scale: Operand<FLOAT_TENSOR>,
        /// Zero point of the input.
        x_zero_point: Operand<BYTE_TENSOR>,
        /// Filters, `[M, C / group, K...]`.
        w: Operand<BYTE_TENSOR>,
        /// Scale of the filters.
        w_scale: Operand<FLOAT_TENSOR>,
        /// Zero point of the filters.
        w_zero_point: Operand<BYTE_TENSOR>,
        /// Scale of the result.
        y_scale: Operand<FLOAT_TENSOR>,
        /// Zero point of the result.
        y_zero_point: Operand<BYTE_TENSOR>,
        /// Bias of the integer sums, `[M]`.
        b: OptOperand<INT_TENSOR>,
    } -> BYTE_TENSOR
}

fn infer_qlinear_conv(args: &OpArgs<'_>) -> infer::Types {
    infer::common_elem(args, &["x", "x_zero_point"])?;
    infer::common_elem(args, &["w", "w_zero_point"])?;
    require_parameters(args, &["x", "w", "y"])?;
    infer::one(args, conv_shape(args)?, infer::elem(args, "y_zero_point")?)
}

fn qlinear_conv(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    let x = quantized(i, "x", "x_scale", "x_zero_point")?;
    let w = quantized(i, "w", "w_scale", "w_zero_point")?;
    let (scale, zero) = (i.get("y_scale")?, i.get("y_zero_point")?);
    one(kernels::qlinear_conv(x, w, scale, zero, i.opt("b")?, &conv(args)?))
}

/// Quantization: `saturate(round(x / y_scale) + y_zero_point)`, in an integer or narrow float type.
///
/// Quotients are rounded half to even for integer types. The scale is a scalar, a vector along `axis`, or, with
/// `block_size`, a tensor with one element per block along `axis`. The zero point determines the type of the result;
/// without it, the type is `output_dtype` or `ui8`.
///
/// ```mlir
/// %y = graph.quantize_linear %x, %s, %z : (tensor<4xf32>, tensor<f32>, tensor<i8>) -> tensor<4xi8>
/// ```
#[op("graph.quantize_linear", format = GENERIC, infer = infer_quantize, eval = quantize)]
pub struct QuantizeLinearOp {
    /// Operand.
    x: Operand<TENSOR>,
    /// Scale.
    y_scale: Operand<TENSOR>,
    /// Zero point of the result.
    y_zero_point: OptOperand<TENSOR>,
    /// Axis of per-axis and blocked parameters.
    #[default = "1 : i64"]
    axis: OptAttribute<I64>,
    /// Elements per block along the axis; 0 for per-axis parameters.
    #[default = "0 : i64"]
    block_size: OptAttribute<I64>,
    /// ONNX type number of the result's element type; 0 for that of the zero point.
    #[default = "0 : i64"]
    output_dtype: OptAttribute<I64>,
    /// ONNX type number of the precision of the quotient; 0 for that of the scale.
    #[default = "0 : i64"]
    precision: OptAttribute<I64>,
    /// Whether 8-bit floats saturate; other types always do.
    #[default = "1 : i64"]
    saturate: OptAttribute<I64>,
    /// Quantized tensor.
    y: OpResult<TENSOR>,
}

/// Returns the element type of a quantization.
fn quantized_type(args: &OpArgs<'_>) -> Result<Type, Violation> {
    let given = int(args, "output_dtype")?;
    match infer::elem(args, "y_zero_point") {
        Ok(zero) => Ok(zero),
        Err(_) if given == 0 => Ok(args.ctx().dtype_type(DType::U8)),
        Err(_) => onnx_type(args.ctx(), given).ok_or_else(|| format!("{given} is not an ONNX type number").into()),
    }
}

fn infer_quantize(args: &OpArgs<'_>) -> infer::Types {
    let to = quantized_type(args)?;
    Ok(vec![args.ctx().with_element(infer::ty(args, "x")?, to)])
}

fn quantize(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    let to = args.ctx().dtype(quantized_type(args)?).ok_or_else(|| Trap::unsupported("quantization to this type"))?;
    let attrs = kernels::QuantizeAttrs {
        to,
        precision: onnx_dtype(int(args, "precision")?),
        axis: int(args, "axis")?,
        block_size: int(args, "block_size")?,
        saturate: args.flag("saturate"),
    };
    one(kernels::quantize_linear(i.get("x")?, i.get("y_scale")?, i.opt("y_zero_point")?, &attrs))
}

/// Dequantization: `(x - x_zero_point) * x_scale`, in the type of the scale or `output_dtype`.
///
/// Parameters are as in `graph.quantize_linear`.
///
/// ```mlir
/// %y = graph.dequantize_linear %x, %s, %z {axis = 0 : i64} : (tensor<4xi8>, tensor<4xf32>, tensor<4xi8>) -> tensor<4xf32>
/// ```
#[op("graph.dequantize_linear", format = GENERIC, infer = infer_dequantize, eval = dequantize)]
pub struct DequantizeLinearOp {
    /// Quantized tensor.
    x: Operand<TENSOR>,
    /// Scale.
    x_scale: Operand<FLOAT_TENSOR>,
    /// Zero point.
    x_zero_point: OptOperand<TENSOR>,
    /// Axis of per-axis and blocked parameters.
    #[default = "1 : i64"]
    axis: OptAttribute<I64>,
    /// Elements per block along the axis; 0 for per-axis parameters.
    #[default = "0 : i64"]
    block_size: OptAttribute<I64>,
    /// ONNX type number of the result's element type; 0 for that of the scale.
    #[default = "0 : i64"]
    output_dtype: OptAttribute<I64>,
    /// Dequantized tensor.
    y: OpResult<FLOAT_TENSOR>,
}

/// Returns the element type of a dequantization.
fn dequantized_type(args: &OpArgs<'_>) -> Result<Type, Violation> {
    match int(args, "output_dtype")? {
        0 => infer::elem(args, "x_scale"),
        given => onnx_type(args.ctx(), given).ok_or_else(|| format!("{given} is not an ONNX type number").into()),
    }
}

fn infer_dequantize(args: &OpArgs<'_>) -> infer::Types {
    infer::common_elem(args, &["x", "x_zero_point"])?;
    Ok(vec![args.ctx().with_element(infer::ty(args, "x")?, dequantized_type(args)?)])
}

fn dequantize(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let i = Inputs::new(args, data);
    let (zero, axis, block) = (i.opt("x_zero_point")?, int(args, "axis")?, int(args, "block_size")?);
    let to = args.ctx().dtype(dequantized_type(args)?).ok_or_else(|| Trap::unsupported("floats of this type"))?;
    one(kernels::dequantize_linear(i.get("x")?, i.get("x_scale")?, zero, to, axis, block))
}

/// Dynamic quantization to `ui8`: computes scale and zero point from the range of the operand.
///
/// ```mlir
/// %y:3 = graph.dynamic_quantize_linear %x : (tensor<4xf32>) -> (tensor<4xui8>, tensor<f32>, tensor<ui8>)
/// ```
#[op("graph.dynamic_quantize_linear", format = GENERIC, infer = infer_dynamic, eval = dynamic_quantize)]
pub struct DynamicQuantizeLinearOp {
    /// Operand.
    x: Operand<FLOAT_TENSOR>,
    /// Quantized tensor.
    y: OpResult<INT_TENSOR>,
    /// Scale, a scalar.
    y_scale: OpResult<FLOAT_TENSOR>,
    /// Zero point, a scalar.
    y_zero_point: OpResult<INT_TENSOR>,
}

fn infer_dynamic(args: &OpArgs<'_>) -> infer::Types {
    let (ctx, ty) = (args.ctx(), infer::ty(args, "x")?);
    let (elem, byte) = (ctx.element_type(ty), ctx.dtype_type(DType::U8));
    Ok(vec![ctx.with_element(ty, byte), ctx.tensor_type(&[], elem), ctx.tensor_type(&[], byte)])
}

fn dynamic_quantize(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    several(args, kernels::dynamic_quantize_linear(Inputs::new(args, data).get("x")?)?)
}

/// Ops of this file.
pub(super) const OPS: &[&[&OpInfo]] = &[&[
    MatMulIntegerOp::INFO,
    ConvIntegerOp::INFO,
    QLinearMatMulOp::INFO,
    QLinearConvOp::INFO,
    QuantizeLinearOp::INFO,
    DequantizeLinearOp::INFO,
    DynamicQuantizeLinearOp::INFO,
]];
