//! Pools of norms.

use super::{ComposedOp, known_product};
use crate::graph::{AveragePoolOp, ReduceL1Op, ReduceL2Op, ReduceSumOp, pool_window};
use gradus_ir::{Attr, OpDecl, Refusal, Type, Value};

/// Emits the mean of powers in each window, of which padding is part as zeros, times the size of the window, and the root of that.
pub(super) fn windows(c: &mut ComposedOp<'_, '_>) -> Result<Vec<Value>, Refusal> {
    let (x, p, size) = (c.operand("x")?, c.int("p")?, known_product(&c.ints("kernel_shape"))?);
    let one = c.e.module().ctx.int_attr(Type::I64, 1);
    let [pads, auto_pad] = pads(c)?;
    let [dilations, kernel, strides] = ["dilations", "kernel_shape", "strides"].map(|name| c.attr(name));
    let attrs = [
        ("auto_pad", auto_pad),
        ("count_include_pad", Some(one)),
        ("dilations", dilations),
        ("kernel_shape", kernel),
        ("pads", pads),
        ("strides", strides),
    ];
    let powers = powers(c, x, p)?;
    let mean = c.e.op(AveragePoolOp::INFO, powers, &[], &attrs);
    let size = c.e.number(size as f64);
    let sum = c.e.mul(mean, size);
    Ok(vec![root(c, sum, p)])
}

/// Returns the attributes `pads` and `auto_pad` of windows of which none exceeds the padded image, as one may if `ceil_mode`.
fn pads(c: &ComposedOp<'_, '_>) -> Result<[Option<Attr>; 2], Refusal> {
    if !c.flag("ceil_mode") {
        return Ok([c.attr("pads"), c.attr("auto_pad")]);
    }
    let window = pool_window(c.e.module(), c.op).map_err(|_| "windows at the end of an image of unknown extents")?;
    let mut pads = window.pads_begin.clone();
    for axis in 0..window.input.len() {
        let last = window.output[axis].checked_sub(1).ok_or("images without windows")? * window.strides[axis];
        let end = last + (window.kernel[axis] - 1) * window.dilations[axis] + 1;
        let whole = window.input[axis] + window.pads_begin[axis];
        if end + window.strides[axis] <= whole {
            return Err("windows that do not reach the end of the image".into());
        }
        pads.push(end.saturating_sub(whole));
    }
    let pads: Vec<i64> = pads.iter().map(|&n| n as i64).collect();
    Ok([Some(c.e.module().ctx.i64_array_attr(&pads)), None])
}

/// Emits the norm of each image.
pub(super) fn images(c: &mut ComposedOp<'_, '_>) -> Result<Vec<Value>, Refusal> {
    let (x, p) = (c.operand("x")?, c.int("p")?);
    let axes: Vec<usize> = (2..c.shape(x)?.len()).collect();
    let norm = match p {
        1 | 2 if axes.is_empty() => c.e.abs(x),
        1 | 2 => {
            let [x] = c.widened([x])?;
            c.e.reduce(if p == 1 { ReduceL1Op::INFO } else { ReduceL2Op::INFO }, x, &axes)
        }
        _ => {
            let powers = powers(c, x, p)?;
            let sum = c.e.reduce(ReduceSumOp::INFO, powers, &axes);
            root(c, sum, p)
        }
    };
    Ok(vec![norm])
}

/// Emits `|x|^p`, in f64 unless p is 1: powers of f32 overflow where their root does not.
fn powers(c: &mut ComposedOp<'_, '_>, x: Value, p: i64) -> Result<Value, Refusal> {
    let [x] = c.widened([x])?;
    if p == 1 {
        return Ok(c.e.abs(x));
    }
    c.e.elem = Type::F64;
    let x = c.e.convert(x, Type::F64);
    if p == 2 {
        return Ok(c.e.mul(x, x));
    }
    let (size, exponent) = (c.e.abs(x), c.e.number(p as f64));
    Ok(c.e.pow(size, exponent))
}

/// Emits `x^(1 / p)`.
fn root(c: &mut ComposedOp<'_, '_>, x: Value, p: i64) -> Value {
    match p {
        1 => x,
        2 => c.e.sqrt(x),
        _ => {
            let exponent = c.e.number(1.0 / p as f64);
            c.e.pow(x, exponent)
        }
    }
}
