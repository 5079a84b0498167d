//! Networks: convolutions and pools of every geometry, and chains of ops per target stage.

use super::moves;
use super::network::{Network, Tensor, divisors, is_float};
use gradus_ir::random::Random;

/// Maximum number of multiplications of a convolution.
const MAX_PRODUCTS: i64 = 30_000;

/// NaN, as text.
const NAN: &str = "0x7FC00000";

/// Maximum number of elements of a value.
const MAX_ELEMENTS: i64 = 600;

/// Strides, dilations and pads of a window over some image dimensions, and the output extents.
pub(super) struct Window {
    pub(super) kernel: Vec<i64>,
    pub(super) attrs: String,
    pub(super) output: Vec<i64>,
}

/// Draws a window; `None` if the output is empty. `rounds_up`: whether partial windows at the end count.
pub(super) fn window(n: &mut Network<'_>, image: &[i64], rounds_up: bool) -> Option<Window> {
    let rank = image.len();
    let usual = n.random.percent(25);
    let auto_pad = if n.random.percent(12) { n.random.pick(&["SAME_UPPER", "SAME_LOWER", "VALID"]) } else { "NOTSET" };
    let mut draw = |most: u64, chance: u64, least: i64| -> Vec<i64> {
        let random = &mut *n.random;
        let plain = usual || !random.percent(chance);
        (0..rank).map(|_| if plain { least } else { least + random.below(most) as i64 }).collect()
    };
    let (strides, dilations) = (draw(3, 50, 1), draw(3, 40, 1));
    let explicit = if auto_pad == "NOTSET" { 55 } else { 0 };
    let (begin, end) = (draw(3, explicit, 0), draw(3, explicit, 0));
    let kernel: Vec<i64> = (0..rank).map(|_| n.extent(3)).collect();
    let pads: Vec<i64> =
        begin.iter().chain(&end).map(|&p| p.min(kernel.iter().copied().min().unwrap_or(1) - 1)).collect();
    let mut output = Vec::new();
    for i in 0..rank {
        let span = dilations[i] * (kernel[i] - 1) + 1;
        let room = image[i] + pads[i] + pads[rank + i] - span;
        output.push(match auto_pad {
            "SAME_UPPER" | "SAME_LOWER" => (image[i] + strides[i] - 1) / strides[i],
            _ if room < 0 => return None,
            _ if rounds_up => {
                let out = (room + strides[i] - 1) / strides[i] + 1;
                // A window that starts in the end padding does not count.
                out - i64::from((out - 1) * strides[i] >= image[i] + pads[i])
            }
            _ => room / strides[i] + 1,
        });
    }
    let list = |numbers: &[i64]| numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
    let mut attrs = Vec::new();
    if auto_pad != "NOTSET" {
        attrs.push(format!("auto_pad = \"{auto_pad}\""));
    }
    for (name, numbers, default) in [("strides", &strides, 1), ("dilations", &dilations, 1), ("pads", &pads, 0)] {
        let is_explicit = name != "pads" || auto_pad == "NOTSET";
        if numbers.iter().any(|&x| x != default) || is_explicit && n.random.percent(20) {
            attrs.push(format!("{name} = array<i64: {}>", list(numbers)));
        }
    }
    Some(Window { kernel, attrs: attrs.join(", "), output })
}

/// Draws the geometry of a convolution of an image: the shape of the filters, the attributes, and the shape of the result.
pub(super) fn conv_window(n: &mut Network<'_>, x: &Tensor) -> Option<(Vec<i64>, String, Vec<i64>)> {
    let w = window(n, &x.shape[2..], false)?;
    let channels = x.shape[1];
    let group = if n.random.percent(40) { n.random.pick(&divisors(channels)) } else { 1 };
    let filters = group * n.extent(3);
    let shape = [&[filters, channels / group], &w.kernel[..]].concat();
    let out = [&[x.shape[0], filters], &w.output[..]].concat();
    if out.iter().chain(&shape).product::<i64>() > MAX_PRODUCTS || out.iter().product::<i64>() > MAX_ELEMENTS {
        return None;
    }
    let mut attrs = vec![w.attrs];
    if group > 1 {
        attrs.push(format!("group = {group} : i64"));
    }
    attrs.retain(|text| !text.is_empty());
    Some((shape, attrs.join(", "), out))
}

/// Adds a convolution of an image.
fn conv(n: &mut Network<'_>, x: &Tensor, constant: u64) -> Option<Tensor> {
    let (shape, attrs, out) = conv_window(n, x)?;
    let weights = n.weights(&shape, x.elem, constant);
    if n.random.percent(50) {
        let bias = n.weights(&shape[..1], x.elem, constant);
        return Some(n.generic("graph.conv", &[x, &weights, &bias], &attrs, &out, x.elem));
    }
    Some(n.generic("graph.conv", &[x, &weights], &attrs, &out, x.elem))
}

/// Adds a transposed convolution of an image.
fn transposed(n: &mut Network<'_>, x: &Tensor) -> Option<Tensor> {
    let (rank, channels) = (x.shape.len() - 2, x.shape[1]);
    let mut draw = |most: u64| -> Vec<i64> { (0..rank).map(|_| n.extent(most)).collect() };
    let (kernel, strides, dilations, pads) = (draw(3), draw(3), draw(2), draw(2));
    let extra: Vec<i64> = strides.iter().map(|&stride| n.random.below(stride as u64) as i64).collect();
    let (group, each) = (n.random.pick(&divisors(channels)), n.extent(3));
    let extent = |i: usize| {
        let reach = (x.shape[2 + i] - 1) * strides[i] + (kernel[i] - 1) * dilations[i] + 1;
        // Pads of 0 or 1, at both ends.
        reach + extra[i] - 2 * (pads[i] - 1)
    };
    let shape = [&[channels, each], &kernel[..]].concat();
    let out = [&[x.shape[0], group * each][..], &(0..rank).map(extent).collect::<Vec<_>>()].concat();
    let products = out.iter().chain(&shape).product::<i64>();
    if out.iter().any(|&d| d < 1) || products > MAX_PRODUCTS || out.iter().product::<i64>() > MAX_ELEMENTS {
        return None;
    }
    let list = |numbers: &[i64]| numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
    let pads: Vec<i64> = pads.iter().chain(&pads).map(|pad| pad - 1).collect();
    let lists = [("strides", &strides), ("dilations", &dilations), ("pads", &pads), ("output_padding", &extra)];
    let lists = lists.map(|(name, numbers)| format!("{name} = array<i64: {}>", list(numbers)));
    let weights = n.weights(&shape, x.elem, 50);
    let bias = n.random.percent(50).then(|| n.weights(&[group * each], x.elem, 50));
    let operands: Vec<&Tensor> = [x, &weights].into_iter().chain(&bias).collect();
    let attrs = format!("group = {group} : i64, {}", lists.join(", "));
    Some(n.generic("graph.conv_transpose", &operands, &attrs, &out, x.elem))
}

pub(super) fn pool(n: &mut Network<'_>, x: &Tensor) -> Option<Tensor> {
    let rounds_up = n.random.percent(30);
    let w = window(n, &x.shape[2..], rounds_up)?;
    let out = [&x.shape[..2], &w.output[..]].concat();
    let kernel: Vec<String> = w.kernel.iter().map(i64::to_string).collect();
    let kernel = format!("kernel_shape = array<i64: {}>", kernel.join(", "));
    let mut attrs: Vec<String> = [kernel, w.attrs].into_iter().filter(|text| !text.is_empty()).collect();
    let name = n.random.pick(&["graph.max_pool", "graph.average_pool"]);
    if name == "graph.average_pool" && n.random.percent(40) {
        attrs.push("count_include_pad = 1 : i64".to_owned());
    }
    if rounds_up {
        attrs.push("ceil_mode = 1 : i64".to_owned());
    }
    Some(n.generic(name, &[x], &attrs.join(", "), &out, x.elem))
}

/// Clamps a tensor between two numbers, or on one side if the other is empty.
pub(super) fn clip(n: &mut Network<'_>, x: &Tensor, (low, high): (&str, &str)) -> Tensor {
    let bounds = [low, high].map(|bound| (!bound.is_empty()).then(|| n.constant(&[], x.elem, bound)));
    let [of_low, of_high] = [0, 1].map(|i| i32::from(bounds[i].is_some()));
    let sizes = format!("operandSegmentSizes = array<i32: 1, {of_low}, {of_high}>");
    let operands: Vec<&Tensor> = [x].into_iter().chain(bounds.iter().flatten()).collect();
    n.generic("graph.clip", &operands, &sizes, &x.shape, x.elem)
}

/// Adds an op of an epilogue: clamp, activation, residual, or a sum with a channel's constant.
fn stage(n: &mut Network<'_>, x: &Tensor) -> Tensor {
    match n.random.below(11) {
        1 if is_float(x.elem) => hard_swish(n, x),
        0 | 1 => n.relu(x),
        2 | 3 if is_float(x.elem) => {
            let bounds = [
                ("-1.0", "2.0"),
                ("0.0", "6.0"),
                ("1.0", "5.0"),
                ("", "0.0"),
                ("2.0", ""),
                ("2.0", "3.0"),
                (NAN, "2.0"),
            ];
            let bounds = n.random.pick(if x.elem == "f32" { &bounds } else { &bounds[..6] });
            clip(n, x, bounds)
        }
        10 if x.elem == "f32" && x.shape.len() > 2 && n.random.percent(50) => moves::batch_normalization(n, x),
        10 => with_row(n, x),
        4..7 => {
            let other = match n.random.below(5) {
                0 | 1 => n.weights(&x.shape, x.elem, 30),
                // Repeated along some axes.
                2 => {
                    let part: Vec<i64> = x.shape.iter().map(|&d| if n.random.percent(50) { 1 } else { d }).collect();
                    n.weights(&part, x.elem, 30)
                }
                _ => n.alike(x),
            };
            let name = n.random.pick(&["graph.add", "graph.add", "graph.sum", "graph.mul"]);
            let (a, b) = if n.random.percent(50) { (x, &other) } else { (&other, x) };
            n.generic(name, &[a, b], "", &x.shape, x.elem)
        }
        7 | 8 => with_axis(n, x),
        9 if is_float(x.elem) && n.random.percent(40) => {
            // To another type and back.
            let other = n.random.pick(&["f16", "bf16", "f32", "f64"]);
            let there = cast(n, x, other);
            cast(n, &there, x.elem)
        }
        _ => {
            let name = n.random.pick(&["graph.neg", "graph.abs", "graph.identity"]);
            n.generic(name, &[x], "", &x.shape, x.elem)
        }
    }
}

/// Adds hard swish, and perhaps a factor and an addend.
fn hard_swish(n: &mut Network<'_>, x: &Tensor) -> Tensor {
    let mut y = n.generic("graph.hard_swish", &[x], "", &x.shape, x.elem);
    for (name, number) in [("graph.mul", "-0.75"), ("graph.add", "0.5")] {
        if n.random.percent(40) {
            let number = n.constant(&[], x.elem, number);
            y = n.generic(name, &[&y, &number], "", &x.shape, x.elem);
        }
    }
    y
}

/// Converts the elements of a tensor.
pub(super) fn cast(n: &mut Network<'_>, x: &Tensor, elem: &'static str) -> Tensor {
    let to = Tensor { elem, ..x.clone() };
    n.op(&x.shape, elem, &format!("graph.cast {} to {elem} : ({}) -> {}", x.name, x.ty(), to.ty()))
}

/// Combines a tensor with a part of itself that is repeated along an axis.
fn with_row(n: &mut Network<'_>, x: &Tensor) -> Tensor {
    if x.shape.is_empty() {
        return n.relu(x);
    }
    let axis = n.random.below(x.shape.len() as u64) as usize;
    let start = n.random.below(x.shape[axis] as u64) as i64;
    let row = n.part(x, axis, start, 1);
    let name = n.random.pick(&["graph.add", "graph.sub", "graph.mul", "graph.max"]);
    let operands = if n.random.percent(60) { [x, &row] } else { [&row, x] };
    n.generic(name, &operands, "", &x.shape, x.elem)
}

/// Reshapes a tensor to one with an axis of one element, at any place.
fn with_axis(n: &mut Network<'_>, x: &Tensor) -> Tensor {
    let mut shape = x.shape.clone();
    shape.insert(n.random.below(shape.len() as u64 + 1) as usize, 1);
    n.reshaped(x, &shape)
}

/// Draws convolutions, pools and products with epilogues, on floats.
pub(super) fn images(random: &mut Random) -> String {
    let mut n = Network::new(random);
    let rank = 1 + n.random.below(5).min(2) as usize;
    let (batch, channels) = (n.extent(2), n.random.pick(&[1, 2, 3, 4, 4, 6, 8]));
    let equal = n.random.percent(40).then(|| n.extent(6));
    let image: Vec<i64> = (0..rank).map(|_| equal.unwrap_or_else(|| 1 + n.random.below(7) as i64)).collect();
    let shape = [&[batch, channels], &image[..]].concat();
    let elem = n.random.pick(&["f32", "f32", "f32", "f32", "f32", "f32", "f16", "bf16"]);
    let x = n.parameter(&shape, elem);
    n.values.push(x);
    for _ in 0..1 + n.random.below(3) {
        let mut x = n.values[n.values.len() - 1].clone();
        if n.random.percent(20) {
            x = moves::pad(&mut n, &x);
        }
        let made = match n.random.below(8) {
            0 if x.shape.len() > 2 => pool(&mut n, &x),
            kind if kind == 1 || x.shape.len() < 3 => {
                let rows = n.extent(5);
                Some(product(&mut n, elem, rows))
            }
            2 => branches(&mut n, &x),
            3 => transposed(&mut n, &x),
            _ => conv(&mut n, &x, 70),
        };
        let Some(mut y) = made else { continue };
        if n.random.percent(20) {
            n.values.push(y.clone());
        }
        for _ in 0..n.random.below(4) {
            y = stage(&mut n, &y);
        }
        if y.shape.len() == x.shape.len() && n.random.percent(15) {
            y = joined(&mut n, &y);
        }
        if y.shape.len() != x.shape.len() {
            n.values.insert(0, y);
        } else {
            n.values.push(y);
        }
    }
    n.finish()
}

/// Draws matrix products with epilogues, some of which follow a reshape or a concatenation.
pub(super) fn products(random: &mut Random) -> String {
    let mut n = Network::new(random);
    let elem = n.random.pick(&["f32", "f32", "f32", "f32", "f32", "f32", "f64", "i32", "f16", "bf16"]);
    for _ in 0..1 + n.random.below(2) {
        let rows = n.extent(5);
        let mut y = product(&mut n, elem, rows);
        match n.random.below(8) {
            0 | 1 => y = with_axis(&mut n, &y),
            2 => {
                let other = product(&mut n, elem, rows);
                let all = n.concat(&[&y, &other], 1);
                y = n.relu(&all);
            }
            _ => {}
        }
        for _ in 0..1 + n.random.below(4) {
            if n.random.percent(15) {
                n.values.push(y.clone());
            }
            y = stage(&mut n, &y);
        }
        n.values.push(y);
    }
    n.finish()
}

/// Concatenates an image with another of the same extents, or itself, and clamps the result.
fn joined(n: &mut Network<'_>, y: &Tensor) -> Tensor {
    let fits = |t: &&Tensor| t.shape.len() == y.shape.len() && t.shape[0] == y.shape[0] && t.shape[2..] == y.shape[2..];
    let other = n.values.iter().find(fits).cloned().unwrap_or_else(|| y.clone());
    let all = n.concat(&[y, &other], 1);
    n.relu(&all)
}

/// Adds convolutions of an image with the same window, concatenated and clamped.
fn branches(n: &mut Network<'_>, x: &Tensor) -> Option<Tensor> {
    let (shape, attrs, out) = conv_window(n, x)?;
    let parts: Vec<Tensor> = (0..n.extent(3))
        .map(|_| {
            let weights = n.weights(&shape, x.elem, 80);
            n.generic("graph.conv", &[x, &weights], &attrs, &out, x.elem)
        })
        .collect();
    let all = n.concat(&parts.iter().collect::<Vec<_>>(), 1);
    Some(if n.random.percent(50) { n.relu(&all) } else { stage(n, &all) })
}

/// Adds a product with more summands than the blocks of kernels have.
fn long_product(n: &mut Network<'_>, elem: &'static str, rows: i64) -> Tensor {
    let (depth, columns) = (500 + n.extent(600), n.extent(20));
    let (a, b) = (n.parameter(&[rows, depth], elem), n.parameter(&[depth, columns], elem));
    n.generic("graph.matmul", &[&a, &b], "", &[rows, columns], elem)
}

/// Adds a matrix product with a number of rows.
fn product(n: &mut Network<'_>, elem: &'static str, rows: i64) -> Tensor {
    let (depth, columns) = match n.random.below(100) {
        0..6 => return long_product(n, elem, rows),
        // Longer than the tiles of kernels.
        6..20 => (n.extent(70), n.extent(70)),
        _ => (n.extent(9), n.extent(20)),
    };
    let a = n.parameter(&[rows, depth], elem);
    if n.random.percent(50) {
        let b = n.weights(&[depth, columns], elem, 80);
        return n.generic("graph.matmul", &[&a, &b], "", &[rows, columns], elem);
    }
    let b = n.weights(&[columns, depth], elem, 80);
    let bias = n.weights(&[columns], elem, 80);
    n.generic("graph.gemm", &[&a, &b, &bias], "transB = 1 : i64", &[rows, columns], elem)
}
