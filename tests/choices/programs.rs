//! Programs with implementation choices.

use gradus::ir::random::Random;
use std::fmt::Write as _;

/// A function of tensors.
pub struct Program {
    /// Its text.
    pub text: String,
}

type Shape = Vec<i64>;

/// A function under construction. Values are numbered, arguments first.
#[derive(Default)]
struct Writer {
    args: Vec<String>,
    body: String,
    values: Vec<(String, Shape)>,
}

impl Writer {
    fn value(&mut self, name: String, shape: &[i64]) -> usize {
        self.values.push((name, shape.to_vec()));
        self.values.len() - 1
    }

    fn arg(&mut self, shape: &[i64]) -> usize {
        let name = format!("%arg{}", self.args.len());
        self.args.push(format!("{name}: {}", tensor(shape)));
        self.value(name, shape)
    }

    /// Returns a constant with `density` percent nonzero elements.
    fn constant(&mut self, shape: &[i64], density: u64, random: &mut Random) -> usize {
        let mut one = || if random.percent(density) { random.pick(&["1.0", "-1.0", "2.0"]) } else { "0.0" };
        let text = nested(shape, &mut one);
        let name = format!("%c{}", self.values.len());
        let _ = writeln!(self.body, "  {name} = arith.constant dense<{text}> : {}", tensor(shape));
        self.value(name, shape)
    }

    fn op(&mut self, op: &str, operands: &[usize], attrs: &str, shape: &[i64]) -> usize {
        let (names, types): (Vec<&str>, Vec<String>) =
            operands.iter().map(|&i| (self.values[i].0.as_str(), tensor(&self.values[i].1))).unzip();
        let name = format!("%v{}", self.values.len());
        let (names, types) = (names.join(", "), types.join(", "));
        let _ = writeln!(self.body, "  {name} = graph.{op} {names}{attrs} : ({types}) -> {}", tensor(shape));
        self.value(name, shape)
    }

    fn reshape(&mut self, of: usize, shape: &[i64]) -> usize {
        let name = format!("%s{}", self.values.len());
        let _ = writeln!(self.body, "  {name} = arith.constant dense<{shape:?}> : tensor<{}xi64>", shape.len());
        let (from, result) = (self.values[of].clone(), format!("%v{}", self.values.len()));
        let types = format!("({}, tensor<{}xi64>) -> {}", tensor(&from.1), shape.len(), tensor(shape));
        let _ = writeln!(self.body, "  {result} = graph.reshape {}, {name} : {types}", from.0);
        self.value(result, shape)
    }

    fn transpose(&mut self, of: usize) -> usize {
        let shape = reversed(&self.values[of].1);
        let perm: Vec<String> = (0..shape.len()).rev().map(|i| i.to_string()).collect();
        self.op("transpose", &[of], &format!(" {{perm = array<i64: {}>}}", perm.join(", ")), &shape)
    }

    fn relu(&mut self, of: usize) -> usize {
        let ((of, shape), name) = (self.values[of].clone(), format!("%v{}", self.values.len()));
        let _ = writeln!(self.body, "  {name} = graph.relu {of} : {}", tensor(&shape));
        self.value(name, &shape)
    }

    fn matmul(&mut self, a: usize, b: usize) -> usize {
        let shape = [self.values[a].1[0], self.values[b].1[1]];
        self.op("matmul", &[a, b], "", &shape)
    }

    fn finish(self, results: &[usize]) -> Program {
        let names: Vec<&str> = results.iter().map(|&i| self.values[i].0.as_str()).collect();
        let types: Vec<String> = results.iter().map(|&i| tensor(&self.values[i].1)).collect();
        let (names, types, args) = (names.join(", "), types.join(", "), self.args.join(", "));
        let text = format!("func.func @f({args}) -> ({types}) {{\n{}  return {names} : {types}\n}}\n", self.body);
        Program { text }
    }
}

fn tensor(shape: &[i64]) -> String {
    let dims: String = shape.iter().map(|d| format!("{d}x")).collect();
    format!("tensor<{dims}f32>")
}

fn reversed(shape: &[i64]) -> Shape {
    shape.iter().rev().copied().collect()
}

fn nested(shape: &[i64], one: &mut dyn FnMut() -> &'static str) -> String {
    let Some((&first, rest)) = shape.split_first() else { return one().to_owned() };
    let all: Vec<String> = (0..first).map(|_| nested(rest, one)).collect();
    format!("[{}]", all.join(", "))
}

/// Returns a program per op, over a grid of shapes and densities.
pub fn singles() -> Vec<Program> {
    let (mut all, mut random) = (Vec::new(), Random::of("singles"));
    for shape in [&[16][..], &[4, 8], &[1, 8, 4, 4], &[2, 16, 3, 3], &[1, 64, 8, 8], &[1, 1, 1, 1], &[1, 3, 5]] {
        let channel: Shape = shape.iter().enumerate().map(|(i, &d)| if i == 1 { d } else { 1 }).collect();
        let row: Shape = shape.iter().enumerate().map(|(i, &d)| if i + 1 == shape.len() { d } else { 1 }).collect();
        for other in [shape, &channel, &row, &vec![1; shape.len()]] {
            for constant in [false, true] {
                let mut w = Writer::default();
                let x = w.arg(shape);
                let y = if constant { w.constant(other, 100, &mut random) } else { w.arg(other) };
                let product = w.op("mul", &[x, y], "", shape);
                all.push(w.finish(&[product]));
            }
        }
        // An outer product.
        let one = |(i, &d): (usize, &i64)| if 2 * i < shape.len() { [d, 1] } else { [1, d] };
        let (left, right): (Shape, Shape) = shape.iter().enumerate().map(one).map(Into::<(i64, i64)>::into).unzip();
        let mut w = Writer::default();
        let (x, y) = (w.arg(&left), w.arg(&right));
        let product = w.op("mul", &[x, y], "", shape);
        all.push(w.finish(&[product]));
    }
    for [m, k, n] in [[1, 1, 1], [1, 64, 16], [4, 18, 64], [16, 9, 1], [32, 32, 8], [64, 24, 3], [3, 48, 48]] {
        let mut w = Writer::default();
        let (a, b) = (w.arg(&[m, k]), w.arg(&[k, n]));
        let product = w.matmul(a, b);
        all.push(w.finish(&[product]));
        for density in [0, 3, 10, 30, 50, 70, 100] {
            for right in [false, true] {
                let mut w = Writer::default();
                let (dense, sparse) = if right { ([m, k], [k, n]) } else { ([k, n], [m, k]) };
                let other = w.arg(&dense);
                let sparse = w.constant(&sparse, density, &mut random);
                let product = if right { w.matmul(other, sparse) } else { w.matmul(sparse, other) };
                all.push(w.finish(&[product]));
            }
        }
    }
    all
}

/// Products of 8-bit matrices: wrapped, in i32 with and without zero points, and requantized.
pub fn integers() -> Vec<Program> {
    let mut all = Vec::new();
    for [m, k, n] in [[1, 1, 1], [1, 64, 16], [4, 18, 64], [16, 9, 1], [2, 9, 96], [32, 288, 8], [64, 24, 3]] {
        let (a, b, wide) =
            (format!("tensor<{m}x{k}xui8>"), format!("tensor<{k}x{n}xi8>"), format!("tensor<{m}x{n}xi32>"));
        for (zeros, values, types) in [
            ("", "", ""),
            (" a_zero %y", ", %y: tensor<ui8>", ", tensor<ui8>"),
            (" b_zero %z", ", %z: tensor<1xi8>", ", tensor<1xi8>"),
            (" a_zero %y b_zero %z", ", %y: tensor<ui8>, %z: tensor<i8>", ", tensor<ui8>, tensor<i8>"),
        ] {
            all.push(Program {
                text: format!(
                    "func.func @f(%a: {a}, %b: {b}{values}) -> {wide} {{\n  %0 = graph.matmul_integer %a, %b{zeros} : ({a}, {b}{types}) -> {wide}\n  return %0 : {wide}\n}}\n"
                ),
            });
        }
        let (a, bytes) = (format!("tensor<{m}x{k}xi8>"), format!("tensor<{m}x{n}xi8>"));
        all.push(Program {
            text: format!(
                "func.func @f(%a: {a}, %b: {b}) -> {bytes} {{\n  %0 = graph.matmul %a, %b : ({a}, {b}) -> {bytes}\n  return %0 : {bytes}\n}}\n"
            ),
        });
        all.push(Program {
            text: format!(
                "func.func @f(%a: {a}, %b: {b}) -> {bytes} {{\n  %s = graph.constant dense<0.5> : tensor<f32>\n  %z = graph.constant dense<3> : tensor<i8>\n  %0 = graph.qlinear_matmul %a, %s, %z, %b, %s, %z, %s, %z : ({a}, tensor<f32>, tensor<i8>, {b}, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> {bytes}\n  return %0 : {bytes}\n}}\n"
            ),
        });
    }
    all
}

/// Extents of matrices.
const EXTENTS: [i64; 6] = [1, 4, 9, 16, 24, 32];
/// Percentages of nonzero elements of constants.
const DENSITIES: [u64; 5] = [3, 10, 30, 50, 100];

/// Returns a chain of products with transposes, reshapes and other ops between them; some values have several uses.
pub fn chain(products: u64, random: &mut Random) -> Program {
    let mut w = Writer::default();
    let shape = [random.pick(&EXTENTS), random.pick(&EXTENTS)];
    let mut value = w.arg(&shape);
    let mut kept = Vec::new();
    for _ in 0..products {
        for _ in 0..random.below(3) {
            value = between(&mut w, value, random);
        }
        value = product(&mut w, value, random);
        if random.percent(15) {
            kept.push(value);
        }
    }
    if random.percent(30) {
        value = between(&mut w, value, random);
    }
    kept.retain(|&other| other != value);
    kept.push(value);
    w.finish(&kept)
}

/// Returns an op between products.
fn between(w: &mut Writer, of: usize, random: &mut Random) -> usize {
    let shape = w.values[of].1.clone();
    match random.below(4) {
        0 | 1 => w.transpose(of),
        2 => {
            let (rows, columns) = (shape[0], shape[1]);
            let factor = random.pick(&[2, 3, 4, rows]);
            let shape = if rows % factor == 0 { [rows / factor, columns * factor] } else { [columns, rows] };
            w.reshape(of, &shape)
        }
        _ => w.relu(of),
    }
}

/// Returns a product with a new operand or an existing value.
fn product(w: &mut Writer, of: usize, random: &mut Random) -> usize {
    let shape = w.values[of].1.clone();
    match random.below(9) {
        8 => {
            let earlier: Vec<usize> = (0..w.values.len()).filter(|&i| w.values[i].1 == shape).collect();
            let other = random.pick(&earlier);
            w.op("mul", &[of, other], "", &shape)
        }
        0 => {
            let other = w.arg(&shape);
            let both = if random.percent(50) { [of, other] } else { [other, of] };
            w.op("mul", &both, "", &shape)
        }
        1 => w.op("mul", &[of, of], "", &shape),
        2 => {
            let image = [1, shape[0], shape[1], 1];
            let (x, factors) = (w.reshape(of, &image), w.arg(&[1, shape[0], 1, 1]));
            let product = w.op("mul", &[x, factors], "", &image);
            w.reshape(product, &shape)
        }
        3 => {
            let transposed = w.transpose(of);
            w.matmul(of, transposed)
        }
        n => {
            let (extent, right) = (random.pick(&EXTENTS), random.percent(50));
            let other: Shape = if right { vec![shape[1], extent] } else { vec![extent, shape[0]] };
            let density = random.pick(&DENSITIES);
            let other = if n < 6 { w.constant(&other, density, random) } else { w.arg(&other) };
            if right { w.matmul(of, other) } else { w.matmul(other, of) }
        }
    }
}
