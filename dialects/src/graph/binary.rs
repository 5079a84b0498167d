//! Elementwise ops of several operands, which broadcast: arithmetic, comparison, logic, selection.

use super::args::{Inputs, binary, choice, one, variadic};
use super::unary::checked;
use super::{GENERIC, infer};
use crate::constraint::{BOOL_TENSOR, I64, INT_TENSOR, STRING, TENSOR};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{OpArgs, OpDecl, OpInfo, Traits, op};
use gradus_reference_kernels as kernels;

const NONE: Traits = Traits::NONE;
const COMMUTATIVE: Traits = Traits::COMMUTATIVE;
const ASSOCIATIVE: Traits = Traits::COMMUTATIVE.and(Traits::ASSOCIATIVE);

/// Ops of two operands. A row: struct, name, operand type, result type, traits, inference, kernel, documentation, example.
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
            traits = $traits,
            format = GENERIC,
            infer = infer::$infer,
            eval = |_, data| binary(data, kernels::$kernel)
        )]
        pub struct $Op {
            /// The left operand.
            a: Operand<$ty>,
            /// The right operand.
            b: Operand<$ty>,
            /// The result.
            c: OpResult<$result>,
        }
    )*

        /// The ops of this table.
        const BINARY: &[&OpInfo] = &[$($Op::INFO),*];
    };
}

binary! {
    AddOp "graph.add" TENSOR TENSOR ASSOCIATIVE elementwise add
        "Sums; integers wrap." "%c = graph.add %a, %b : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>";
    SubOp "graph.sub" TENSOR TENSOR NONE elementwise sub
        "Differences; integers wrap." "%c = graph.sub %a, %b : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>";
    MulOp "graph.mul" TENSOR TENSOR ASSOCIATIVE elementwise mul
        "Products; integers wrap." "%c = graph.mul %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>";
    DivOp "graph.div" TENSOR TENSOR NONE elementwise div
        "Quotients; integers truncate towards zero, and have none by zero."
        "%c = graph.div %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>";
    PowOp "graph.pow" TENSOR TENSOR NONE elementwise_like_first pow
        "Powers, in the type of the base; the exponent may have another."
        "%c = graph.pow %a, %b : (tensor<4xf32>, tensor<i64>) -> tensor<4xf32>";
    PReluOp "graph.prelu" TENSOR TENSOR NONE like_first prelu
        "The left operand where it is not negative, else multiplied by the right one, which broadcasts to it."
        "%c = graph.prelu %a, %b : (tensor<1x8x4xf32>, tensor<8x1xf32>) -> tensor<1x8x4xf32>";
    EqualOp "graph.equal" TENSOR BOOL_TENSOR COMMUTATIVE comparison equal
        "Whether elements are equal." "%c = graph.equal %a, %b : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi1>";
    LessOp "graph.less" TENSOR BOOL_TENSOR NONE comparison less
        "Whether a < b." "%c = graph.less %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>";
    LessOrEqualOp "graph.less_or_equal" TENSOR BOOL_TENSOR NONE comparison less_or_equal
        "Whether a <= b." "%c = graph.less_or_equal %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>";
    GreaterOp "graph.greater" TENSOR BOOL_TENSOR NONE comparison greater
        "Whether a > b." "%c = graph.greater %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>";
    GreaterOrEqualOp "graph.greater_or_equal" TENSOR BOOL_TENSOR NONE comparison greater_or_equal
        "Whether a >= b." "%c = graph.greater_or_equal %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>";
    AndOp "graph.and" BOOL_TENSOR BOOL_TENSOR ASSOCIATIVE elementwise and
        "Whether both are true." "%c = graph.and %a, %b : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>";
    OrOp "graph.or" BOOL_TENSOR BOOL_TENSOR ASSOCIATIVE elementwise or
        "Whether one is true." "%c = graph.or %a, %b : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>";
    XorOp "graph.xor" BOOL_TENSOR BOOL_TENSOR ASSOCIATIVE elementwise xor
        "Whether exactly one is true." "%c = graph.xor %a, %b : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>";
    BitwiseAndOp "graph.bitwise_and" INT_TENSOR INT_TENSOR ASSOCIATIVE elementwise bitwise_and
        "The bits that both have." "%c = graph.bitwise_and %a, %b : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>";
    BitwiseOrOp "graph.bitwise_or" INT_TENSOR INT_TENSOR ASSOCIATIVE elementwise bitwise_or
        "The bits that one has." "%c = graph.bitwise_or %a, %b : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>";
    BitwiseXorOp "graph.bitwise_xor" INT_TENSOR INT_TENSOR ASSOCIATIVE elementwise bitwise_xor
        "The bits that exactly one has."
        "%c = graph.bitwise_xor %a, %b : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>";
}

/// Remainders: with the sign of the divisor, or with `fmod` that of the dividend.
///
/// ```mlir
/// %c = graph.mod %a, %b {fmod = 1 : i64} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
/// ```
#[op(
    "graph.mod",
    format = GENERIC,
    infer = infer::elementwise,
    eval = |args, data| binary(data, |a, b| kernels::modulo(a, b, args.flag("fmod")))
)]
pub struct ModOp {
    /// The dividend.
    a: Operand<TENSOR>,
    /// The divisor.
    b: Operand<TENSOR>,
    /// Whether the dividend decides the sign.
    #[default = "0 : i64"]
    fmod: OptAttribute<I64>,
    /// The remainders.
    c: OpResult<TENSOR>,
}

/// Integers shifted by a number of bits, to the left or to the right.
///
/// Copies of the sign bit follow to the right. Shifts by a negative number or at least as many bits as there are leave
/// nothing but those.
///
/// ```mlir
/// %c = graph.bit_shift %a, %b {direction = "LEFT"} : (tensor<4xui8>, tensor<ui8>) -> tensor<4xui8>
/// ```
#[op(
    "graph.bit_shift",
    format = GENERIC,
    infer = infer::elementwise,
    eval = |args, data| binary(data, |a, b| kernels::bit_shift(a, b, to_the_right(args)?)),
    verify = |m, op| checked(m, op, to_the_right)
)]
pub struct BitShiftOp {
    /// What is shifted.
    a: Operand<INT_TENSOR>,
    /// By how much.
    b: Operand<INT_TENSOR>,
    /// `LEFT` or `RIGHT`.
    direction: Attribute<STRING>,
    /// The shifted integers.
    c: OpResult<INT_TENSOR>,
}

fn to_the_right(args: &OpArgs<'_>) -> Result<bool, String> {
    choice(args, "direction", &[("LEFT", false), ("RIGHT", true)])
}

/// Ops of one or more operands. A row: struct, name, kernel, documentation, example.
macro_rules! variadic {
    ($($Op:ident $name:literal $kernel:ident $doc:literal $example:literal;)*) => { $(
        #[doc = $doc]
        ///
        /// ```mlir
        #[doc = $example]
        /// ```
        #[op(
            $name,
            format = GENERIC,
            infer = infer::elementwise,
            eval = |_, data| variadic(data, kernels::$kernel)
        )]
        pub struct $Op {
            /// The operands, at least one.
            inputs: Operands<TENSOR>,
            /// The result.
            y: OpResult<TENSOR>,
        }
    )*

        /// The ops of this table.
        const VARIADIC: &[&OpInfo] = &[$($Op::INFO),*];
    };
}

variadic! {
    MinOp "graph.min" min "The smallest of the operands; NaN when one is."
        "%y = graph.min %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>";
    MaxOp "graph.max" max "The largest of the operands; NaN when one is."
        "%y = graph.max %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>";
    SumOp "graph.sum" sum "The sum of the operands, from the first on."
        "%y = graph.sum %a, %b, %c : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>";
    MeanOp "graph.mean" mean "The mean of the operands, which are floats."
        "%y = graph.mean %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>";
}

/// Elements of one operand or the other, by a condition; all three broadcast.
///
/// ```mlir
/// %y = graph.where %c, %a, %b : (tensor<4xi1>, tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
/// ```
#[op("graph.where", format = GENERIC, infer = infer_where, eval = eval_where)]
pub struct WhereOp {
    /// What decides.
    condition: Operand<BOOL_TENSOR>,
    /// Where it is true.
    x: Operand<TENSOR>,
    /// Where it is false.
    y: Operand<TENSOR>,
    /// The chosen elements.
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

/// The ops of this file.
pub(super) const OPS: &[&[&OpInfo]] = &[BINARY, VARIADIC, &[ModOp::INFO, BitShiftOp::INFO, WhereOp::INFO]];
