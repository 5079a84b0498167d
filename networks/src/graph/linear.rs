//! Convolutions and matrix products.

use super::args::{Inputs, binary, conv, float, list, one, variadic};
use super::unary::checked;
use super::{GENERIC, conv_op, infer};
use crate::layout::{bands, image_layout};
use gradus_dialects::constraint::{F32, FLOAT_TENSOR, I64, I64_ARRAY, NUMBER_TENSOR, STRING, TENSOR};
use gradus_dialects::op_cost::{Contraction, DeclaredCost, Factors, OpCost, Strategy, elements};
use gradus_ir::effects::is_speculatable;
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{DYNAMIC, Module, Op, OpArgs, OpDecl, OpInfo, Tensor, Traits, Type, Value, Violation, op};
use gradus_reference_kernels as kernels;
use gradus_reference_kernels::shape::{
    ConvAttrs, ConvTransposeAttrs, PER_CHANNEL, Window, conv_output_dims, conv_transpose_output_dims,
    conv_transpose_window, conv_window,
};

conv_op! {
    /// Convolution with any number of spatial axes.
    ///
    /// `x` is `[N, C, D...]`, `w` is `[M, C / group, K...]`, the bias is `[M]`. Output channels see the input channels of
    /// their group only; `group = C` is a depthwise convolution, and `group = -1` one of any number of channels.
    ///
    /// ```mlir
    /// %y = graph.conv %x, %w, %b {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32>
    /// ```
    #[op(
        "graph.conv",
        format = GENERIC,
        infer = infer_conv,
        eval = eval_conv,
        extensions = &[&DeclaredCost(conv_cost)],
        verify = verify_conv
    )]
    pub struct ConvOp {
        /// Input, `[N, C, D...]`.
        x: Operand<FLOAT_TENSOR>,
        /// Filters, `[M, C / group, K...]`.
        w: Operand<FLOAT_TENSOR>,
        /// Bias, `[M]`.
        b: OptOperand<FLOAT_TENSOR>,
    } -> FLOAT_TENSOR
}

impl ConvOp {
    /// Returns the number of groups and the window geometry.
    ///
    /// # Errors
    /// When extents are dynamic, or the attributes are invalid.
    pub fn window(self, m: &Module) -> Result<(usize, Window), Violation> {
        convolution(m, self.0)
    }
}

/// Returns the number of groups and the window geometry of a floating-point or integer convolution.
///
/// # Errors
/// When extents are dynamic, or the attributes are invalid.
pub fn convolution(m: &Module, op: Op) -> Result<(usize, Window), Violation> {
    let args = m.args(op).ok_or("requires a declaration")?;
    conv_window(&static_extents(&args, "x")?, &static_extents(&args, "w")?, &conv(&args)?)
}

/// Returns the extents of an operand.
fn static_extents(args: &OpArgs<'_>, name: &str) -> Result<Vec<usize>, Violation> {
    let ty = args.module.value_type(args.opt_operand(name).ok_or("requires an image and filters")?);
    let extents = args.ctx().static_shape(ty).ok_or("requires known extents")?;
    Ok(extents.iter().map(|&d| d as usize).collect())
}

/// Infers the type of a convolution.
pub(crate) fn infer_conv(args: &OpArgs<'_>) -> infer::Types {
    let elem = infer::common_elem(args, &["x", "w", "b"])?;
    let shape = conv_shape(args)?;
    if let (Some(bias), Some(shape)) = (infer::dims(args, "b"), &shape) {
        let fits = matches!(bias.as_slice(), &[n] if infer::unify(n, shape[1]).is_ok());
        if !fits {
            let have = infer::display(&bias);
            return Err(format!("the operand 'b' should have an element for each filter, not {have}").into());
        }
    }
    infer::one(args, shape, elem)
}

/// Infers the shape of a convolution of `x` and `w`.
pub(super) fn conv_shape(args: &OpArgs<'_>) -> Result<infer::Dims, Violation> {
    let attrs = conv(args)?;
    let (x, w) = (infer::dims(args, "x"), infer::dims(args, "w"));
    let Some(rank) = x.as_ref().or(w.as_ref()).map(Vec::len) else { return Ok(None) };
    let (x, w) = (x.unwrap_or_else(|| infer::unknown(rank)), w.unwrap_or_else(|| infer::unknown(rank)));
    conv_dims(&x, &w, &attrs).map(Some)
}

/// Returns the extents of an operand, 1 for dynamic ones.
fn extents(args: &OpArgs<'_>, name: &str) -> Vec<u64> {
    infer::dims(args, name).unwrap_or_default().iter().map(|&d| u64::try_from(d).unwrap_or(1)).collect()
}

/// Convolution of images with channels first, a plane of positions per channel.
pub static CHANNELS_FIRST: Strategy = Strategy { name: "channels-first" };

/// Whether an op has the attribute that it reads and writes images with channels before positions.
pub(super) fn is_channels_first(args: &OpArgs<'_>) -> bool {
    let layout = args.op.and_then(|op| image_layout(args.module, op));
    let sizes = infer::dims(args, "x").unwrap_or_default();
    layout.is_some_and(|layout| layout.order().starts_with("NC") || bands(&layout, &sizes).is_some())
}

/// Returns the cost of a convolution.
pub(crate) fn conv_cost(args: &OpArgs<'_>) -> OpCost {
    let (x, w) = (extents(args, "x"), extents(args, "w"));
    let groups = match args.int("group").unwrap_or(1) {
        PER_CHANNEL => x.get(1).copied().unwrap_or(1).max(1),
        group => group.max(1).cast_unsigned(),
    };
    let (Some((&filters, rest)), Some(&ty)) = (w.split_first(), args.result_types.first()) else {
        return OpCost::Map(1);
    };
    let columns = elements(args, ty) / filters.max(1);
    let (depth, taps) = (rest.iter().product(), rest.get(1..).unwrap_or_default().iter().product());
    let channels = rest.first().copied().unwrap_or(0);
    let strategy = is_channels_first(args).then_some(&CHANNELS_FIRST);
    OpCost::Contract(Contraction {
        taps,
        channels,
        factors: Factors::of(args),
        packed_for_constant: packed_for_constant(args, ["x", "w"], &w),
        strategy,
        ..Contraction::dense(groups, filters / groups, depth, columns)
    })
}

/// Infers the type of a product of two matrices of known rank.
pub(crate) fn infer_product(args: &OpArgs<'_>) -> infer::Types {
    require_matrices(args)?;
    infer_matmul(args)
}

/// Infers the type of an integer product of two matrices of known rank with optional zero points, such as `nna.matmul`.
///
/// # Errors
/// Operands that are not matrices, or whose extents differ.
pub fn infer_integer_product(args: &OpArgs<'_>) -> infer::Types {
    require_matrices(args)?;
    infer::common_elem(args, &["a", "a_zero_point"])?;
    infer::common_elem(args, &["b", "b_zero_point"])?;
    infer::one(args, matmul_shape(args)?, Type::I32)
}

fn require_matrices(args: &OpArgs<'_>) -> Result<(), Violation> {
    let matrices = ["a", "b"].into_iter().all(|name| infer::dims(args, name).is_some_and(|dims| dims.len() == 2));
    if matrices { Ok(()) } else { Err("requires matrices".into()) }
}

/// Returns the cost of a batched matrix product.
pub(super) fn matmul_cost(args: &OpArgs<'_>) -> OpCost {
    OpCost::Contract(product(args))
}

/// Returns the contraction of the matrices, or batches of them, `a` and `b`, the first two operands.
pub fn product(args: &OpArgs<'_>) -> Contraction {
    let (a, b) = (extents(args, "a"), extents(args, "b"));
    let depth = a.last().copied().unwrap_or(1);
    let columns = if b.len() > 1 { b[b.len() - 1] } else { 1 };
    let rows = if a.len() > 1 { a[a.len() - 2] } else { 1 };
    let all = args.result_types.first().map_or(1, |&ty| elements(args, ty));
    let packed_for_constant = packed_for_constant(args, ["a", "b"], &b);
    let dense = Contraction::dense(all / (rows * columns).max(1), rows, depth, columns);
    Contraction { factors: Factors::of(args), packed: is_constant(args, "b"), packed_for_constant, ..dense }
}

/// Number of elements of the second operand, of some extents, if only the first is constant; otherwise 0.
fn packed_for_constant(args: &OpArgs<'_>, [constant, packed]: [&str; 2], extents: &[u64]) -> u64 {
    let is_packed = is_constant(args, constant) && !is_constant(args, packed);
    if is_packed { extents.iter().fold(1, |n: u64, &d| n.saturating_mul(d)) } else { 0 }
}

/// Maximum length of a chain of ops on constants, such as a transposition and a reshape.
const CHAIN: usize = 4;

/// Whether an operand is constant, or computed from constants by ops that are folded once a form is chosen.
fn is_constant(args: &OpArgs<'_>, name: &str) -> bool {
    args.opt_operand(name).is_some_and(|v| is_folded(args.module, v, CHAIN))
}

fn is_folded(m: &Module, value: Value, chain: usize) -> bool {
    let Some(op) = m.defining_op(value) else { return false };
    let operands = m.operands(op);
    let is_foldable = || chain > 0 && (1..=2).contains(&operands.len()) && is_speculatable(m, op);
    m.constant(value).is_some() || (is_foldable() && operands.iter().all(|&v| is_folded(m, v, chain - 1)))
}

/// Returns the cost of a GEMM.
fn gemm_cost(args: &OpArgs<'_>) -> OpCost {
    let (a, b) = (extents(args, "a"), extents(args, "b"));
    let (&[r, s], &[t, u]) = (a.as_slice(), b.as_slice()) else { return OpCost::Map(1) };
    let (rows, depth) = if args.flag("transA") { (s, r) } else { (r, s) };
    OpCost::Contract(Contraction::dense(1, rows, depth, if args.flag("transB") { t } else { u }))
}

/// Placeholder for a dynamic spatial extent, large enough for any window.
pub(super) const ANY_EXTENT: usize = 1 << 31;

fn conv_dims(x: &[i64], w: &[i64], attrs: &ConvAttrs) -> Result<Vec<i64>, Violation> {
    if x.len() < 3 || x.len() != w.len() {
        let (x, w) = (infer::display(x), infer::display(w));
        return Err(format!("a convolution requires operands of the same rank, at least 3, not {x} and {w}").into());
    }
    let group = attrs.groups(infer::known(x[1]).unwrap_or(1));
    let group = group.ok_or("attribute 'group' should be positive, or -1 for one group per channel")?;
    let (c, k) = match (infer::known(x[1]), infer::known(w[1])) {
        (Some(c), Some(k)) => (c, k),
        (Some(c), None) => (c, c.checked_div(group).unwrap_or(1)),
        (None, k) => (k.unwrap_or(1).saturating_mul(group), k.unwrap_or(1)),
    };
    let mut input = vec![infer::known(x[0]).unwrap_or(1), c];
    input.extend(x[2..].iter().map(|&d| infer::known(d).unwrap_or(ANY_EXTENT)));
    let mut weight = vec![infer::known(w[0]).unwrap_or(group), k];
    let kernel: Vec<i64> = (0..w.len() - 2).map(|i| kernel_extent(w[i + 2], &attrs.window.kernel_shape, i)).collect();
    weight.extend(kernel.iter().map(|&d| infer::known(d).unwrap_or(1)));
    let mut out = infer::extents(&conv_output_dims(&input, &weight, attrs)?);
    (out[0], out[1]) = (x[0], w[0]);
    forget(&mut out, &x[2..], &kernel);
    Ok(out)
}

/// Returns a filter extent from the type, or from `kernel_shape`.
fn kernel_extent(dim: i64, kernel_shape: &[i64], i: usize) -> i64 {
    if dim == DYNAMIC { kernel_shape.get(i).copied().unwrap_or(DYNAMIC) } else { dim }
}

/// Makes spatial extents dynamic that depend on dynamic ones.
fn forget(out: &mut [i64], input: &[i64], kernel: &[i64]) {
    for (o, (x, k)) in out[2..].iter_mut().zip(input.iter().zip(kernel)) {
        if *x == DYNAMIC || *k == DYNAMIC {
            *o = DYNAMIC;
        }
    }
}

fn eval_conv(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    eval_conv_by(args, data, kernels::conv)
}

/// Evaluates a convolution by a kernel.
pub(crate) fn eval_conv_by(
    args: &OpArgs<'_>,
    data: &[Datum],
    kernel: impl Fn(&Tensor, &Tensor, Option<&Tensor>, &ConvAttrs) -> kernels::KernelResult,
) -> Result<Vec<Datum>, Trap> {
    let inputs = Inputs::new(args, data);
    one(kernel(inputs.get("x")?, inputs.get("w")?, inputs.opt("b")?, &conv(args)?))
}

/// Verifies the attributes of a convolution.
pub(crate) fn verify_conv(m: &Module, op: Op) -> Result<(), Violation> {
    checked(m, op, conv)
}

/// Transposed convolution: the gradient of a convolution with respect to its input.
///
/// `x` is `[N, C, D...]`, `w` is `[C, M / group, K...]`, the bias is `[M]`. Each input element is scattered over a
/// window of the result.
///
/// ```mlir
/// %y = graph.conv_transpose %x, %w {strides = array<i64: 2, 2>} : (tensor<1x4x8x8xf32>, tensor<4x3x2x2xf32>) -> tensor<1x3x16x16xf32>
/// ```
#[op(
    "graph.conv_transpose",
    format = GENERIC,
    infer = infer_conv_transpose,
    eval = eval_conv_transpose,
    verify = |m, op| checked(m, op, conv)
)]
pub struct ConvTransposeOp {
    /// Input, `[N, C, D...]`.
    x: Operand<FLOAT_TENSOR>,
    /// Filters, `[C, M / group, K...]`.
    w: Operand<FLOAT_TENSOR>,
    /// Bias, `[M]`.
    b: OptOperand<FLOAT_TENSOR>,
    /// Padding mode: `NOTSET` (explicit `pads`), `SAME_UPPER`, `SAME_LOWER` or `VALID`.
    #[default = "\"NOTSET\""]
    auto_pad: OptAttribute<STRING>,
    /// Distance between neighbouring taps; 1 when absent.
    dilations: OptAttribute<I64_ARRAY>,
    /// Number of channel groups.
    #[default = "1 : i64"]
    group: OptAttribute<I64>,
    /// Spatial extents of the filters; must match `w`.
    kernel_shape: OptAttribute<I64_ARRAY>,
    /// Additional extent at the end of each spatial axis; 0 when absent.
    output_padding: OptAttribute<I64_ARRAY>,
    /// Spatial extents of the result, which determine the pads.
    output_shape: OptAttribute<I64_ARRAY>,
    /// Cropping of the result: all begins, then all ends; 0 when absent.
    pads: OptAttribute<I64_ARRAY>,
    /// Distance between the windows of neighbouring elements; 1 when absent.
    strides: OptAttribute<I64_ARRAY>,
    /// Output, `[N, M, O...]`.
    y: OpResult<FLOAT_TENSOR>,
}

fn conv_transpose(args: &OpArgs<'_>) -> Result<ConvTransposeAttrs, Violation> {
    let (output_padding, output_shape) = (list(args, "output_padding"), list(args, "output_shape"));
    Ok(ConvTransposeAttrs { conv: conv(args)?, output_padding, output_shape })
}

/// Returns the number of groups and the window of a transposed convolution of static extents; the window's `output` is the
/// result.
pub fn transposed_convolution(m: &Module, op: Op) -> Result<(usize, Window), Violation> {
    let args = m.args(op).ok_or("requires a declaration")?;
    conv_transpose_window(&static_extents(&args, "x")?, &static_extents(&args, "w")?, &conv_transpose(&args)?)
}

fn infer_conv_transpose(args: &OpArgs<'_>) -> infer::Types {
    let elem = infer::common_elem(args, &["x", "w", "b"])?;
    let attrs = conv_transpose(args)?;
    let (x, w) = (infer::dims(args, "x"), infer::dims(args, "w"));
    let Some(rank) = x.as_ref().or(w.as_ref()).map(Vec::len) else { return infer::one(args, None, elem) };
    let (x, w) = (x.unwrap_or_else(|| infer::unknown(rank)), w.unwrap_or_else(|| infer::unknown(rank)));
    infer::one(args, Some(conv_transpose_dims(&x, &w, &attrs)?), elem)
}

fn conv_transpose_dims(x: &[i64], w: &[i64], attrs: &ConvTransposeAttrs) -> Result<Vec<i64>, Violation> {
    if x.len() < 3 || x.len() != w.len() {
        let (x, w) = (infer::display(x), infer::display(w));
        return Err(format!(
            "a transposed convolution requires operands of the same rank, at least 3, not {x} and {w}"
        )
        .into());
    }
    let group = attrs.conv.group;
    let channels = infer::known(infer::unify(x[1], w[0])?);
    let channels = channels.or(usize::try_from(group).ok()).ok_or("attribute 'group' should be positive")?;
    let mut input = vec![infer::known(x[0]).unwrap_or(1), channels];
    input.extend(x[2..].iter().map(|&d| infer::known(d).unwrap_or(ANY_EXTENT)));
    let mut weight = vec![channels, infer::known(w[1]).unwrap_or(1)];
    let kernel: Vec<i64> =
        (0..w.len() - 2).map(|i| kernel_extent(w[i + 2], &attrs.conv.window.kernel_shape, i)).collect();
    weight.extend(kernel.iter().map(|&d| infer::known(d).unwrap_or(1)));
    let mut out = infer::extents(&conv_transpose_output_dims(&input, &weight, attrs)?);
    (out[0], out[1]) = (x[0], infer::map(w[1], |m| m.checked_mul(group)));
    if attrs.output_shape.is_empty() {
        forget(&mut out, &x[2..], &kernel);
    }
    Ok(out)
}

fn eval_conv_transpose(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let inputs = Inputs::new(args, data);
    one(kernels::conv_transpose(inputs.get("x")?, inputs.get("w")?, inputs.opt("b")?, &conv_transpose(args)?))
}

/// Matrix product with NumPy semantics: vectors, matrices, and batches of matrices, which broadcast.
///
/// ```mlir
/// %c = graph.matmul %a, %b : (tensor<2x4x8xf32>, tensor<8x3xf32>) -> tensor<2x4x3xf32>
/// ```
#[op(
    "graph.matmul",
    traits = Traits::ASSOCIATIVE,
    format = GENERIC,
    infer = infer_matmul,
    extensions = &[&DeclaredCost(matmul_cost)],
    eval = |_, data| binary(data, kernels::matmul)
)]
pub struct MatMulOp {
    /// Left operand.
    a: Operand<NUMBER_TENSOR>,
    /// Right operand.
    b: Operand<NUMBER_TENSOR>,
    /// Product.
    y: OpResult<NUMBER_TENSOR>,
}

fn infer_matmul(args: &OpArgs<'_>) -> infer::Types {
    let elem = infer::common_elem(args, &["a", "b"])?;
    infer::one(args, matmul_shape(args)?, elem)
}

/// Infers the shape of the product of `a` and `b`.
pub(super) fn matmul_shape(args: &OpArgs<'_>) -> Result<infer::Dims, Violation> {
    let (Some(a), Some(b)) = (infer::dims(args, "a"), infer::dims(args, "b")) else { return Ok(None) };
    let wrong = || {
        Violation::from(format!("a matrix product of {} by {} is not defined", infer::display(&a), infer::display(&b)))
    };
    let inner_a = *a.last().ok_or_else(wrong)?;
    let inner_b = *b.get(b.len().saturating_sub(2)).ok_or_else(wrong)?;
    infer::unify(inner_a, inner_b).map_err(|e| format!("{}: {e}", wrong()))?;
    let batch = |s: &[i64]| s[..s.len().saturating_sub(2)].to_vec();
    let mut out = infer::broadcast([Some(batch(&a)), Some(batch(&b))])?.unwrap_or_default();
    if a.len() > 1 {
        out.push(a[a.len() - 2]);
    }
    if b.len() > 1 {
        out.push(b[b.len() - 1]);
    }
    Ok(Some(out))
}

/// General matrix product `alpha * op(a) * op(b) + beta * c`, as in BLAS.
///
/// `a` and `b` may be transposed; `c` broadcasts to the product.
///
/// ```mlir
/// %y = graph.gemm %a, %b, %c {transB = 1 : i64} : (tensor<1x8xf32>, tensor<4x8xf32>, tensor<4xf32>) -> tensor<1x4xf32>
/// ```
#[op("graph.gemm", format = GENERIC, infer = infer_gemm, extensions = &[&DeclaredCost(gemm_cost)], eval = eval_gemm)]
pub struct GemmOp {
    /// Left matrix, `[M, K]`.
    a: Operand<NUMBER_TENSOR>,
    /// Right matrix, `[K, N]`.
    b: Operand<NUMBER_TENSOR>,
    /// Summand.
    c: OptOperand<NUMBER_TENSOR>,
    /// Scale of the product.
    #[default = "1.000000e+00 : f32"]
    alpha: OptAttribute<F32>,
    /// Scale of the summand.
    #[default = "1.000000e+00 : f32"]
    beta: OptAttribute<F32>,
    /// Whether `a` is transposed.
    #[name = "transA"]
    #[default = "0 : i64"]
    trans_a: OptAttribute<I64>,
    /// Whether `b` is transposed.
    #[name = "transB"]
    #[default = "0 : i64"]
    trans_b: OptAttribute<I64>,
    /// Result.
    y: OpResult<NUMBER_TENSOR>,
}

fn infer_gemm(args: &OpArgs<'_>) -> infer::Types {
    let elem = infer::common_elem(args, &["a", "b", "c"])?;
    let matrix = |name: &str, transposed: bool| match infer::dims(args, name).as_deref() {
        None => Ok([DYNAMIC; 2]),
        Some(&[r, c]) => Ok(if transposed { [c, r] } else { [r, c] }),
        Some(other) => Err(format!("requires matrices, not {}", infer::display(other))),
    };
    let ([m, k], [l, n]) = (matrix("a", args.flag("transA"))?, matrix("b", args.flag("transB"))?);
    infer::unify(k, l).map_err(|e| format!("inner {e}"))?;
    let sum = infer::broadcast([Some(vec![m, n]), infer::dims(args, "c").or(Some(vec![]))])?;
    let grown = sum.is_some_and(|s| s.len() != 2 || (m != DYNAMIC && s[0] != m) || (n != DYNAMIC && s[1] != n));
    if grown {
        return Err("requires an operand 'c' that broadcasts to the product".into());
    }
    infer::one(args, Some(vec![m, n]), elem)
}

fn eval_gemm(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let inputs = Inputs::new(args, data);
    let attrs = kernels::GemmAttrs {
        alpha: float(args, "alpha")? as f32,
        beta: float(args, "beta")? as f32,
        trans_a: args.flag("transA"),
        trans_b: args.flag("transB"),
    };
    one(kernels::gemm(inputs.get("a")?, inputs.get("b")?, inputs.opt("c")?, &attrs))
}

/// Einstein summation.
///
/// Each term of `equation` labels the axes of an operand. Labels absent from the result are summed over.
///
/// ```mlir
/// %y = graph.einsum %a, %b {equation = "bij,bjk->bik"} : (tensor<2x4x8xf32>, tensor<2x8x3xf32>) -> tensor<2x4x3xf32>
/// ```
#[op("graph.einsum", format = GENERIC, infer = infer_einsum, eval = eval_einsum)]
pub struct EinsumOp {
    /// Operands, at least one.
    inputs: Operands<TENSOR>,
    /// Equation, such as `ij,jk->ik`.
    equation: Attribute<STRING>,
    /// Contraction.
    y: OpResult<TENSOR>,
}

fn equation<'a>(args: &OpArgs<'a>) -> Result<&'a str, Violation> {
    let text = args.attr("equation").and_then(|a| args.ctx().as_str(a));
    text.ok_or_else(|| "requires the string attribute 'equation'".into())
}

fn infer_einsum(args: &OpArgs<'_>) -> infer::Types {
    let elem = infer::common_elem(args, &["inputs"])?;
    let shape = |&v| args.ctx().shape(args.module.value_type(v)).map(<[i64]>::to_vec);
    let Some(shapes) = args.operands.iter().map(shape).collect::<Option<Vec<_>>>() else {
        return infer::one(args, None, elem);
    };
    let ranks: Vec<usize> = shapes.iter().map(Vec::len).collect();
    let unify = |a, b| match (a, b) {
        (1, other) | (other, 1) => Ok(other),
        _ => infer::unify(a, b),
    };
    let dims = kernels::Equation::parse(equation(args)?, &ranks)?.output_dims(&shapes, unify)?;
    infer::one(args, Some(dims), elem)
}

fn eval_einsum(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    variadic(data, |inputs| kernels::einsum(inputs, equation(args)?))
}

/// Ops of this file.
pub(super) const OPS: &[&[&OpInfo]] =
    &[&[ConvOp::INFO, ConvTransposeOp::INFO, MatMulOp::INFO, GemmOp::INFO, EinsumOp::INFO]];
