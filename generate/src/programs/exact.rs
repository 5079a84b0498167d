//! Ops that round at most once, so that kernels give the bits of their semantics: conversions, quantization, sums and products of elements.

use super::network::{Network, Tensor, is_float};
use super::networks::cast;
use gradus_ir::random::Random;

/// Element types, between which values are converted.
const TYPES: [&str; 6] = ["f32", "f32", "f16", "bf16", "i32", "i8"];
/// Scales: with powers of two, many numbers are in the middle of two steps.
const SCALES: [&str; 5] = ["0.5", "0.25", "2.0", "0.1", "3.7"];

/// Draws one to three ops on tensors of equal extents.
pub(super) fn draw(random: &mut Random) -> String {
    let mut n = Network::new(random);
    let shape: Vec<i64> = (0..n.random.below(4)).map(|_| n.extent(9)).collect();
    let elem = n.random.pick(&TYPES);
    let mut x = n.parameter(&shape, elem);
    for _ in 0..1 + n.random.below(3) {
        x = step(&mut n, &x);
    }
    n.values.push(x);
    n.finish()
}

fn step(n: &mut Network<'_>, x: &Tensor) -> Tensor {
    match n.random.below(8) {
        0 | 1 => {
            let elem = n.random.pick(&TYPES);
            cast(n, x, elem)
        }
        2 | 3 if x.elem == "f32" => quantized(n, x),
        2 | 3 if x.elem == "i8" => dequantized(n, x),
        4 if is_float(x.elem) => {
            let name = n.random.pick(&[
                "graph.neg",
                "graph.abs",
                "graph.floor",
                "graph.ceil",
                "graph.round",
                "graph.sqrt",
                "graph.reciprocal",
                "graph.sign",
                "graph.softsign",
                "graph.hard_swish",
                "graph.leaky_relu",
            ]);
            n.generic(name, &[x], "", &x.shape, x.elem)
        }
        5 => n.relu(x),
        _ => {
            let name = n.random.pick(&["graph.add", "graph.add", "graph.sub", "graph.mul", "graph.max", "graph.min"]);
            let shape = if n.random.percent(30) { Vec::new() } else { x.shape.clone() };
            let other = n.weights(&shape, x.elem, 50);
            n.generic(name, &[x, &other], "", &x.shape, x.elem)
        }
    }
}

/// Creates a scale and a zero point: one of each, or one for each element along the last axis.
fn scale(n: &mut Network<'_>, x: &Tensor, elem: &'static str) -> ([Tensor; 2], String) {
    let axis = x.shape.last().copied().filter(|_| n.random.percent(30));
    let shape: Vec<i64> = axis.into_iter().collect();
    let scales: Vec<String> = (0..axis.unwrap_or(1)).map(|_| n.random.pick(&SCALES).to_owned()).collect();
    let attrs = if axis.is_some() { format!("axis = {} : i64", x.shape.len() - 1) } else { String::new() };
    ([n.listed(&shape, "f32", &scales), n.weights(&shape, elem, 100)], attrs)
}

fn quantized(n: &mut Network<'_>, x: &Tensor) -> Tensor {
    let elem = n.random.pick(&["i8", "ui8"]);
    let ([scale, zero], attrs) = scale(n, x, elem);
    n.generic("graph.quantize_linear", &[x, &scale, &zero], &attrs, &x.shape, elem)
}

fn dequantized(n: &mut Network<'_>, x: &Tensor) -> Tensor {
    let ([scale, zero], attrs) = scale(n, x, x.elem);
    n.generic("graph.dequantize_linear", &[x, &scale, &zero], &attrs, &x.shape, "f32")
}
