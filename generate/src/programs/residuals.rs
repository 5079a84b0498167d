//! Networks whose values have several readers: residuals over several layers, parts of concatenations, and sums of neighbours.

use super::network::{Network, Tensor, divisors, is_float};
use gradus_ir::random::Random;

/// Draws layers on images of equal extents, each of which reads any of the earlier values.
pub(super) fn draw(random: &mut Random) -> String {
    let mut n = Network::new(random);
    let elem = n.random.pick(&["f32", "f32", "f16", "f16", "bf16", "i8", "i8", "ui8"]);
    let (channels, rows, columns) = (n.random.pick(&[2, 4, 8]), n.extent(8), n.extent(8));
    for _ in 0..n.extent(2) {
        let x = n.parameter(&[1, channels, rows, columns], elem);
        n.values.push(x);
    }
    for _ in 0..3 + n.random.below(8) {
        let x = recent(&mut n);
        let y = match n.random.below(13) {
            0..3 => convolution(&mut n, &x),
            3..7 => sum(&mut n, &x),
            7 | 8 => activation(&mut n, &x),
            9 => pool(&mut n, &x),
            10 => shuffle(&mut n, &x),
            _ => parts(&mut n, &x),
        };
        n.values.push(y);
    }
    n.finish()
}

/// Picks an earlier value, recent ones with higher probability.
fn recent(n: &mut Network<'_>) -> Tensor {
    let count = n.values.len() as u64;
    let back = n.random.below(count).min(n.random.below(count)) as usize;
    n.values[n.values.len() - 1 - back].clone()
}

/// Adds a convolution that keeps the extents: 1x1 or 3x3, of all channels, of groups or depthwise.
fn convolution(n: &mut Network<'_>, x: &Tensor) -> Tensor {
    let channels = x.shape[1];
    let (kernel, group) = (n.random.pick(&[1, 3]), n.random.pick(&[1, 1, 2, channels]));
    let weights = n.weights(&[channels, channels / group, kernel, kernel], x.elem, 98);
    let of_bias = if is_float(x.elem) { x.elem } else { "i32" };
    let bias = n.random.percent(50).then(|| n.weights(&[channels], of_bias, 98));
    let pad = kernel / 2;
    let attrs = format!("group = {group} : i64, pads = array<i64: {pad}, {pad}, {pad}, {pad}>");
    if !is_float(x.elem) {
        return quantized(n, "graph.qlinear_conv", [x, &weights], bias.as_ref(), &attrs);
    }
    let operands: Vec<&Tensor> = [x, &weights].into_iter().chain(&bias).collect();
    n.generic("graph.conv", &operands, &attrs, &x.shape, x.elem)
}

/// Adds an op of two tensors of bytes, the result and perhaps a bias, each tensor with its scale and zero point.
fn quantized(n: &mut Network<'_>, name: &str, [a, b]: [&Tensor; 2], bias: Option<&Tensor>, attrs: &str) -> Tensor {
    let mut scaled = |elem| {
        let scale = n.random.pick(&["0.5", "0.25", "1.0", "2.0", "0.0123"]);
        [n.constant(&[], "f32", scale), n.weights(&[], elem, 98)]
    };
    let ([a_scale, a_zero], [b_scale, b_zero], [scale, zero]) = (scaled(a.elem), scaled(b.elem), scaled(a.elem));
    let operands = [a, &a_scale, &a_zero, b, &b_scale, &b_zero, &scale, &zero];
    let operands: Vec<&Tensor> = operands.into_iter().chain(bias).collect();
    n.generic(name, &operands, attrs, &a.shape, a.elem)
}

/// Combines two earlier values, or one with a constant for each channel.
fn sum(n: &mut Network<'_>, x: &Tensor) -> Tensor {
    let other = if n.random.percent(85) { recent(n) } else { n.weights(&[x.shape[1], 1, 1], x.elem, 98) };
    if !is_float(x.elem) {
        let name = n.random.pick(&["graph.qlinear_add", "graph.qlinear_add", "graph.qlinear_mul"]);
        return quantized(n, name, [x, &other], None, "");
    }
    let name = n.random.pick(&["graph.add", "graph.add", "graph.mul", "graph.sub", "graph.max"]);
    n.generic(name, &[x, &other], "", &x.shape, x.elem)
}

fn activation(n: &mut Network<'_>, x: &Tensor) -> Tensor {
    if !is_float(x.elem) {
        let table = n.weights(&[256], x.elem, 100);
        return n.generic("graph.table", &[x, &table], "", &x.shape, x.elem);
    }
    let name = n.random.pick(&["graph.relu", "graph.relu", "graph.sigmoid", "graph.tanh", "graph.neg", "graph.abs"]);
    n.generic(name, &[x], "", &x.shape, x.elem)
}

fn pool(n: &mut Network<'_>, x: &Tensor) -> Tensor {
    let name = n.random.pick(&["graph.max_pool", "graph.average_pool"]);
    n.generic(name, &[x], "kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>", &x.shape, x.elem)
}

/// Permutes two or three factors of the number of channels: groups are interleaved, or trade places.
fn shuffle(n: &mut Network<'_>, x: &Tensor) -> Tensor {
    let (mut channels, mut factors) = (x.shape[1], Vec::new());
    for _ in 0..1 + n.random.below(2) {
        let proper: Vec<i64> = divisors(channels).into_iter().filter(|&d| d > 1 && d < channels).collect();
        let factor = if proper.is_empty() { 1 } else { n.random.pick(&proper) };
        channels /= factor;
        factors.push(factor);
    }
    factors.push(channels);
    let split = n.reshaped(x, &[&[1], &factors[..], &x.shape[2..]].concat());
    let order = n.permutation((1..=factors.len()).collect());
    let rest = [factors.len() + 1, factors.len() + 2];
    let turned = n.transposed(&split, &[&[0], &order[..], &rest].concat());
    n.reshaped(&turned, &x.shape)
}

/// Concatenates two values and slices channels of both out of them; the concatenation often has another reader.
fn parts(n: &mut Network<'_>, x: &Tensor) -> Tensor {
    let (other, channels) = (recent(n), x.shape[1]);
    let mut whole = n.concat(&[x, &other], 1);
    if n.random.percent(40) {
        whole = activation(n, &whole);
    }
    let first = n.random.below(channels as u64 + 1) as i64;
    n.part(&whole, 1, first, channels)
}
