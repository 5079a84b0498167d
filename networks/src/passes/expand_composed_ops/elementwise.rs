//! Elementwise ops.

use super::ComposedOp;
use crate::graph::{LessOp, SumOp, SwishOp};
use gradus_ir::{OpDecl, Refusal, Type, Value};

/// Largest power of two that is divided by as a product with its reciprocal, which all float types have.
const MAX_RECIPROCAL: usize = 1 << 7;

/// Emits the mean of tensors: their sum, divided by their number.
pub(super) fn mean(c: &mut ComposedOp<'_, '_>) -> Result<Vec<Value>, Refusal> {
    let operands = c.operands();
    let (&first, rest) = operands.split_first().ok_or("no operand")?;
    c.in_type_of(first)?;
    if rest.is_empty() {
        return Ok(vec![first]);
    }
    let (sum, count) = (c.e.variadic(SumOp::INFO, first, rest, &[]), operands.len());
    let is_exact = count.is_power_of_two() && count <= MAX_RECIPROCAL && has_infinity(c.e.elem);
    let mean = if is_exact {
        let factor = c.e.number(1.0 / count as f64);
        c.e.mul(sum, factor)
    } else {
        let divisor = c.e.number(count as f64);
        c.e.div(sum, divisor)
    };
    Ok(vec![mean])
}

/// Emits `swish(a) * b`.
pub(super) fn swiglu(c: &mut ComposedOp<'_, '_>) -> Result<Vec<Value>, Refusal> {
    let (a, b, alpha) = (c.operand("a")?, c.operand("b")?, c.attr("alpha"));
    let gate = c.e.op(SwishOp::INFO, a, &[], &[("alpha", alpha)]);
    Ok(vec![c.e.mul(gate, b)])
}

/// Emits whether elements differ from themselves.
pub(super) fn is_nan(c: &mut ComposedOp<'_, '_>) -> Result<Vec<Value>, Refusal> {
    let x = widened_narrow(c)?;
    let is_number = c.e.equal(x, x);
    Ok(vec![c.e.not(is_number)])
}

/// Returns the operand, in f32 if it has floats of 16 bits.
fn widened_narrow(c: &mut ComposedOp<'_, '_>) -> Result<Value, Refusal> {
    let x = c.operand("x")?;
    let is_narrow = [Type::F16, Type::BF16].contains(&c.e.elem_of(x));
    Ok(if is_narrow { c.e.convert(x, Type::F32) } else { x })
}

/// Emits comparisons with the infinities that are detected.
pub(super) fn is_inf(c: &mut ComposedOp<'_, '_>) -> Result<Vec<Value>, Refusal> {
    let x = widened_narrow(c)?;
    c.in_type_of(x)?;
    if !has_infinity(c.e.elem) {
        return Err(Refusal::of(x, "an element type other than f16, bf16, f32 and f64"));
    }
    let signs = ["detect_positive", "detect_negative"].map(|name| c.flag(name));
    let infinity = c.e.number(if signs == [false, true] { f64::NEG_INFINITY } else { f64::INFINITY });
    Ok(vec![match signs {
        [true, true] => {
            let size = c.e.abs(x);
            c.e.equal(size, infinity)
        }
        // Nothing exceeds infinity.
        [false, false] => c.e.op(LessOp::INFO, infinity, &[Some(x)], &[]),
        _ => c.e.equal(x, infinity),
    }])
}

/// Whether an element type has infinities, and exponents of at least five bits.
fn has_infinity(elem: Type) -> bool {
    [Type::F16, Type::BF16, Type::F32, Type::F64].contains(&elem)
}
