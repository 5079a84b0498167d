//! Products, convolutions and elementwise ops with pruned constants: ops of `sparse`, and dense ops among which saturation chooses.

use super::network::{Network, Tensor, divisors, is_float};
use super::networks::{Window, clip, window};
use gradus_ir::random::Random;

/// Element types of products.
const TYPES: [&str; 9] = ["f32", "f32", "f32", "f32", "f64", "f64", "bf16", "f16", "i32"];
/// Numbers of columns: around the widths of vectors.
const COLUMNS: [i64; 16] = [1, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 31, 33, 40];
/// Maximum number of multiplications, and of elements of an image.
const MAX_PRODUCTS: i64 = 120_000;
const MAX_ELEMENTS: i64 = 2000;

/// Percentages of nonzeros of large constants and of those with fewer elements than `FEW`.
const DENSITIES: [u64; 8] = [0, 2, 10, 10, 25, 50, 90, 100];
const DENSE: [u64; 5] = [20, 50, 50, 80, 100];
const FEW: i64 = 64;

/// Draws a few ops with pruned constants.
pub(super) fn draw(random: &mut Random) -> String {
    let mut n = Network::new(random);
    for _ in 0..1 + n.random.below(2) {
        let y = match n.random.below(10) {
            0..6 => convolution(&mut n).unwrap_or_else(|| product(&mut n)),
            6 => bytes(&mut n),
            7 => elementwise(&mut n),
            _ => product(&mut n),
        };
        n.values.push(y);
    }
    n.finish()
}

/// The zeros of a constant.
#[derive(Clone, Copy)]
enum ZeroPattern {
    Anywhere,
    /// Whole rows, or columns, are zero.
    Rows,
    Columns,
    /// Nonzeros are near the diagonal.
    Band,
    /// Groups of four neighbours are zero together.
    Groups,
}

/// Creates a constant with many zeros; its rows are along the first axis.
pub(super) fn pruned(n: &mut Network<'_>, shape: &[i64], elem: &'static str) -> Tensor {
    let (rows, all) = (shape[0], shape.iter().product::<i64>());
    let columns = all / rows.max(1);
    let density = if all < FEW { n.random.pick(&DENSE) } else { n.random.pick(&DENSITIES) };
    let pattern = n.random.pick(&[
        ZeroPattern::Anywhere,
        ZeroPattern::Anywhere,
        ZeroPattern::Rows,
        ZeroPattern::Columns,
        ZeroPattern::Band,
        ZeroPattern::Groups,
    ]);
    let magnitudes = n.random.below(4);
    let seed = n.random.next();
    let kept = |key: i64| Random::of((seed, key)).percent(density);
    let mut text = Vec::new();
    for at in 0..all {
        let (row, column) = (at / columns, at % columns);
        let is_kept = match pattern {
            ZeroPattern::Anywhere => n.random.percent(density),
            ZeroPattern::Rows => kept(row) && n.random.percent(70),
            ZeroPattern::Columns => kept(column) && n.random.percent(70),
            ZeroPattern::Band => (row * columns - column * rows).abs() <= all * density as i64 / 200,
            ZeroPattern::Groups => kept(at / 4),
        };
        text.push(if is_kept { number(n, elem, magnitudes) } else { zero(elem).to_owned() });
    }
    n.listed(shape, elem, &text)
}

fn zero(elem: &str) -> &'static str {
    if is_float(elem) { "0.0" } else { "0" }
}

/// Draws a nonzero: a unit, one of a few magnitudes, or any.
fn number(n: &mut Network<'_>, elem: &str, magnitudes: u64) -> String {
    let sign = if elem != "ui8" && n.random.percent(50) { "-" } else { "" };
    let magnitude = match (magnitudes, is_float(elem)) {
        (0, true) => "1.0".to_owned(),
        (1, true) => n.random.pick(&["1.0", "2.0", "0.5", "3.0"]).to_owned(),
        (_, true) => format!("{}.{}", n.random.below(4), 1 + n.random.below(99)),
        (0, false) => "1".to_owned(),
        (1, false) => n.random.pick(&["1", "2", "4", "127"]).to_owned(),
        (_, false) => (1 + n.random.below(127)).to_string(),
    };
    format!("{sign}{magnitude}")
}

/// Draws the extents `[rows, depth, columns]` of a product.
fn extents(n: &mut Network<'_>) -> [i64; 3] {
    let rows = n.random.pick(&[1, 2, 4, 9, 16, 29, 60, 120]);
    let [rows, depth] = [rows, n.random.pick(&[2, 5, 8, 16, 33, 64])].map(|most| n.extent(most));
    // Square ones often.
    let depth = if n.random.percent(30) { rows } else { depth };
    let columns = if n.random.percent(20) { rows } else { n.random.pick(&COLUMNS) };
    [rows, depth, columns.min(MAX_PRODUCTS / (rows * depth)).max(1)]
}

/// Adds a product by a pruned constant on either side, with an epilogue.
fn product(n: &mut Network<'_>) -> Tensor {
    let (elem, [rows, depth, columns]) = (n.random.pick(&TYPES), extents(n));
    let (is_right, is_dense) = (n.random.percent(40), n.random.percent(30));
    let batch: Vec<i64> = if is_dense && n.random.percent(30) { vec![n.extent(3)] } else { Vec::new() };
    let (mut a, mut b, shape) = match is_right {
        false => {
            let a = pruned(n, &[rows, depth], elem);
            (a, n.parameter(&[&batch[..], &[depth, columns]].concat(), elem), [rows, columns])
        }
        true => {
            let b = pruned(n, &[depth, rows], elem);
            (n.parameter(&[&batch[..], &[columns, depth]].concat(), elem), b, [columns, rows])
        }
    };
    let y = match (is_dense, n.random.below(2)) {
        (false, _) => {
            let form = n.random.pick(&["unrolled", "unrolled", "patterns", "csr"]);
            let right = if is_right { " right" } else { "" };
            n.custom(&format!("sparse.matmul {form}{right}"), &[&a, &b], "", &shape, elem)
        }
        (true, 0) if batch.is_empty() => {
            let mut attrs = Vec::new();
            // The constants are transposed, so that the extents of the product are the same.
            for (name, operand) in [("transA", &mut a), ("transB", &mut b)] {
                if n.random.percent(40) {
                    let turned: Vec<i64> = operand.shape.iter().rev().copied().collect();
                    *operand = if is_right == (name == "transA") {
                        n.parameter(&turned, elem)
                    } else {
                        pruned(n, &turned, elem)
                    };
                    attrs.push(format!("{name} = 1 : i64"));
                }
            }
            let bias = n.random.percent(50).then(|| n.weights(&shape[1..], elem, 80));
            let operands: Vec<&Tensor> = [&a, &b].into_iter().chain(&bias).collect();
            n.generic("graph.gemm", &operands, &attrs.join(", "), &shape, elem)
        }
        (true, _) => n.generic("graph.matmul", &[&a, &b], "", &[&batch[..], &shape].concat(), elem),
    };
    let [first, second] = shape;
    let per_row = if is_right { vec![1, rows] } else { vec![rows, 1] };
    // One number for each column says the same, if the product is square.
    let bias = match n.random.below(6) {
        0..2 => per_row,
        2 => vec![second],
        3 => vec![1, second],
        4 => vec![first, 1],
        _ => vec![first, second],
    };
    epilogue(n, y, &bias)
}

/// Adds a bias of a shape, a residual and a clamp, or some of them.
fn epilogue(n: &mut Network<'_>, y: Tensor, bias: &[i64]) -> Tensor {
    let mut y = y;
    for _ in 0..n.random.below(4) {
        y = match n.random.below(5) {
            0 => {
                let bias = n.weights(bias, y.elem, 80);
                n.generic("graph.add", &[&y, &bias], "", &y.shape, y.elem)
            }
            1 => {
                let residual = n.weights(&y.shape, y.elem, 10);
                let operands = if n.random.percent(70) { [&y, &residual] } else { [&residual, &y] };
                n.generic("graph.add", &operands, "", &y.shape, y.elem)
            }
            2 if is_float(y.elem) => {
                let bounds =
                    n.random.pick(&[("0.0", "6.0"), ("-1.0", "1.0"), ("-3.0", "0.5"), ("", "0.5"), ("-0.5", "")]);
                clip(n, &y, bounds)
            }
            3 => {
                // A second reader of the value, which a fused epilogue would not store.
                n.values.push(y.clone());
                y
            }
            _ => n.relu(&y),
        };
    }
    y
}

/// Adds a product of bytes by a pruned constant, with zero points.
fn bytes(n: &mut Network<'_>) -> Tensor {
    let ([rows, depth, columns], is_right) = (extents(n), n.random.percent(40));
    let [of_sparse, of_dense] = [0, 1].map(|_| n.random.pick(&["i8", "ui8"]));
    let (a, b, right) = match is_right {
        false => (pruned(n, &[rows, depth], of_sparse), n.parameter(&[depth, columns], of_dense), ""),
        true => (n.parameter(&[columns, depth], of_dense), pruned(n, &[depth, rows], of_sparse), " right"),
    };
    let shape = [a.shape[0], b.shape[1]];
    let mut operands = vec![a.clone(), b.clone()];
    let mut words = String::new();
    for (word, operand, extent) in [("a_zero", &a, shape[0]), ("b_zero", &b, shape[1])] {
        if n.random.percent(50) {
            let per: &[i64] = if n.random.percent(40) { &[extent] } else { &[] };
            let zero = n.weights(per, operand.elem, 70);
            words += &format!(" {word} {}", zero.name);
            operands.push(zero);
        }
    }
    let types: Vec<String> = operands.iter().map(Tensor::ty).collect();
    let op = format!(
        "sparse.matmul_integer{right} {}, {}{words} : ({}) -> tensor<{}x{}xi32>",
        a.name,
        b.name,
        types.join(", "),
        shape[0],
        shape[1]
    );
    let y = n.op(&shape, "i32", &op);
    if n.random.percent(30) { n.relu(&y) } else { y }
}

/// Adds an elementwise op or a dot product with a pruned constant.
fn elementwise(n: &mut Network<'_>) -> Tensor {
    let elem = n.random.pick(&TYPES);
    if n.random.percent(40) {
        let depth = n.extent(70);
        let (a, x) = (pruned(n, &[depth], elem), n.parameter(&[depth], elem));
        return n.custom("sparse.dot", &[&a, &x], "", &[], elem);
    }
    let shape = [n.extent(20), n.extent(40)];
    let (a, x) = (pruned(n, &shape, elem), n.parameter(&shape, elem));
    let name = n.random.pick(&["add", "mul", "sub"]);
    let [a, b] = if name == "sub" { [x, a] } else { [a, x] };
    n.op(&shape, elem, &format!("sparse.{name} {}, {} : {}", a.name, b.name, a.ty()))
}

/// Adds a convolution with pruned filters, with an epilogue; `None` if the drawn geometry does not fit.
fn convolution(n: &mut Network<'_>) -> Option<Tensor> {
    let elem = if n.random.percent(85) { "f32" } else { n.random.pick(&["f64", "f16", "bf16"]) };
    let batch = if n.random.percent(90) { 1 } else { 2 };
    let (channels, rank) = (n.random.pick(&[1, 2, 3, 4, 6, 8, 12]), if n.random.percent(90) { 2 } else { 1 });
    let image: Vec<i64> = (0..rank).map(|_| n.extent(12)).collect();
    let Window { kernel, attrs, output } = window(n, &image, false)?;
    let group = if n.random.percent(25) { n.random.pick(&divisors(channels)) } else { 1 };
    let filters = group * n.random.pick(&[1, 2, 3, 5, 8, 14, 29]);
    let shape = [&[filters, channels / group], &kernel[..]].concat();
    let out = [&[batch, filters], &output[..]].concat();
    let (elements, positions) = (out.iter().product::<i64>(), output.iter().product::<i64>());
    if elements > MAX_ELEMENTS || shape.iter().product::<i64>() * positions * batch > MAX_PRODUCTS {
        return None;
    }
    let x = n.parameter(&[&[batch, channels], &image[..]].concat(), elem);
    let weights = pruned(n, &shape, elem);
    let bias = n.random.percent(50).then(|| n.weights(&[filters], elem, 90));
    let operands: Vec<&Tensor> = [&x, &weights].into_iter().chain(&bias).collect();
    let group = if group > 1 { format!("group = {group} : i64") } else { String::new() };
    let attrs = [attrs, group].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(", ");
    let name = if n.random.percent(75) { "sparse.conv" } else { "graph.conv" };
    let y = n.generic(name, &operands, &attrs, &out, elem);
    let per_channel = [&[filters][..], &vec![1; rank]].concat();
    Some(epilogue(n, y, &per_channel))
}
