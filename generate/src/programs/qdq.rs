//! Quantized networks in QDQ form: ops on floats between `graph.dequantize_linear` and `graph.quantize_linear`.

use super::network::{Network, Tensor, divisors};
use super::networks::{clip, conv_window, pool};
use gradus_ir::random::Random;

/// Scales. Products of powers of two are exact, others round.
const SCALES: [&str; 6] = ["0.5", "0.25", "0.03125", "1.0", "0.0123", "0.7"];
/// Tiny, subnormal and huge scales.
const EXTREME: [&str; 6] = ["3.3e-6", "1.0e-10", "1.2e-38", "2.0e-42", "1.0e6", "1.0e30"];

/// Functions of one tensor.
const FUNCTIONS: [&str; 8] = ["sigmoid", "tanh", "relu", "neg", "abs", "hard_swish", "exp", "sqrt"];

/// Draws a chain of quantized ops on images or matrices.
pub(super) fn draw(random: &mut Random) -> String {
    let mut n = Network::new(random);
    let elem = n.random.pick(&["ui8", "i8"]);
    let shape: Vec<i64> = match n.random.percent(35) {
        true => vec![n.extent(4), n.extent(8)],
        false => vec![n.extent(2), n.random.pick(&[1, 2, 3, 4, 8]), n.extent(5), n.extent(5)],
    };
    let x = n.parameter(&shape, elem);
    n.values.push(x);
    for _ in 0..1 + n.random.below(5) {
        // Mostly the last one; earlier ones get several readers.
        let back = if n.random.percent(75) { 0 } else { n.random.below(n.values.len() as u64) as usize };
        let bytes = n.values[n.values.len() - 1 - back].clone();
        let mut y = dequantized(&mut n, &bytes, None);
        for _ in 0..n.random.pick(&[1, 1, 1, 2, 3]) {
            y = step(&mut n, &y).unwrap_or(y);
        }
        let y = clamped(&mut n, y);
        let z = quantized(&mut n, &y, elem);
        n.values.push(z);
    }
    n.finish()
}

/// Adds an op; `None` if the drawn one does not fit.
fn step(n: &mut Network<'_>, x: &Tensor) -> Option<Tensor> {
    let is_image = x.shape.len() == 4;
    match n.random.below(10) {
        0..3 if is_image => convolution(n, x),
        0 | 1 => Some(gemm(n, x)),
        2 => Some(matmul(n, x)),
        3 | 4 => Some(binary(n, x)),
        5 => Some(concat(n, x)),
        6 if is_image => pool(n, x),
        7 if is_image => {
            let shape = [x.shape[0], x.shape[1], 1, 1];
            Some(n.generic("graph.global_average_pool", &[x], "", &shape, "f32"))
        }
        8 if n.random.percent(50) => {
            let order = n.permutation((0..x.shape.len()).collect());
            Some(n.transposed(x, &order))
        }
        8 => Some(regrouped(n, x)),
        _ => {
            let name = n.random.pick(&FUNCTIONS);
            Some(n.generic(&format!("graph.{name}"), &[x], "", &x.shape, "f32"))
        }
    }
}

/// Splits an axis or joins two.
fn regrouped(n: &mut Network<'_>, x: &Tensor) -> Tensor {
    let mut shape = x.shape.clone();
    let axis = n.random.below(shape.len() as u64) as usize;
    if axis + 1 < shape.len() && n.random.percent(50) {
        shape[axis] *= shape.remove(axis + 1);
    } else {
        let outer = n.random.pick(&divisors(shape[axis]));
        shape[axis] /= outer;
        shape.insert(axis, outer);
    }
    n.reshaped(x, &shape)
}

/// Creates a scale for all elements, or for each of `count`.
fn scale(n: &mut Network<'_>, count: Option<i64>) -> Tensor {
    let from = if n.random.percent(6) { &EXTREME } else { &SCALES };
    let (shape, first): (Vec<i64>, _) = (count.into_iter().collect(), n.random.pick(from));
    let differ = n.random.percent(70);
    let all = 0..shape.iter().product::<i64>();
    let elements: Vec<String> = all.map(|_| if differ { n.random.pick(from) } else { first }.to_owned()).collect();
    n.listed(&shape, "f32", &elements)
}

/// Creates zero points: any, or all at an end of the type.
fn zero_point(n: &mut Network<'_>, shape: &[i64], elem: &'static str) -> Tensor {
    if n.random.percent(75) {
        return n.weights(shape, elem, 97);
    }
    let end = match elem {
        "ui8" => n.random.pick(&["0", "255"]),
        "i8" => n.random.pick(&["-128", "127"]),
        _ => "0",
    };
    n.constant(shape, elem, end)
}

/// Dequantizes a tensor, by a scale and a zero point for all elements or for each of an axis.
pub(super) fn dequantized(n: &mut Network<'_>, x: &Tensor, axis: Option<usize>) -> Tensor {
    let count = axis.map(|axis| x.shape[axis]);
    let shape: Vec<i64> = count.into_iter().collect();
    let (scale, zero) = (scale(n, count), zero_point(n, &shape, x.elem));
    let attrs = axis.map_or(String::new(), |axis| format!("axis = {axis} : i64"));
    n.generic("graph.dequantize_linear", &[x, &scale, &zero], &attrs, &x.shape, "f32")
}

fn quantized(n: &mut Network<'_>, y: &Tensor, elem: &'static str) -> Tensor {
    let axis = n.random.percent(8).then(|| n.random.below(y.shape.len() as u64) as usize);
    quantized_along(n, y, elem, axis)
}

/// Quantizes a tensor, by a scale and a zero point for all elements or for each of an axis.
pub(super) fn quantized_along(n: &mut Network<'_>, y: &Tensor, elem: &'static str, axis: Option<usize>) -> Tensor {
    let count = axis.map(|axis| y.shape[axis]);
    let shape: Vec<i64> = count.into_iter().collect();
    let (scale, zero) = (scale(n, count), zero_point(n, &shape, elem));
    let attrs = axis.map_or(String::new(), |axis| format!("axis = {axis} : i64"));
    n.generic("graph.quantize_linear", &[y, &scale, &zero], &attrs, &y.shape, elem)
}

/// Creates dequantized weights, by one scale or one for each index of an axis.
fn weights(n: &mut Network<'_>, shape: &[i64], axis: usize) -> Tensor {
    let elem = n.random.pick(&["i8", "i8", "ui8"]);
    let w = n.weights(shape, elem, 95);
    let axis = n.random.percent(50).then_some(axis);
    dequantized(n, &w, axis)
}

/// Creates a bias, in f32 or dequantized from i32.
fn bias(n: &mut Network<'_>, shape: &[i64]) -> Tensor {
    match n.random.below(10) {
        0..2 => return n.weights(shape, "f32", 95),
        2..5 => {
            // No multiples of a step.
            let one = |n: &mut Network<'_>| format!("{}.{}", n.random.below(9) as i64 - 4, 1 + n.random.below(9998));
            let elements: Vec<String> = (0..shape.iter().product::<i64>()).map(|_| one(n)).collect();
            return n.listed(shape, "f32", &elements);
        }
        _ => {}
    }
    let integers = n.weights(shape, "i32", 95);
    dequantized(n, &integers, None)
}

fn convolution(n: &mut Network<'_>, x: &Tensor) -> Option<Tensor> {
    let (shape, attrs, out) = conv_window(n, x)?;
    let w = weights(n, &shape, 0);
    let bias = n.random.percent(50).then(|| bias(n, &shape[..1]));
    let operands: Vec<&Tensor> = [x, &w].into_iter().chain(&bias).collect();
    Some(n.generic("graph.conv", &operands, &attrs, &out, "f32"))
}

/// Multiplies matrices; images are flattened before.
fn gemm(n: &mut Network<'_>, x: &Tensor) -> Tensor {
    let x = flattened(n, x);
    let (rows, depth) = (x.shape[0], x.shape[1]);
    // The scales of square weights, one for each row or column, say nothing about the axis.
    let columns = if depth <= 8 && n.random.percent(35) { depth } else { n.extent(6) };
    let mut attrs = Vec::new();
    for name in ["alpha", "beta"] {
        if n.random.percent(20) {
            attrs.push(format!("{name} = {} : f32", n.random.pick(&["0.5", "2.0", "0.0"])));
        }
    }
    let by_rows = n.random.percent(60);
    if by_rows {
        attrs.push("transB = 1 : i64".to_owned());
    }
    let shape = if by_rows { [columns, depth] } else { [depth, columns] };
    let axis = if n.random.percent(80) { usize::from(!by_rows) } else { usize::from(by_rows) };
    let w = weights(n, &shape, axis);
    let bias = n.random.percent(60).then(|| bias(n, &[columns]));
    let operands: Vec<&Tensor> = [&x, &w].into_iter().chain(&bias).collect();
    n.generic("graph.gemm", &operands, &attrs.join(", "), &[rows, columns], "f32")
}

fn flattened(n: &mut Network<'_>, x: &Tensor) -> Tensor {
    if x.shape.len() == 2 {
        return x.clone();
    }
    let shape = [x.shape[0], x.shape[1..].iter().product()];
    n.generic("graph.flatten", &[x], "axis = 1 : i64", &shape, "f32")
}

fn matmul(n: &mut Network<'_>, x: &Tensor) -> Tensor {
    let x = flattened(n, x);
    let (depth, columns) = (x.shape[1], n.extent(6));
    let w = match n.random.percent(70) {
        true => weights(n, &[depth, columns], 1),
        false => {
            let other = n.parameter(&[depth, columns], "ui8");
            dequantized(n, &other, None)
        }
    };
    n.generic("graph.matmul", &[&x, &w], "", &[x.shape[0], columns], "f32")
}

/// Combines a tensor elementwise with another one of its shape, one element per channel, or itself.
fn binary(n: &mut Network<'_>, x: &Tensor) -> Tensor {
    let other = match n.random.below(5) {
        0 => x.clone(),
        // An earlier tensor, of which this one may be a function.
        2 | 3 => {
            let earlier: Vec<Tensor> = n.values.iter().filter(|t| t.shape == x.shape).cloned().collect();
            let bytes = earlier.get(n.random.below(earlier.len().max(1) as u64) as usize);
            bytes.map_or_else(|| x.clone(), |bytes| dequantized(n, bytes, None))
        }
        1 if x.shape.len() == 4 => operand(n, &[1, x.shape[1], 1, 1]),
        _ => operand(n, &x.shape),
    };
    let name = n.random.pick(&["graph.add", "graph.add", "graph.mul", "graph.sum", "graph.sub"]);
    let operands = if n.random.percent(70) { [x, &other] } else { [&other, x] };
    n.generic(name, &operands, "", &x.shape, "f32")
}

/// Creates a dequantized operand.
fn operand(n: &mut Network<'_>, shape: &[i64]) -> Tensor {
    let elem = n.random.pick(&["ui8", "i8"]);
    let bytes = n.weights(shape, elem, 30);
    dequantized(n, &bytes, None)
}

fn concat(n: &mut Network<'_>, x: &Tensor) -> Tensor {
    let axis = n.random.below(x.shape.len() as u64) as usize;
    let other = if n.random.percent(30) { x.clone() } else { operand(n, &x.shape) };
    n.concat(&[x, &other], axis)
}

/// Clamps a tensor, applies another function to it, or neither.
fn clamped(n: &mut Network<'_>, y: Tensor) -> Tensor {
    match n.random.below(6) {
        0 => n.relu(&y),
        1 => {
            let bounds = n.random.pick(&[("0.0", "6.0"), ("-1.0", "1.0"), ("-100.0", "100.0"), ("0.5", "2.0")]);
            clip(n, &y, bounds)
        }
        2 => {
            let name = n.random.pick(&FUNCTIONS);
            n.generic(&format!("graph.{name}"), &[&y], "", &y.shape, "f32")
        }
        _ => y,
    }
}
