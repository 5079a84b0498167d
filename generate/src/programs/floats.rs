//! Floats of several widths: conversions one after another, whose intermediate rounding shows, and arithmetic near ties, limits and zero.

use super::writer::ProgramWriter;
use gradus_ir::random::Random;

/// Types with their widths; vectors and tensors of a few elements too.
const TYPES: [(&str, u32); 4] = [("f16", 16), ("bf16", 16), ("f32", 32), ("f64", 64)];

/// Numbers of f64 beside ties of 8 and 11 bits: rounded to f32 first, they are ties.
const BESIDE_TIES: [&str; 6] =
    ["1.0039062501", "1.0039062499", "1.0117187501", "1.0004882813", "1.0004882812", "1.0014648437"];

/// Ties of 8, 11 and 24 bits, limits of types, and numbers below their normal ones. The second one of a pair has the range of f16.
const NUMBERS: [(&str, &str); 14] = [
    ("1.00390625", "1.00390625"),
    ("1.01171875", "1.00048828125"),
    ("1.0000000596046448", "1.00146484375"),
    ("257.0", "257.0"),
    ("2049.0", "2049.0"),
    ("16777217.0", "2051.0"),
    ("65519.99", "65504.0"),
    ("65520.0", "-65504.0"),
    ("3.38953139e+38", "60000.0"),
    ("3.396e+38", "-60000.0"),
    ("1.0e-40", "6.0e-8"),
    ("2.98023224e-8", "9.0e-8"),
    ("0.1", "0.1"),
    ("-0.0", "-0.0"),
];

/// Draws a function of floats.
pub(super) fn draw(random: &mut Random) -> String {
    let mut w = ProgramWriter::new(random);
    let shape = w.random.pick(&["", "", "", "vector<3x", "tensor<2x", "tensor<2x2x"]);
    let types = TYPES.map(|(ty, width)| (shaped(shape, ty), width));
    let parameters = [&*types[0].0, &types[1].0, &types[2].0, &types[3].0, "i32", "i8", "i1"];
    let results: Vec<usize> = (0..4).map(|_| w.random.below(4) as usize).collect();
    let of_results: Vec<&str> = results.iter().map(|&at| &*types[at].0).collect();
    w.function("func.func @made0", &parameters, &of_results);
    for _ in 0..4 + w.random.below(8) {
        step(&mut w, &types, shape.is_empty());
    }
    let values: Vec<String> = of_results.iter().map(|ty| format!("%v{}", latest(&mut w, ty))).collect();
    w.line(&format!("return {} : {}\n}}", values.join(", "), of_results.join(", ")));
    w.text
}

fn shaped(shape: &str, ty: &str) -> String {
    if shape.is_empty() { ty.to_owned() } else { format!("{shape}{ty}>") }
}

/// Picks a value of a type, recent ones with higher probability.
fn latest(w: &mut ProgramWriter<'_>, ty: &str) -> u32 {
    let known = w.known(ty);
    let n = known.len() as u64;
    let back = w.random.below(n).min(w.random.below(n)) as usize;
    known[known.len() - 1 - back]
}

fn step(w: &mut ProgramWriter<'_>, types: &[(String, u32); 4], is_scalar: bool) {
    let at = w.random.below(4) as usize;
    let (ty, width) = &types[at];
    match w.random.below(10) {
        0..2 => constant(w, ty, *width, is_scalar),
        2..6 => conversion(w, types, at),
        6 if is_scalar => from_integer(w, ty),
        7 => {
            let (a, b) = (latest(w, ty), latest(w, ty));
            let predicate = w.random.pick(&["olt", "ogt", "oeq", "une", "ult", "ord"]);
            let flag = w.name();
            w.line(&format!("%v{flag} = arith.cmpf {predicate}, %v{a}, %v{b} : {ty}"));
            let flags = flags(ty);
            w.op(
                ty,
                &format!(
                    "arith.select %v{flag}, %v{a}, %v{b} : {}",
                    if is_scalar { ty.clone() } else { format!("{flags}, {ty}") }
                ),
            );
        }
        _ => {
            let op = w.random.pick(&["addf", "subf", "mulf", "divf", "maximumf", "minnumf", "remf"]);
            let (a, b) = (latest(w, ty), latest(w, ty));
            w.op(ty, &format!("arith.{op} %v{a}, %v{b} : {ty}"));
        }
    }
}

/// Returns the type of flags of the elements of a type.
fn flags(ty: &str) -> String {
    match ty.rsplit_once('x') {
        Some((shape, _)) => format!("{shape}xi1>"),
        None => "i1".to_owned(),
    }
}

/// Writes one of the numbers, or one of two of them by a flag, so that it is not known.
fn constant(w: &mut ProgramWriter<'_>, ty: &str, width: u32, is_scalar: bool) {
    let one = |w: &mut ProgramWriter<'_>| {
        let (wide, narrow) = w.random.pick(&NUMBERS);
        let number = match width {
            64 if w.random.percent(60) => w.random.pick(&BESIDE_TIES),
            16 if !ty.contains("bf16") => narrow,
            _ => wide,
        };
        let text = if is_scalar { number.to_owned() } else { format!("dense<{number}>") };
        w.op(ty, &format!("arith.constant {text} : {ty}"))
    };
    let (flag, first) = (w.known("i1")[0], one(w));
    if w.random.percent(70) {
        let second = one(w);
        w.op(ty, &format!("arith.select %v{flag}, %v{first}, %v{second} : {ty}"));
    }
}

/// Converts a float to a type of another width, often back or to a third type at once, or one of f64 to f32 and to 16 bits.
fn conversion(w: &mut ProgramWriter<'_>, types: &[(String, u32); 4], from: usize) {
    let (any, narrow) = ([0, 1, 2].map(|_| w.random.below(4) as usize), w.random.below(2) as usize);
    let count = 1 + w.random.below(3) as usize;
    let (mut from, path) = if w.random.percent(40) { (3, vec![2, narrow]) } else { (from, any[..count].to_vec()) };
    let mut value = latest(w, &types[from].0);
    for to in path {
        let ((of, width), (ty, other)) = (&types[from], &types[to]);
        if width == other {
            continue;
        }
        let op = if width > other { "truncf" } else { "extf" };
        value = w.op(ty, &format!("arith.{op} %v{value} : {of} to {ty}"));
        from = to;
    }
}

/// Converts an integer to a float, and often back.
fn from_integer(w: &mut ProgramWriter<'_>, ty: &str) {
    let of = w.random.pick(&["i32", "i8"]);
    let integer = w.pick(of);
    let op = w.random.pick(&["sitofp", "uitofp"]);
    let value = w.op(ty, &format!("arith.{op} %v{integer} : {of} to {ty}"));
    if w.random.percent(40) {
        let op = w.random.pick(&["fptosi", "fptoui"]);
        w.op(of, &format!("arith.{op} %v{value} : {ty} to {of}"));
    }
}
