//! Elementwise ops with several operands, which broadcast: arithmetic, comparison, logic, selection.

use super::args::{Inputs, binary, choice, one, variadic};
use super::unary::checked;
use super::{GENERIC, infer};
use gradus_dialects::constraint::{BOOL_TENSOR, I64, INT_TENSOR, NUMBER_TENSOR, STRING, TENSOR};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{OpArgs, OpDecl, OpInfo, Traits, Violation, op};
use gradus_reference_kernels as kernels;

const NONE: Traits = Traits::NONE;
const COMMUTATIVE: Traits = Traits::COMMUTATIVE;
const ASSOCIATIVE: Traits = Traits::COMMUTATIVE.and(Traits::ASSOCIATIVE);

/// Binary ops. A row: struct, name, operand type, result type, traits, inference, kernel, documentation, example.
macro_rules! binary {
    ($($Op:ident $name:literal $ty:ident $result:ident $traits:ident $infer:ident $kernel:ident
        $doc:literal $example:literal;)*) => { $(
        #[doc = $doc]
        ///
        /// ```mlir
        #[doc = $example]
        /// ```
        #[op(
            $name,
            traits = Traits::BROADCASTING.and($traits),
            format = GENERIC,
            infer = infer::$infer,
            eval = |_, data| binary(data, kernels::$kernel)
        )]
        pub struct $Op {
            /// Left operand.
            a: Operand<$ty>,
            /// Right operand.
            b: Operand<$ty>,
            /// Result.
            c: OpResult<$result>,
        }
    )*

        /// Ops of this table.
        const BINARY: &[&OpInfo] = &[$($Op::INFO),*];
    };
}

binary! {
    AddOp "graph.add" NUMBER_TENSOR NUMBER_TENSOR ASSOCIATIVE elementwise add
        "Elementwise sum; integers wrap." "%c = graph.add %a, %b : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>";
    SubOp "graph.sub" NUMBER_TENSOR NUMBER_TENSOR NONE elementwise sub
        "Elementwise difference; integers wrap." "%c = graph.sub %a, %b : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>";
    MulOp "graph.mul" NUMBER_TENSOR NUMBER_TENSOR ASSOCIATIVE elementwise mul
        "Elementwise product; integers wrap." "%c = graph.mul %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>";
    DivOp "graph.div" NUMBER_TENSOR NUMBER_TENSOR NONE elementwise div
        "Elementwise quotient. Integer division truncates towards zero; division by zero traps."
        "%c = graph.div %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>";
    PowOp "graph.pow" NUMBER_TENSOR NUMBER_TENSOR NONE elementwise_like_first pow
        "Elementwise power `a^b`, in the type of `a`; `b` may have another element type."
        "%c = graph.pow %a, %b : (tensor<4xf32>, tensor<i64>) -> tensor<4xf32>";
    PReluOp "graph.prelu" NUMBER_TENSOR NUMBER_TENSOR NONE like_first prelu
        "Parametric ReLU: `a` where a >= 0, else `a * b`. `b` broadcasts to `a`."
        "%c = graph.prelu %a, %b : (tensor<1x8x4xf32>, tensor<8x1xf32>) -> tensor<1x8x4xf32>";
    EqualOp "graph.equal" TENSOR BOOL_TENSOR COMMUTATIVE comparison equal
        "Elementwise `a == b`." "%c = graph.equal %a, %b : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi1>";
    LessOp "graph.less" NUMBER_TENSOR BOOL_TENSOR NONE comparison less
        "Elementwise `a < b`." "%c = graph.less %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>";
    LessOrEqualOp "graph.less_or_equal" NUMBER_TENSOR BOOL_TENSOR NONE comparison less_or_equal
        "Elementwise `a <= b`." "%c = graph.less_or_equal %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>";
    GreaterOp "graph.greater" NUMBER_TENSOR BOOL_TENSOR NONE comparison greater
        "Elementwise `a > b`." "%c = graph.greater %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>";
    GreaterOrEqualOp "graph.greater_or_equal" NUMBER_TENSOR BOOL_TENSOR NONE comparison greater_or_equal
        "Elementwise `a >= b`." "%c = graph.greater_or_equal %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>";
    AndOp "graph.and" BOOL_TENSOR BOOL_TENSOR ASSOCIATIVE elementwise and
        "Elementwise logical AND." "%c = graph.and %a, %b : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>";
    OrOp "graph.or" BOOL_TENSOR BOOL_TENSOR ASSOCIATIVE elementwise or
        "Elementwise logical OR." "%c = graph.or %a, %b : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>";
    XorOp "graph.xor" BOOL_TENSOR BOOL_TENSOR ASSOCIATIVE elementwise xor
        "Elementwise logical XOR." "%c = graph.xor %a, %b : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>";
    BitwiseAndOp "graph.bitwise_and" INT_TENSOR INT_TENSOR ASSOCIATIVE elementwise bitwise_and
        "Elementwise bitwise AND." "%c = graph.bitwise_and %a, %b : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>";
    BitwiseOrOp "graph.bitwise_or" INT_TENSOR INT_TENSOR ASSOCIATIVE elementwise bitwise_or
        "Elementwise bitwise OR." "%c = graph.bitwise_or %a, %b : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>";
    BitwiseXorOp "graph.bitwise_xor" INT_TENSOR INT_TENSOR ASSOCIATIVE elementwise bitwise_xor
        "Elementwise bitwise XOR."
        "%c = graph.bitwise_xor %a, %b : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>";
}

/// Elementwise remainder, with the sign of the divisor or, if `fmod`, of the dividend.
///
/// ```mlir
/// %c = graph.mod %a, %b {fmod = 1 : i64} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
/// ```
#[op(
    "graph.mod",
    traits = Traits::BROADCASTING,
    format = GENERIC,
    infer = infer::elementwise,
    eval = |args, data| binary(data, |a, b| kernels::modulo(a, b, args.flag("fmod")))
)]
pub struct ModOp {
    /// Dividend.
    a: Operand<NUMBER_TENSOR>,
    /// Divisor.
    b: Operand<NUMBER_TENSOR>,
    /// Whether the remainder has the sign of the dividend (C's `fmod`).
    #[default = "0 : i64"]
    fmod: OptAttribute<I64>,
    /// Remainder.
    c: OpResult<NUMBER_TENSOR>,
}

/// Elementwise shift by `b` bits, in the given direction.
///
/// Right shifts of signed integers are arithmetic. A negative or too large shift amount yields 0, or -1 for right
/// shifts of negative integers.
///
/// ```mlir
/// %c = graph.bit_shift %a, %b {direction = "LEFT"} : (tensor<4xui8>, tensor<ui8>) -> tensor<4xui8>
/// ```
#[op(
    "graph.bit_shift",
    traits = Traits::BROADCASTING,
    format = GENERIC,
    infer = infer::elementwise,
    eval = |args, data| binary(data, |a, b| kernels::bit_shift(a, b, to_the_right(args)?)),
    verify = |m, op| checked(m, op, to_the_right)
)]
pub struct BitShiftOp {
    /// Operand to shift.
    a: Operand<INT_TENSOR>,
    /// Shift amount in bits.
    b: Operand<INT_TENSOR>,
    /// Direction: `LEFT` or `RIGHT`.
    direction: Attribute<STRING>,
    /// Shifted operand.
    c: OpResult<INT_TENSOR>,
}

fn to_the_right(args: &OpArgs<'_>) -> Result<bool, Violation> {
    choice(args, "direction", &[("LEFT", false), ("RIGHT", true)])
}

/// Variadic ops. A row: struct, name, kernel, documentation, example.
macro_rules! variadic {
    ($($Op:ident $name:literal $kernel:ident $doc:literal $example:literal;)*) => { $(
        #[doc = $doc]
        ///
        /// ```mlir
        #[doc = $example]
        /// ```
        #[op(
            $name,
            traits = Traits::BROADCASTING,
            format = GENERIC,
            infer = infer::elementwise,
            eval = |_, data| variadic(data, kernels::$kernel)
        )]
        pub struct $Op {
            /// Operands, at least one.
            inputs: Operands<NUMBER_TENSOR>,
            /// Result.
            y: OpResult<NUMBER_TENSOR>,
        }
    )*

        /// Ops of this table.
        const VARIADIC: &[&OpInfo] = &[$($Op::INFO),*];
    };
}

variadic! {
    MinOp "graph.min" min "Elementwise minimum of all operands; NaN if any operand is NaN."
        "%y = graph.min %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>";
    MaxOp "graph.max" max "Elementwise maximum of all operands; NaN if any operand is NaN."
        "%y = graph.max %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>";
    SumOp "graph.sum" sum "Elementwise sum of all operands, from left to right."
        "%y = graph.sum %a, %b, %c : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>";
    MeanOp "graph.mean" mean "Elementwise mean of all operands, which are floats."
        "%y = graph.mean %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>";
}

/// Elementwise selection: `x` where `condition` holds, else `y`. All operands broadcast.
///
/// ```mlir
/// %y = graph.where %c, %a, %b : (tensor<4xi1>, tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
/// ```
#[op("graph.where", traits = Traits::BROADCASTING, format = GENERIC, infer = infer_where, eval = eval_where)]
pub struct WhereOp {
    /// Condition.
    condition: Operand<BOOL_TENSOR>,
    /// Elements where the condition holds.
    x: Operand<TENSOR>,
    /// Elements elsewhere.
    y: Operand<TENSOR>,
    /// Selected elements.
    output: OpResult<TENSOR>,
}

fn infer_where(args: &OpArgs<'_>) -> infer::Types {
    let elem = infer::common_elem(args, &["x", "y"])?;
    let shapes = ["condition", "x", "y"].map(|name| infer::dims(args, name));
    infer::one(args, infer::broadcast(shapes)?, elem)
}

fn eval_where(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let inputs = Inputs::new(args, data);
    one(kernels::where_select(inputs.get("condition")?, inputs.get("x")?, inputs.get("y")?))
}

/// Ops of this file.
pub(super) const OPS: &[&[&OpInfo]] = &[BINARY, VARIADIC, &[ModOp::INFO, BitShiftOp::INFO, WhereOp::INFO]];
