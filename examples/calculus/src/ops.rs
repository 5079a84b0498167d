//! The ops.

use gradus::dialects::constraint::{FLOAT_LIKE, SYMBOL_NAME};
use gradus::prelude::*;

/// A variable.
///
/// ```mlir
/// %x = calculus.symbol @x : f64
/// ```
#[op("calculus.symbol", eval = formal, format = "$name attr-dict `:` type($result)")]
pub struct SymbolOp {
    /// The name of the symbol; equal names denote one symbol.
    name: Attribute<SYMBOL_NAME>,
    /// The function that is the variable.
    result: OpResult<FLOAT_LIKE>,
}

/// The derivative of a function.
///
/// ```mlir
/// %0 = calculus.derivative %f by @x : f64
/// ```
#[op(
    "calculus.derivative",
    relations = &[TypeRelation::Same(&["function", "result"])],
    eval = formal,
    format = "$function `by` $by attr-dict `:` type($result)"
)]
pub struct DerivativeOp {
    /// The function.
    function: Operand<FLOAT_LIKE>,
    /// The variable.
    by: Attribute<SYMBOL_NAME>,
    /// Its derivative.
    result: OpResult<FLOAT_LIKE>,
}

/// A function whose derivative is another, up to a constant.
///
/// ```mlir
/// %0 = calculus.integral %f by @x : f64
/// ```
#[op(
    "calculus.integral",
    relations = &[TypeRelation::Same(&["function", "result"])],
    eval = formal,
    format = "$function `by` $by attr-dict `:` type($result)"
)]
pub struct IntegralOp {
    /// The function.
    function: Operand<FLOAT_LIKE>,
    /// The variable.
    by: Attribute<SYMBOL_NAME>,
    /// Its integral.
    result: OpResult<FLOAT_LIKE>,
}

fn formal(_: &OpArgs<'_>, _: &[Datum]) -> Result<Vec<Datum>, Trap> {
    Err(Trap::unsupported("functions, which are not known from their values"))
}
