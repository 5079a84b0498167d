//! Ops on all number types, and products without constant factors, equal the reference.

use super::{LAYERS, compiled, extents, pick, run, run_by_kernels};
use gradus::Tool;
use gradus::ir::eval::{Datum, floats_to_tensor, ints_to_tensor};
use gradus::ir::random::Random;
use gradus::ir::{DType, Tensor};

/// Element types with their names.
const TYPES: [(&str, DType); 10] = [
    ("i8", DType::I8),
    ("i16", DType::I16),
    ("i32", DType::I32),
    ("i64", DType::I64),
    ("ui8", DType::U8),
    ("ui16", DType::U16),
    ("ui32", DType::U32),
    ("ui64", DType::U64),
    ("f32", DType::F32),
    ("f64", DType::F64),
];

/// Draws elements, some of them extreme; integers wrap to their type. Divisors are not zero.
fn elements(random: &mut Random, dtype: DType, shape: &[usize], is_divisor: bool) -> Tensor {
    let count = shape.iter().product();
    if dtype.is_float() {
        let number = |random: &mut Random| [0.0, -0.0, 1e30, -2.5, 300.75, 2.0, -7.0][random.below(7) as usize];
        return floats_to_tensor(dtype, shape, (0..count).map(|_| number(random)).collect());
    }
    let number = |random: &mut Random| match random.below(4) {
        0 => [i64::MIN, i64::MAX, -1, 127, -128, 255][random.below(6) as usize],
        _ => random.below(17) as i64 - 8,
    };
    let all: Vec<i64> = (0..count).map(|_| number(random)).collect();
    let t = ints_to_tensor(dtype, shape, &all);
    let one = |_| 1 + random.below(7) as i64;
    if is_divisor { ints_to_tensor(dtype, shape, &(0..count).map(one).collect::<Vec<_>>()) } else { t }
}

/// Writes the constant of a tensor.
pub(super) fn constant(name: &str, elem: &str, t: &Tensor) -> String {
    let hex: String = t.bytes().iter().map(|byte| format!("{byte:02X}")).collect();
    let shape = extents(t.shape());
    match t.is_empty() {
        true => format!("  %{name} = graph.constant dense<> : tensor<{shape}{elem}>\n"),
        false => format!("  %{name} = graph.constant dense<\"0x{hex}\"> : tensor<{shape}{elem}>\n"),
    }
}

/// Extents of which the second broadcasts to the first.
fn shapes(random: &mut Random) -> [Vec<usize>; 2] {
    let rank = random.below(4) as usize;
    let shape: Vec<usize> = (0..rank).map(|_| pick(random, &[1, 2, 3, 17, 70])).collect();
    let skipped = random.below(1 + rank as u64) as usize;
    let other = shape[skipped..].iter().map(|&d| if random.below(3) == 0 { 1 } else { d }).collect();
    [shape, other]
}

/// Returns a program of one op, or a few that select and convert.
fn elementwise(random: &mut Random) -> (String, Tensor) {
    let (elem, dtype) = TYPES[random.below(10) as usize];
    let [shape, other] = shapes(random);
    let op =
        ["add", "sub", "mul", "div", "max", "min", "neg", "abs", "relu", "where", "cast"][random.below(11) as usize];
    let (x, c) = (elements(random, dtype, &shape, false), elements(random, dtype, &other, op == "div"));
    let (of, from) = (format!("tensor<{}{elem}>", extents(&shape)), format!("tensor<{}{elem}>", extents(&other)));
    let bools = format!("tensor<{}i1>", extents(&shape));
    let test = ["equal", "less", "less_or_equal", "greater", "greater_or_equal"][random.below(5) as usize];
    let logic = ["and", "or", "xor"][random.below(3) as usize];
    let (to, _) = TYPES[random.below(10) as usize];
    let to = format!("tensor<{}{to}>", extents(&shape));
    let (body, result) = match op {
        "neg" | "abs" | "relu" => (format!("  %y = graph.{op} %x : {of}\n"), &of),
        "cast" if to == of => (format!("  %y = graph.abs %x : {of}\n"), &of),
        "cast" => {
            let name = to.trim_end_matches('>').rsplit(['x', '<']).next().unwrap_or_default();
            (format!("  %y = graph.cast %x to {name} : ({of}) -> {to}\n"), &to)
        }
        "where" => (
            format!(
                "  %0 = graph.{test} %x, %c : ({of}, {from}) -> {bools}\n  %1 = graph.less %c, %x : ({from}, {of}) -> {bools}\n  \
                 %2 = graph.not %1 : {bools}\n  %3 = graph.{logic} %0, %2 : ({bools}, {bools}) -> {bools}\n  \
                 %y = graph.where %3, %c, %x : ({bools}, {from}, {of}) -> {of}\n"
            ),
            &of,
        ),
        _ => (format!("  %y = graph.{op} %x, %c : ({of}, {from}) -> {of}\n"), &of),
    };
    let c = constant("c", elem, &c);
    (format!("func.func @main(%x: {of}) -> {result} {{\n{c}{body}  return %y : {result}\n}}\n"), x)
}

/// Returns a sum or product of quantized tensors; scales are often so that many results are halfway between integers.
fn quantized(random: &mut Random) -> (String, Tensor) {
    let [shape, other] = shapes(random);
    let types = [("i8", DType::I8), ("ui8", DType::U8)];
    let [a, b, c] = [0; 3].map(|_| types[random.below(2) as usize]);
    let (mut text, mut types) = (String::new(), Vec::new());
    for (name, (elem, dtype)) in [("a", a), ("b", b), ("c", c)] {
        let scale = match random.below(3) {
            0 => 0.5,
            1 => [1e-20, 3e38, -0.25, 0.1][random.below(4) as usize],
            _ => (1 + random.below(1000)) as f64 * 1e-4,
        };
        text += &constant(&format!("{name}s"), "f32", &floats_to_tensor(DType::F32, &[], vec![scale]));
        text += &constant(&format!("{name}z"), elem, &ints_to_tensor(dtype, &[], &[random.below(128) as i64]));
        types.push(format!("tensor<f32>, tensor<{elem}>"));
    }
    text += &constant("b", b.0, &elements(random, b.1, &other, false));
    let op = ["qlinear_add", "qlinear_mul"][random.below(2) as usize];
    let (x, of) = (elements(random, a.1, &shape, false), format!("tensor<{}{}>", extents(&shape), a.0));
    let (from, to) = (format!("tensor<{}{}>", extents(&other), b.0), format!("tensor<{}{}>", extents(&shape), c.0));
    let operands = format!("{of}, {}, {from}, {}, {}", types[0], types[1], types[2]);
    let body = format!("  %y = \"graph.{op}\"(%x, %as, %az, %b, %bs, %bz, %cs, %cz) : ({operands}) -> {to}\n");
    (format!("func.func @main(%x: {of}) -> {to} {{\n{text}{body}  return %y : {to}\n}}\n"), x)
}

/// Returns a product of a tensor with its transpose, with a batch of constants, or a scaled and transposed one.
fn product(random: &mut Random) -> (String, Tensor) {
    let (elem, dtype) = TYPES[[2, 3, 7, 8, 8, 9][random.below(6) as usize]];
    let [m, k, n] = [&[1, 3, 20][..], &[1, 4, 70], &[1, 5, 33]].map(|from| pick(random, from));
    let numbers = |random: &mut Random, shape: &[usize]| {
        let all: Vec<i64> = (0..shape.iter().product::<usize>()).map(|_| random.below(9) as i64 - 4).collect();
        match dtype.is_float() {
            true => floats_to_tensor(dtype, shape, all.iter().map(|&x| x as f64).collect()),
            false => ints_to_tensor(dtype, shape, &all),
        }
    };
    let ty = |shape: &[usize]| format!("tensor<{}{elem}>", extents(shape));
    let (text, input, result) = match random.below(3) {
        0 => {
            let batch = [vec![], vec![2], vec![3, 2]][random.below(3) as usize].clone();
            let rank = batch.len() + 2;
            let mut perm: Vec<usize> = (0..rank).collect();
            perm.swap(rank - 1, rank - 2);
            let [x, t, y] = [[m, k], [k, m], [m, m]].map(|d| [&batch[..], &d].concat());
            let body = format!(
                "  %t = graph.transpose %x {{perm = {}}} : ({}) -> {}\n  %y = graph.matmul %x, %t : ({}, {}) -> {}\n",
                super::list(&perm),
                ty(&x),
                ty(&t),
                ty(&x),
                ty(&t),
                ty(&y)
            );
            (body, x, y)
        }
        1 => {
            let x = [vec![m, k], vec![2, 1, m, k], vec![3, m, k], vec![k]][random.below(4) as usize].clone();
            let b = numbers(random, &[3, k, n]);
            let batch = if x.len() == 4 { vec![2, 3] } else { vec![3] };
            let rows = if x.len() == 1 { vec![] } else { vec![m] };
            let y = [batch, rows, vec![n]].concat();
            let types = format!("({}, {}) -> {}", ty(&x), ty(b.shape()), ty(&y));
            (constant("b", elem, &b) + &format!("  %y = graph.matmul %x, %b : {types}\n"), x, y)
        }
        _ if elem != "f32" => return product(random),
        _ => {
            let [trans_a, trans_b] = [0; 2].map(|_| random.below(2) as usize);
            let x = [[m, k], [k, m]][trans_a].to_vec();
            let b = numbers(random, &[[k, n], [n, k]][trans_b]);
            let of_c = [vec![], vec![n], vec![m, 1], vec![m, n]][random.below(4) as usize].clone();
            let c = numbers(random, &of_c);
            let [alpha, beta] = [0; 2].map(|_| [1.0, 0.5, -2.0, 0.0][random.below(4) as usize]);
            let attrs = format!(
                "{{alpha = {alpha:?} : f32, beta = {beta:?} : f32, transA = {trans_a} : i64, transB = {trans_b} : i64}}"
            );
            let types = format!("({}, {}, {}) -> {}", ty(&x), ty(b.shape()), ty(&of_c), ty(&[m, n]));
            let constants = constant("b", elem, &b) + &constant("c", elem, &c);
            (constants + &format!("  %y = graph.gemm %x, %b, %c {attrs} : {types}\n"), x, vec![m, n])
        }
    };
    let (x, y) = (ty(&input), ty(&result));
    let text = format!("func.func @main(%x: {x}) -> {y} {{\n{text}  return %y : {y}\n}}\n");
    (text, numbers(random, &input))
}

/// Returns a product of batches of bytes: of a tensor and a function of its transpose, or of a tensor and constants.
fn byte_product(random: &mut Random) -> (String, Tensor) {
    let types = [("i8", DType::I8), ("ui8", DType::U8)];
    let [a, b, c] = [0; 3].map(|_| types[random.below(2) as usize]);
    let [m, k, n] = [&[1, 3, 40][..], &[1, 4, 70, 197], &[1, 5, 33, 64]].map(|from| pick(random, from));
    let batch = [vec![], vec![2], vec![3, 2]][random.below(3) as usize].clone();
    let of = |last: [usize; 2], elem: &str| format!("tensor<{}{elem}>", extents(&[&batch[..], &last].concat()));
    let (x, is_square) = ([&batch[..], &[m, k]].concat(), random.below(2) == 0);
    let (n, mut text) = if is_square { (m, String::new()) } else { (n, String::new()) };
    if is_square {
        let mut perm: Vec<usize> = (0..x.len()).collect();
        perm.swap(x.len() - 1, x.len() - 2);
        let types = format!("({}) -> {}", of([m, k], a.0), of([k, m], a.0));
        text += &constant("table", b.0, &elements(random, b.1, &[256], false));
        text += &format!("  %t = graph.transpose %x {{perm = {}}} : {types}\n", super::list(&perm));
        let types = format!("({}, tensor<256x{}>) -> {}", of([k, m], a.0), b.0, of([k, m], b.0));
        text += &format!("  %b = graph.table %t, %table : {types}\n");
    } else {
        text += &constant("b", b.0, &elements(random, b.1, &[&batch[..], &[k, n]].concat(), false));
    }
    let each = if random.below(2) == 0 { vec![n] } else { vec![] };
    let (of_a, of_b) = (of([m, k], a.0), of([k, n], b.0));
    text += &constant("az", a.0, &elements(random, a.1, &[], false));
    text += &constant("bz", b.0, &elements(random, b.1, &each, false));
    let zeros = [format!("tensor<{}>", a.0), format!("tensor<{}{}>", extents(&each), b.0)];
    let (op, y) = if random.below(3) == 0 {
        let types = format!("({of_a}, {of_b}, {}, {}) -> {}", zeros[0], zeros[1], of([m, n], "i32"));
        (format!("graph.matmul_integer %x, %b a_zero %az b_zero %bz : {types}"), of([m, n], "i32"))
    } else {
        let scales = (0..each.iter().product()).map(|_| (1 + random.below(99)) as f64 / 512.0).collect();
        text +=
            &constant("as", "f32", &floats_to_tensor(DType::F32, &[], vec![(1 + random.below(99)) as f64 / 4096.0]));
        text += &constant("bs", "f32", &floats_to_tensor(DType::F32, &each, scales));
        text += &constant("cs", "f32", &floats_to_tensor(DType::F32, &[], vec![0.25]));
        text += &constant("cz", c.0, &elements(random, c.1, &[], false));
        let scale = format!("tensor<{}f32>", extents(&each));
        let types =
            format!("{of_a}, tensor<f32>, {}, {of_b}, {scale}, {}, tensor<f32>, tensor<{}>", zeros[0], zeros[1], c.0);
        let y = of([m, n], c.0);
        (format!("\"graph.qlinear_matmul\"(%x, %as, %az, %b, %bs, %bz, %cs, %cz) : ({types}) -> {y}"), y)
    };
    let text = format!("func.func @main(%x: {of_a}) -> {y} {{\n{text}  %y = {op}\n  return %y : {y}\n}}\n");
    (text, elements(random, a.1, &x, false))
}

fn check(kind: &str, count: u64, layer: impl Fn(&mut Random) -> (String, Tensor)) {
    let tool = Tool::gradus();
    let ctx = tool.context();
    for number in 0..count {
        let (text, input) = layer(&mut Random::of((kind, number)));
        let m = super::parse(&ctx, &text).unwrap_or_else(|| panic!("it is valid: {text}"));
        let input = Datum::Tensor(input);
        let (want, (have, reference)) = (run(&m, &input), run_by_kernels(&compiled(&tool, &m, "{target=cpu}"), &input));
        let (have, want) = (have.tensor().expect("a tensor"), want.tensor().expect("a tensor"));
        let is_same = |(a, b): (&f64, &f64)| a == b || a.is_nan() && b.is_nan();
        let agree = match have.dtype().is_float() {
            true => have.to_f64().iter().zip(&want.to_f64()).all(is_same),
            false => have.bytes() == want.bytes(),
        };
        let fits = have.shape() == want.shape() && have.dtype() == want.dtype();
        assert!(agree && fits, "{text}\n{have:?}\n{want:?}");
        assert!(reference.is_empty(), "{reference:?} have no kernel: {text}");
    }
}

#[test]
fn elementwise_ops_of_all_types_are_what_the_reference_says() {
    check("elementwise types", LAYERS / 2, elementwise);
}

#[test]
fn sums_and_products_of_bytes_are_what_the_reference_says() {
    check("qlinear", LAYERS / 4, quantized);
}

#[test]
fn products_without_constants_are_what_the_reference_says() {
    check("products", LAYERS / 4, product);
}

#[test]
fn products_of_bytes_without_constants_are_what_the_reference_says() {
    check("byte products", LAYERS / 4, byte_product);
}
