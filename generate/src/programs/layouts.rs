//! Layouts: packs, unpacks, reshapes and transposes with many layouts and equal extents, with elementwise ops between.

use super::moves;
use super::network::{Network, Tensor};
use gradus_ir::random::Random;

/// Layouts of images.
const ORDERS: [&str; 10] = ["NCHW", "NHWC", "NCWH", "CNHW", "NCHW2c", "NCHW4c", "NCHW8c", "NHWC2w", "HWNC", "NCHW2c2w"];
/// Axes of images before they are packed; most are the first.
const AXES: [&str; 4] = ["NCHW", "NHWC", "CNHW", "NCWH"];
/// Order of the dimensions of a transposed image.
const PERMUTATIONS: [[usize; 4]; 5] = [[0, 2, 3, 1], [0, 3, 1, 2], [0, 1, 3, 2], [1, 0, 2, 3], [0, 1, 2, 3]];

/// Draws a chain of ops on images.
pub(super) fn draw(random: &mut Random) -> String {
    let mut n = Network::new(random);
    let sizes: &[i64] = if n.random.percent(50) { &[2, 4] } else { &[1, 2, 3, 4, 5, 8] };
    let shape: Vec<i64> = (0..4).map(|_| n.random.pick(sizes)).collect();
    let elem = n.random.pick(&["f32", "f32", "i8", "i32"]);
    let x = match n.random.percent(40) {
        true => unpacked(&mut n, &shape, elem),
        false => n.parameter(&shape, elem),
    };
    n.values.push(x);
    for _ in 0..2 + n.random.below(5) {
        let x = n.values[n.values.len() - 1].clone();
        let y = match (x.shape.len(), n.random.below(10)) {
            (4, 0..2) => repacked(&mut n, &x),
            (4, 2) => {
                let perm = n.random.pick(&PERMUTATIONS);
                n.transposed(&x, &perm)
            }
            (_, 3) => reshaped(&mut n, &x),
            (rank, 4) if elem == "f32" => normalized(&mut n, &x, rank as u64),
            (_, 5 | 6) => moves::draw(&mut n, &x),
            _ => elementwise(&mut n, &x),
        };
        n.values.push(y);
    }
    n.finish()
}

fn axes(n: &mut Network<'_>) -> &'static str {
    if n.random.percent(70) { AXES[0] } else { n.random.pick(&AXES) }
}

/// Packs an image, and often unpacks it in the same layout, or in another with the same extents.
fn repacked(n: &mut Network<'_>, x: &Tensor) -> Tensor {
    let (order, axes) = (n.random.pick(&ORDERS), axes(n));
    let packed = packed(&x.shape, order, axes);
    let y = n.generic("layout.pack", &[x], &layout(order, axes), &packed, x.elem);
    if n.random.percent(40) {
        return y;
    }
    let others: Vec<&str> = ORDERS.iter().copied().filter(|o| self::packed(&x.shape, o, axes) == packed).collect();
    let other = if n.random.percent(50) { order } else { n.random.pick(&others) };
    n.generic("layout.unpack", &[&y], &layout(other, axes), &x.shape, x.elem)
}

/// Creates a packed parameter and unpacks it to a shape.
fn unpacked(n: &mut Network<'_>, shape: &[i64], elem: &'static str) -> Tensor {
    let (order, axes) = (n.random.pick(&ORDERS), axes(n));
    let x = n.parameter(&packed(shape, order, axes), elem);
    n.generic("layout.unpack", &[&x], &layout(order, axes), shape, elem)
}

fn reshaped(n: &mut Network<'_>, x: &Tensor) -> Tensor {
    let all: i64 = x.shape.iter().product();
    let divisors: Vec<i64> = (1..=all).filter(|d| all % d == 0).collect();
    let first = n.random.pick(&divisors);
    let second = n.random.pick(&divisors.iter().copied().filter(|d| (all / first) % d == 0).collect::<Vec<_>>());
    n.reshaped(x, &[first, second, all / first / second, 1])
}

/// Normalizes along an axis, or the flattened axes from it on.
fn normalized(n: &mut Network<'_>, x: &Tensor, rank: u64) -> Tensor {
    let axis = n.random.below(rank);
    let flat = if n.random.percent(35) { ", legacy_flatten = 1 : i64" } else { "" };
    n.generic("graph.softmax", &[x], &format!("axis = {axis} : i64{flat}"), &x.shape, x.elem)
}

/// Adds an elementwise op of one to three operands: of the same shape, also unpacked from another layout or reshaped, one
/// per channel, or a number.
fn elementwise(n: &mut Network<'_>, x: &Tensor) -> Tensor {
    let names: &[&str] = match (n.random.below(3), x.elem) {
        (0, _) => &["graph.neg", "graph.abs", "graph.identity"],
        (1, _) => &["graph.add", "graph.sub", "graph.mul"],
        (_, "f32") => &["graph.sum", "graph.max", "graph.min"],
        _ => &["graph.max", "graph.min"],
    };
    let name = n.random.pick(names);
    let others = match name {
        "graph.neg" | "graph.abs" | "graph.identity" => 0,
        "graph.sum" | "graph.max" | "graph.min" => 1 + n.random.below(2),
        _ => 1,
    };
    let mut operands: Vec<Tensor> = (0..others).map(|_| operand(n, x)).collect();
    let at = if n.random.percent(75) { 0 } else { operands.len() };
    operands.insert(at, x.clone());
    let operands: Vec<&Tensor> = operands.iter().collect();
    n.generic(name, &operands, "", &x.shape, x.elem)
}

fn operand(n: &mut Network<'_>, x: &Tensor) -> Tensor {
    let is_image = x.shape.len() == 4;
    match n.random.below(7) {
        0 if is_image => unpacked(n, &x.shape, x.elem),
        1 | 2 if is_image => n.weights(&[x.shape[1], 1, 1], x.elem, 70),
        3 => n.alike(x),
        4 => {
            // As many elements, in another shape.
            let from: Vec<i64> = x.shape.iter().rev().copied().collect();
            let other = n.parameter(&from, x.elem);
            n.reshaped(&other, &x.shape)
        }
        _ => {
            let number = n.random.below(7) as i64 - 3;
            let text = if x.elem == "f32" { format!("{number}.0") } else { number.to_string() };
            n.constant(&[], x.elem, &text)
        }
    }
}

fn layout(order: &str, axes: &str) -> String {
    format!("layout = #layout.tiled<\"{order}\">, axes = \"{axes}\"")
}

/// Returns the extents of an image in a layout.
fn packed(shape: &[i64], order: &str, axes: &str) -> Vec<i64> {
    let mut extents = Vec::new();
    let mut tiles = [1i64; 4];
    let axis = |letter: u8| axes.bytes().position(|a| a == letter.to_ascii_uppercase()).unwrap_or(0);
    let bytes = order.as_bytes();
    for (i, &letter) in bytes.iter().enumerate().filter(|(_, b)| b.is_ascii_lowercase()) {
        tiles[axis(letter)] *= i64::from(bytes[i - 1] - b'0');
    }
    for (i, &letter) in bytes.iter().enumerate() {
        match letter {
            b'A'..=b'Z' => extents.push((shape[axis(letter)] + tiles[axis(letter)] - 1) / tiles[axis(letter)]),
            b'a'..=b'z' => extents.push(i64::from(bytes[i - 1] - b'0')),
            _ => {}
        }
    }
    extents
}
