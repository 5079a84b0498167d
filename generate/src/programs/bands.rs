//! Blocks of MobileNets with pruned filters on images that are divided into bands of rows: 1x1 convolutions around a depthwise one.

use super::network::{Network, Tensor};
use super::networks::clip;
use super::sparse::pruned;
use gradus_ir::random::Random;

/// Draws one or two blocks.
pub(super) fn draw(random: &mut Random) -> String {
    let mut n = Network::new(random);
    let (rows, columns) = n.random.pick(&[(8, 16), (16, 8), (12, 12), (16, 10), (18, 9), (24, 6), (16, 16), (32, 8)]);
    let channels = 1 + n.extent(4);
    let x = n.parameter(&[1, channels, rows, columns], "f32");
    n.values.push(x.clone());
    let mut y = x;
    for _ in 0..1 + n.random.below(2) {
        y = block(&mut n, &y);
        n.values.push(y.clone());
    }
    n.finish()
}

/// Adds a block: more channels, a depthwise convolution, fewer channels, and often a residual.
fn block(n: &mut Network<'_>, x: &Tensor) -> Tensor {
    let wide = 1 + n.extent(6);
    let mut y = pointwise(n, x, wide);
    y = clamped(n, y);
    y = depthwise(n, &y);
    y = clamped(n, y);
    let channels = if n.random.percent(60) { x.shape[1] } else { 1 + n.extent(4) };
    y = pointwise(n, &y, channels);
    if n.random.percent(50) {
        let other = if y.shape == x.shape && n.random.percent(70) { x.clone() } else { n.alike(&y) };
        y = n.generic("graph.add", &[&y, &other], "", &y.shape, "f32");
    }
    if n.random.percent(30) { clamped(n, y) } else { y }
}

/// Adds a 1x1 convolution, seldom one with strides, or a 3x3 one, which read no bands.
fn pointwise(n: &mut Network<'_>, x: &Tensor, channels: i64) -> Tensor {
    let (kernel, stride) =
        n.random.pick(&[(1, 1), (1, 1), (1, 1), (1, 1), (1, 1), (1, 1), (1, 1), (1, 1), (1, 2), (3, 1)]);
    let weights = pruned(n, &[channels, x.shape[1], kernel, kernel], "f32");
    let bias = n.random.percent(50).then(|| n.weights(&[channels], "f32", 95));
    let operands: Vec<&Tensor> = [x, &weights].into_iter().chain(&bias).collect();
    let shape = [1, channels, (x.shape[2] - 1) / stride + 1, (x.shape[3] - 1) / stride + 1];
    let pad = kernel / 2;
    let attrs = match (kernel, stride) {
        (1, 1) => String::new(),
        _ => format!("strides = array<i64: {stride}, {stride}>, pads = array<i64: {pad}, {pad}, {pad}, {pad}>"),
    };
    n.custom("sparse.conv", &operands, &attrs, &shape, "f32")
}

/// Adds a depthwise convolution that reads channels first.
fn depthwise(n: &mut Network<'_>, x: &Tensor) -> Tensor {
    let channels = x.shape[1];
    let [kernel, strides, dilations] =
        [&[3, 3, 3, 5, 1, 2][..], &[1, 1, 1, 2], &[1, 1, 1, 2]].map(|from| [0, 1].map(|_| n.random.pick(from)));
    let is_padded = n.random.percent(85);
    let mut pads = [0; 4];
    let mut shape = vec![1, channels];
    for i in 0..2 {
        let reach: i64 = (kernel[i] - 1) * dilations[i];
        if is_padded {
            // As many rows as before, often with more of the padding at the end.
            pads[i] = reach / 2;
            pads[2 + i] = reach - reach / 2;
        }
        let room = x.shape[2 + i] + pads[i] + pads[2 + i] - reach - 1;
        shape.push(room.max(-1) / strides[i] + 1);
    }
    let weights = n.weights(&[channels, 1, kernel[0], kernel[1]], "f32", 95);
    let bias = n.random.percent(50).then(|| n.weights(&[channels], "f32", 95));
    let operands: Vec<&Tensor> = [x, &weights].into_iter().chain(&bias).collect();
    let list = |numbers: &[i64]| numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
    let attrs = format!(
        "group = {channels} : i64, strides = array<i64: {}>, dilations = array<i64: {}>, pads = array<i64: {}>, \
         layout.images = #layout.tiled<\"NCHW\">",
        list(&strides),
        list(&dilations),
        list(&pads)
    );
    n.custom("graph.conv", &operands, &attrs, &shape, "f32")
}

/// Clamps an image, or returns it, sometimes with another reader.
fn clamped(n: &mut Network<'_>, y: Tensor) -> Tensor {
    if n.random.percent(8) {
        n.values.push(y.clone());
    }
    match n.random.below(3) {
        0 => n.relu(&y),
        1 => clip(n, &y, ("0.0", "6.0")),
        _ => y,
    }
}
