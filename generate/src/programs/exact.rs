//! Ops that round at most once, so that kernels give the bits of their semantics: conversions, quantization, sums and products of elements.

use super::network::{Network, Tensor, is_float};
use super::networks::cast;
use super::qdq::{dequantized, quantized_along};
use gradus_ir::random::Random;

/// Element types, between which values are converted.
const TYPES: [&str; 6] = ["f32", "f32", "f16", "bf16", "i32", "i8"];

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
        2 | 3 if x.elem == "f32" => {
            let (axis, elem) = (axis(n, x), n.random.pick(&["i8", "ui8"]));
            quantized_along(n, x, elem, axis)
        }
        2 | 3 if x.elem == "i8" => {
            let axis = axis(n, x);
            dequantized(n, x, axis)
        }
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

/// Draws the last axis, or none.
fn axis(n: &mut Network<'_>, x: &Tensor) -> Option<usize> {
    x.shape.len().checked_sub(1).filter(|_| n.random.percent(30))
}
