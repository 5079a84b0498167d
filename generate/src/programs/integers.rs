//! Convolutions and products of bytes with zero points.

use super::network::{Network, divisors};
use super::networks::window;
use gradus_ir::random::Random;

/// Maximum number of multiplications of a product.
const MAX_PRODUCTS: i64 = 300_000;

/// Draws products with zero points, of which some extents are just beyond the tiles of the machines.
pub(super) fn products(random: &mut Random) -> String {
    let mut n = Network::new(random);
    let [of_a, of_b] = [(), ()].map(|()| n.random.pick(&["i8", "ui8"]));
    let mut extent = |beyond: i64| match n.random.below(3) {
        0 => beyond + n.random.below(12) as i64 - 3,
        _ => n.extent(12),
    };
    let [rows, depth, columns] = [extent(32), extent(288), extent(64)];
    if rows * depth * columns > MAX_PRODUCTS {
        return String::new();
    }
    let (a, b) = (n.parameter(&[rows, depth], of_a), n.weights(&[depth, columns], of_b, 80));
    let each: [&[i64]; 2] = if n.random.percent(20) { [&[rows], &[columns]] } else { [&[], &[]] };
    let (zero_a, zero_b) = (n.weights(each[0], of_a, 90), n.weights(each[1], of_b, 90));
    let operands = [&a, &b, &zero_a, &zero_b];
    let count = n.random.pick(&[2, 3, 4, 4]);
    let sizes = format!("operandSegmentSizes = array<i32: 1, 1, {}, {}>", i32::from(count > 2), i32::from(count > 3));
    let mut y = n.generic("graph.matmul_integer", &operands[..count], &sizes, &[rows, columns], "i32");
    if n.random.percent(30) {
        y = n.relu(&y);
    }
    n.values.push(y);
    n.finish()
}

/// Draws a quantized convolution with zero points per tensor or channel.
pub(super) fn convolution(random: &mut Random) -> String {
    let mut n = Network::new(random);
    let (batch, channels) = (n.extent(2), n.random.pick(&[1, 2, 3, 4, 8]));
    let image = [n.extent(5), n.extent(5)];
    let of_x = n.random.pick(&["ui8", "i8"]);
    let of_w = n.random.pick(&["i8", "ui8"]);
    let x = n.parameter(&[batch, channels, image[0], image[1]], of_x);
    let Some(w) = window(&mut n, &image, false) else { return String::new() };
    let group = n.random.pick(&divisors(channels));
    let filters = group * n.extent(2);
    let weights = n.weights(&[filters, channels / group, w.kernel[0], w.kernel[1]], of_w, 90);
    let out = [batch, filters, w.output[0], w.output[1]];
    let per_channel: &[i64] = if n.random.percent(50) { &[filters] } else { &[] };
    let zero_x = n.weights(&[], of_x, 95);
    let zero_w = n.weights(per_channel, of_w, 95);
    let attrs = [w.attrs, if group > 1 { format!("group = {group} : i64") } else { String::new() }];
    let attrs: Vec<String> = attrs.into_iter().filter(|text| !text.is_empty()).collect();
    let attrs = attrs.join(", ");
    let y = if n.random.percent(50) {
        let sizes = "operandSegmentSizes = array<i32: 1, 1, 1, 1>";
        let attrs = if attrs.is_empty() { sizes.to_owned() } else { format!("{attrs}, {sizes}") };
        n.generic("graph.conv_integer", &[&x, &weights, &zero_x, &zero_w], &attrs, &out, "i32")
    } else {
        let scale = |n: &mut Network<'_>, shape: &[i64]| {
            let count = shape.iter().product::<i64>();
            let numbers: Vec<String> =
                (0..count).map(|_| n.random.pick(&["0.5", "0.25", "0.125", "0.03125"]).to_owned()).collect();
            n.listed(shape, "f32", &numbers)
        };
        let (scale_x, scale_w, scale_y) = (scale(&mut n, &[]), scale(&mut n, per_channel), scale(&mut n, &[]));
        let zero_y = n.weights(&[], of_x, 95);
        let bias = n.weights(&[filters], "i32", 90);
        let operands = [&x, &scale_x, &zero_x, &weights, &scale_w, &zero_w, &scale_y, &zero_y, &bias];
        let count = if n.random.percent(60) { operands.len() } else { operands.len() - 1 };
        n.generic("graph.qlinear_conv", &operands[..count], &attrs, &out, of_x)
    };
    let clamps = y.elem == "i32" && n.random.percent(40);
    let y = if clamps { n.relu(&y) } else { y };
    n.values.push(y);
    n.finish()
}
