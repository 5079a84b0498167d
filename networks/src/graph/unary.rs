//! Elementwise ops of one operand: arithmetic, rounding, activation functions, tests and conversion.

use super::args::{Inputs, choice, float, int, one, unary};
use super::{ELEM_TYPE, GENERIC, infer};
use gradus_dialects::constraint::{BOOL_TENSOR, F32, FLOAT_TENSOR, I64, INT_TENSOR, NUMBER_TENSOR, STRING, TENSOR};
use gradus_dialects::op_cost::{DeclaredCost, OpCost, elements};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{Attr, DType, Folded, Module, Op, OpArgs, OpDecl, OpInfo, Traits, Type, Value, Violation, op};
use gradus_reference_kernels::{self as kernels, RoundMode};

const SAME: Traits = Traits::SAME_TYPE.and(Traits::ELEMENTWISE);
const IDEMPOTENT: Traits = SAME.and(Traits::IDEMPOTENT);
const INVOLUTION: Traits = SAME.and(Traits::INVOLUTION);

/// Ops whose result has the operand's type. A row: struct, name, operand type, traits, kernel with its float attributes
/// and their defaults, documentation, example.
macro_rules! unary {
    ($($Op:ident $name:literal $ty:ident $traits:ident
        $kernel:ident($($attr:ident $default:literal),*) $doc:literal $example:literal;)*) => { $(
        #[doc = $doc]
        ///
        /// ```mlir
        #[doc = $example]
        /// ```
        #[op(
            $name,
            traits = $traits,
            format = "$x attr-dict `:` type($y)",
            infer = infer::same,
            eval = |_args, data| unary(data, |x| kernels::$kernel(x $(, float(_args, stringify!($attr))?)*))
        )]
        pub struct $Op {
            /// Operand.
            x: Operand<$ty>,
            $(
                /// Parameter of the function.
                #[default = $default]
                $attr: OptAttribute<F32>,
            )*
            /// Result.
            y: OpResult<$ty>,
        }
    )*

        /// Ops of this table.
        const SIMPLE: &[&OpInfo] = &[$($Op::INFO),*];
    };
}

unary! {
    ReluOp "graph.relu" NUMBER_TENSOR IDEMPOTENT relu()
        "Rectified linear unit: `max(0, x)`." "%y = graph.relu %x : tensor<1x8xf32>";
    AbsOp "graph.abs" NUMBER_TENSOR IDEMPOTENT abs()
        "Absolute value; the minimum signed integer is unchanged." "%y = graph.abs %x : tensor<4xi32>";
    NegOp "graph.neg" NUMBER_TENSOR INVOLUTION neg()
        "Negation; integers wrap." "%y = graph.neg %x : tensor<4xf32>";
    SignOp "graph.sign" NUMBER_TENSOR IDEMPOTENT sign()
        "Sign: -1, 0 or 1; NaN for NaN." "%y = graph.sign %x : tensor<4xf32>";
    NotOp "graph.not" BOOL_TENSOR INVOLUTION not()
        "Logical NOT." "%y = graph.not %x : tensor<4xi1>";
    BitwiseNotOp "graph.bitwise_not" INT_TENSOR INVOLUTION bitwise_not()
        "Bitwise NOT." "%y = graph.bitwise_not %x : tensor<4xui8>";
    FloorOp "graph.floor" FLOAT_TENSOR IDEMPOTENT floor()
        "Floor: rounds towards minus infinity." "%y = graph.floor %x : tensor<4xf32>";
    CeilOp "graph.ceil" FLOAT_TENSOR IDEMPOTENT ceil()
        "Ceiling: rounds towards infinity." "%y = graph.ceil %x : tensor<4xf32>";
    RoundOp "graph.round" FLOAT_TENSOR IDEMPOTENT round()
        "Rounds to the nearest integer, half to even." "%y = graph.round %x : tensor<4xf32>";
    SqrtOp "graph.sqrt" FLOAT_TENSOR SAME sqrt()
        "Square root; NaN for negative elements." "%y = graph.sqrt %x : tensor<4xf32>";
    ReciprocalOp "graph.reciprocal" FLOAT_TENSOR SAME reciprocal()
        "Reciprocal: `1 / x`." "%y = graph.reciprocal %x : tensor<4xf32>";
    ExpOp "graph.exp" FLOAT_TENSOR SAME exp()
        "Exponential: `e^x`." "%y = graph.exp %x : tensor<4xf32>";
    LogOp "graph.log" FLOAT_TENSOR SAME log()
        "Natural logarithm." "%y = graph.log %x : tensor<4xf32>";
    ErfOp "graph.erf" FLOAT_TENSOR SAME erf()
        "Error function." "%y = graph.erf %x : tensor<4xf32>";
    AcosOp "graph.acos" FLOAT_TENSOR SAME acos()
        "Arccosine; NaN outside [-1, 1]." "%y = graph.acos %x : tensor<4xf32>";
    AcoshOp "graph.acosh" FLOAT_TENSOR SAME acosh()
        "Inverse hyperbolic cosine; NaN below 1." "%y = graph.acosh %x : tensor<4xf32>";
    AsinOp "graph.asin" FLOAT_TENSOR SAME asin()
        "Arcsine; NaN outside [-1, 1]." "%y = graph.asin %x : tensor<4xf32>";
    AsinhOp "graph.asinh" FLOAT_TENSOR SAME asinh()
        "Inverse hyperbolic sine." "%y = graph.asinh %x : tensor<4xf32>";
    AtanOp "graph.atan" FLOAT_TENSOR SAME atan()
        "Arctangent." "%y = graph.atan %x : tensor<4xf32>";
    AtanhOp "graph.atanh" FLOAT_TENSOR SAME atanh()
        "Inverse hyperbolic tangent; NaN outside [-1, 1]." "%y = graph.atanh %x : tensor<4xf32>";
    CoshOp "graph.cosh" FLOAT_TENSOR SAME cosh()
        "Hyperbolic cosine." "%y = graph.cosh %x : tensor<4xf32>";
    SinhOp "graph.sinh" FLOAT_TENSOR SAME sinh()
        "Hyperbolic sine." "%y = graph.sinh %x : tensor<4xf32>";
    TanOp "graph.tan" FLOAT_TENSOR SAME tan()
        "Tangent." "%y = graph.tan %x : tensor<4xf32>";
    SinOp "graph.sin" FLOAT_TENSOR SAME sin()
        "Sine." "%y = graph.sin %x : tensor<4xf32>";
    CosOp "graph.cos" FLOAT_TENSOR SAME cos()
        "Cosine." "%y = graph.cos %x : tensor<4xf32>";
    TanhOp "graph.tanh" FLOAT_TENSOR SAME tanh()
        "Hyperbolic tangent." "%y = graph.tanh %x : tensor<4xf32>";
    SigmoidOp "graph.sigmoid" FLOAT_TENSOR SAME sigmoid()
        "Logistic sigmoid: 1 / (1 + exp(-x))." "%y = graph.sigmoid %x : tensor<4xf32>";
    SoftplusOp "graph.softplus" FLOAT_TENSOR SAME softplus()
        "Softplus: log(1 + exp(x)), without overflow." "%y = graph.softplus %x : tensor<4xf32>";
    SoftsignOp "graph.softsign" FLOAT_TENSOR SAME softsign()
        "Softsign: x / (1 + |x|)." "%y = graph.softsign %x : tensor<4xf32>";
    MishOp "graph.mish" FLOAT_TENSOR SAME mish()
        "Mish: x * tanh(softplus(x))." "%y = graph.mish %x : tensor<4xf32>";
    HardSwishOp "graph.hard_swish" FLOAT_TENSOR SAME hard_swish()
        "Hard swish: x * max(0, min(1, x / 6 + 0.5))." "%y = graph.hard_swish %x : tensor<4xf32>";
    SwishOp "graph.swish" FLOAT_TENSOR SAME swish(alpha "1.000000e+00 : f32")
        "Swish: x * sigmoid(alpha * x)." "%y = graph.swish %x : tensor<4xf32>";
    LeakyReluOp "graph.leaky_relu" FLOAT_TENSOR SAME leaky_relu(alpha "0.00999999977 : f32")
        "Leaky ReLU: x if x >= 0, else alpha * x."
        "%y = graph.leaky_relu %x {alpha = 2.000000e-01 : f32} : tensor<4xf32>";
    EluOp "graph.elu" FLOAT_TENSOR SAME elu(alpha "1.000000e+00 : f32")
        "Exponential linear unit: x if x >= 0, else alpha * (exp(x) - 1)." "%y = graph.elu %x : tensor<4xf32>";
    SeluOp "graph.selu" FLOAT_TENSOR SAME selu(alpha "1.67326319 : f32", gamma "1.05070102 : f32")
        "Scaled ELU: gamma * x if x > 0, else gamma * alpha * (exp(x) - 1)." "%y = graph.selu %x : tensor<4xf32>";
    CeluOp "graph.celu" FLOAT_TENSOR SAME celu(alpha "1.000000e+00 : f32")
        "Continuously differentiable ELU: max(0, x) + min(0, alpha * (exp(x / alpha) - 1))." "%y = graph.celu %x : tensor<4xf32>";
    HardSigmoidOp "graph.hard_sigmoid" FLOAT_TENSOR SAME
        hard_sigmoid(alpha "2.000000e-01 : f32", beta "5.000000e-01 : f32")
        "Hard sigmoid: max(0, min(1, alpha * x + beta))." "%y = graph.hard_sigmoid %x : tensor<4xf32>";
    ShrinkOp "graph.shrink" NUMBER_TENSOR SAME shrink(lambd "5.000000e-01 : f32", bias "0.000000e+00 : f32")
        "Shrinkage: x + bias if x < -lambd, x - bias if x > lambd, else 0."
        "%y = graph.shrink %x {bias = 1.000000e+00 : f32} : tensor<4xf32>";
    ThresholdedReluOp "graph.thresholded_relu" FLOAT_TENSOR SAME thresholded_relu(alpha "1.000000e+00 : f32")
        "Thresholded ReLU: x if x > alpha, else 0." "%y = graph.thresholded_relu %x : tensor<4xf32>";
}

/// Gaussian error linear unit: `x / 2 * (1 + erf(x / sqrt(2)))`.
///
/// `approximate = "tanh"` selects the tanh approximation.
///
/// ```mlir
/// %y = graph.gelu %x {approximate = "tanh"} : tensor<4xf32>
/// ```
#[op(
    "graph.gelu",
    traits = SAME,
    format = "$x attr-dict `:` type($y)",
    infer = infer::same,
    eval = gelu,
    verify = |m, op| checked(m, op, gelu_kernel)
)]
pub struct GeluOp {
    /// Operand.
    x: Operand<FLOAT_TENSOR>,
    /// Approximation: `none` or `tanh`.
    #[default = "\"none\""]
    approximate: OptAttribute<STRING>,
    /// Result.
    y: OpResult<FLOAT_TENSOR>,
}

type UnaryKernel = fn(&gradus_ir::Tensor) -> kernels::KernelResult;

fn gelu_kernel(args: &OpArgs<'_>) -> Result<UnaryKernel, Violation> {
    choice(args, "approximate", &[("none", kernels::gelu as UnaryKernel), ("tanh", kernels::gelu_tanh)])
}

fn gelu(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    unary(data, gelu_kernel(args)?)
}

/// Verifies that an op's attributes are readable.
pub(super) fn checked<T>(
    m: &Module,
    op: Op,
    read: impl Fn(&OpArgs<'_>) -> Result<T, Violation>,
) -> Result<(), Violation> {
    m.with_args(op, |args| read(args).map(drop)).unwrap_or(Ok(()))
}

/// Whether each element is NaN.
///
/// ```mlir
/// %y = graph.is_nan %x : (tensor<4xf32>) -> tensor<4xi1>
/// ```
#[op(
    "graph.is_nan",
    traits = Traits::ELEMENTWISE,
    format = GENERIC,
    infer = infer::test,
    eval = |_, data| unary(data, kernels::is_nan)
)]
pub struct IsNaNOp {
    /// Operand.
    x: Operand<FLOAT_TENSOR>,
    /// Truth values.
    y: OpResult<BOOL_TENSOR>,
}

/// Whether each element is infinite, with the signs selected by attributes.
///
/// ```mlir
/// %y = graph.is_inf %x {detect_negative = 0 : i64} : (tensor<4xf32>) -> tensor<4xi1>
/// ```
#[op(
    "graph.is_inf",
    traits = Traits::ELEMENTWISE,
    format = GENERIC,
    infer = infer::test,
    eval = |args, data| unary(data, |x| kernels::is_inf(x, args.flag("detect_positive"), args.flag("detect_negative")))
)]
pub struct IsInfOp {
    /// Operand.
    x: Operand<FLOAT_TENSOR>,
    /// Whether minus infinity is detected.
    #[default = "1 : i64"]
    detect_negative: OptAttribute<I64>,
    /// Whether plus infinity is detected.
    #[default = "1 : i64"]
    detect_positive: OptAttribute<I64>,
    /// Truth values.
    y: OpResult<BOOL_TENSOR>,
}

/// Clamps elements to a range: `min(max(x, min), max)`.
///
/// Either bound may be absent. If `min > max`, all elements become `max`.
///
/// ```mlir
/// %y = graph.clip %x min %low max %high : (tensor<4xf32>, tensor<f32>, tensor<f32>) -> tensor<4xf32>
/// ```
#[op(
    "graph.clip",
    traits = Traits::OPERAND_SEGMENTS,
    format = "$x (`min` $min^)? (`max` $max^)? attr-dict `:` functional-type(operands, results)",
    infer = infer::same_and_common,
    eval = clip
)]
pub struct ClipOp {
    /// Operand.
    x: Operand<TENSOR>,
    /// Lower bound, a scalar.
    min: OptOperand<TENSOR>,
    /// Upper bound, a scalar.
    max: OptOperand<TENSOR>,
    /// Clamped operand.
    y: OpResult<TENSOR>,
}

impl ClipOp {
    /// Returns the constant lower and upper bounds, each `None` without one. `None` if one is not a constant scalar.
    pub fn constant_bounds(self, m: &Module) -> Option<[Option<f64>; 2]> {
        let constant = |value: Value| m.ctx.dense_tensor(m.constant(value)?).filter(|tensor| tensor.len() == 1);
        let [low, high] = [self.min(m), self.max(m)].map(|bound| match bound {
            Some(value) => constant(value).map(|tensor| Some(tensor.to_f64()[0])),
            None => Some(None),
        });
        Some([low?, high?])
    }
}

fn clip(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let inputs = Inputs::new(args, data);
    one(kernels::clip(inputs.get("x")?, inputs.opt("min")?, inputs.opt("max")?))
}

/// Converts elements to another type.
///
/// Float to integer truncates towards zero and saturates; integer to integer keeps the low bits; every nonzero number
/// converts to true.
///
/// ```mlir
/// %y = graph.cast %x to f16 : (tensor<4xf32>) -> tensor<4xf16>
/// ```
#[op(
    "graph.cast",
    traits = Traits::ELEMENTWISE,
    format = "$x `to` $to attr-dict `:` functional-type(operands, results)",
    infer = infer_cast,
    fold = fold_cast,
    extensions = &[&DeclaredCost(cast_cost)],
    eval = cast,
    verify = |m, op| checked(m, op, round_mode)
)]
pub struct CastOp {
    /// Operand.
    x: Operand<TENSOR>,
    /// Element type of the result.
    to: Attribute<ELEM_TYPE>,
    /// Whether 8-bit floats saturate rather than overflow.
    #[default = "1 : i64"]
    saturate: OptAttribute<I64>,
    /// Rounding mode for `f8E8M0FNU`: `up`, `down` or `nearest`.
    #[default = "\"up\""]
    round_mode: OptAttribute<STRING>,
    /// Converted operand.
    y: OpResult<TENSOR>,
}

fn infer_cast(args: &OpArgs<'_>) -> infer::Types {
    let to = args.attr("to").and_then(|a| args.ctx().as_type(a)).ok_or("requires the type attribute 'to'")?;
    Ok(vec![args.ctx().with_element(infer::ty(args, "x")?, to)])
}

fn fold_cast(args: &OpArgs<'_>, _: &[Option<Attr>]) -> Option<Folded> {
    super::same_as(args, args.opt_operand("x")?)
}

/// Returns the cost of a conversion: truncation of integers copies their low bytes.
fn cast_cost(args: &OpArgs<'_>) -> OpCost {
    let ctx = args.ctx();
    let width = |ty: &Type| ctx.int_width(ctx.element_type(*ty));
    let from = args.opt_operand("x").and_then(|x| width(&args.module.value_type(x)));
    match from.zip(args.result_types.first().and_then(width)) {
        Some((from, to)) if (8..=from).contains(&to) => OpCost::moved(args),
        _ => OpCost::Map(args.result_types.first().map_or(1, |&ty| elements(args, ty))),
    }
}

fn cast(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let to = args.attr("to").and_then(|a| args.ctx().as_type(a)).and_then(|t| args.ctx().dtype(t));
    let to = to.ok_or_else(|| Trap::unsupported("a cast to this type"))?;
    let (saturate, round) = (args.flag("saturate"), round_mode(args)?);
    unary(data, |x| kernels::cast_with(x, to, saturate, round))
}

fn round_mode(args: &OpArgs<'_>) -> Result<RoundMode, Violation> {
    let modes = [("up", RoundMode::Up), ("down", RoundMode::Down), ("nearest", RoundMode::Nearest)];
    choice(args, "round_mode", &modes)
}

/// Reinterprets the bits of every element as a type of the same width. The bits of a NaN are unspecified, so the element is poison.
///
/// ```mlir
/// %y = graph.bit_cast %x to i32 : (tensor<4xf32>) -> tensor<4xi32>
/// ```
#[op(
    "graph.bit_cast",
    traits = Traits::ELEMENTWISE,
    format = "$x `to` $to attr-dict `:` functional-type(operands, results)",
    infer = infer_bit_cast,
    fold = fold_cast,
    eval = bit_cast
)]
pub struct BitCastOp {
    /// Operand.
    x: Operand<TENSOR>,
    /// Element type of the result.
    to: Attribute<ELEM_TYPE>,
    /// Reinterpreted operand.
    y: OpResult<TENSOR>,
}

fn infer_bit_cast(args: &OpArgs<'_>) -> infer::Types {
    let types = infer_cast(args)?;
    let bits = |t: Type| args.ctx().dtype(args.ctx().element_type(t)).map(DType::bits);
    if bits(types[0]) != bits(infer::ty(args, "x")?) {
        return Err("requires element types of the same width".into());
    }
    Ok(types)
}

fn bit_cast(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let to = args.attr("to").and_then(|a| args.ctx().as_type(a)).and_then(|t| args.ctx().dtype(t));
    let to = to.ok_or_else(|| Trap::unsupported("a cast to this type"))?;
    let x = data[0].tensor()?;
    kernels::bit_cast(x, to)?;
    // A NaN has unspecified bits.
    Ok(vec![Datum::bitcast(x, to, x.shape().to_vec())?])
}

/// Converts elements to the element type of another tensor.
///
/// ```mlir
/// %y = graph.cast_like %x, %like : (tensor<4xf32>, tensor<1xi8>) -> tensor<4xi8>
/// ```
#[op(
    "graph.cast_like",
    format = GENERIC,
    infer = infer_cast_like,
    fold = fold_cast,
    eval = cast_like,
    verify = |m, op| checked(m, op, round_mode)
)]
pub struct CastLikeOp {
    /// Operand.
    x: Operand<TENSOR>,
    /// Tensor of the target element type; its elements are ignored.
    target_type: Operand<TENSOR>,
    /// Whether 8-bit floats saturate rather than overflow.
    #[default = "1 : i64"]
    saturate: OptAttribute<I64>,
    /// Rounding mode for `f8E8M0FNU`: `up`, `down` or `nearest`.
    #[default = "\"up\""]
    round_mode: OptAttribute<STRING>,
    /// Converted operand.
    y: OpResult<TENSOR>,
}

fn infer_cast_like(args: &OpArgs<'_>) -> infer::Types {
    let elem = infer::elem(args, "target_type")?;
    Ok(vec![args.ctx().with_element(infer::ty(args, "x")?, elem)])
}

fn cast_like(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let inputs = Inputs::new(args, data);
    let (x, to) = (inputs.get("x")?, inputs.get("target_type")?.dtype());
    one(kernels::cast_with(x, to, args.flag("saturate"), round_mode(args)?))
}

/// Softmax along an axis: `exp(x) / sum(exp(x))`.
///
/// With `legacy_flatten` (ONNX before opset 13), the axes from `axis` on are flattened.
///
/// ```mlir
/// %y = graph.softmax %x {axis = 1 : i64} : tensor<1x8xf32>
/// ```
#[op(
    "graph.softmax",
    traits = Traits::SAME_TYPE,
    format = "$x attr-dict `:` type($y)",
    infer = infer_along_axis,
    eval = |args, data| unary(data, |x| kernels::softmax(x, int(args, "axis")?, args.flag("legacy_flatten")))
)]
pub struct SoftmaxOp {
    /// Operand.
    x: Operand<FLOAT_TENSOR>,
    /// Normalized axis.
    #[default = "-1 : i64"]
    axis: OptAttribute<I64>,
    /// Whether the axes from `axis` on are flattened.
    #[default = "0 : i64"]
    legacy_flatten: OptAttribute<I64>,
    /// Probabilities.
    y: OpResult<FLOAT_TENSOR>,
}

/// Logarithm of the softmax along an axis.
///
/// ```mlir
/// %y = graph.log_softmax %x {axis = 1 : i64} : tensor<1x8xf32>
/// ```
#[op(
    "graph.log_softmax",
    traits = Traits::SAME_TYPE,
    format = "$x attr-dict `:` type($y)",
    infer = infer_along_axis,
    eval = |args, data| unary(data, |x| kernels::log_softmax(x, int(args, "axis")?, args.flag("legacy_flatten")))
)]
pub struct LogSoftmaxOp {
    /// Operand.
    x: Operand<FLOAT_TENSOR>,
    /// Normalized axis.
    #[default = "-1 : i64"]
    axis: OptAttribute<I64>,
    /// Whether the axes from `axis` on are flattened.
    #[default = "0 : i64"]
    legacy_flatten: OptAttribute<I64>,
    /// Log-probabilities.
    y: OpResult<FLOAT_TENSOR>,
}

/// Infers the operand's type; checks the attribute `axis`.
pub(super) fn infer_along_axis(args: &OpArgs<'_>) -> infer::Types {
    if let Some(dims) = infer::dims(args, "x") {
        kernels::shape::normalize_axis(int(args, "axis")?, dims.len())?;
    }
    infer::same(args)
}

/// Ops of this file.
pub(super) const OPS: &[&[&OpInfo]] = &[
    SIMPLE,
    &[
        GeluOp::INFO,
        IsNaNOp::INFO,
        IsInfOp::INFO,
        ClipOp::INFO,
        CastOp::INFO,
        BitCastOp::INFO,
        CastLikeOp::INFO,
        SoftmaxOp::INFO,
        LogSoftmaxOp::INFO,
    ],
];
