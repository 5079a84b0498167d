//! Single ops with rare shapes and numbers.

use super::{compiled, run, run_by_kernels};
use crate::support::parse;
use gradus::Tool;
use gradus::ir::DType;
use gradus::ir::eval::{Datum, floats_to_tensor};

/// Input values, cyclic: plain ones, and NaN, infinities and negative zero.
const PLAIN: [f64; 7] = [0.5, -1.5, 2.5, 0.0, -3.0, 4.25, 1.0];
const ODD: [f64; 9] = [0.5, f64::NAN, -1.5, -0.0, f64::INFINITY, 300.0, -300.0, f64::NEG_INFINITY, 2.5];

/// Constants, by name and value; the op, whose first operand is `%x`; the types of operands and of the result.
type Case = (&'static [(&'static str, &'static str)], &'static str, &'static [&'static str], &'static str);

const CASES: &[Case] = &[
    (&[], "softmax %x {axis = 1 : i64}", &["2x3x4xf32"], "2x3x4xf32"),
    (&[], "softmax %x {axis = -3 : i64}", &["2x3x4xf32"], "2x3x4xf32"),
    (&[], "softmax %x", &["0x3xf32"], "0x3xf32"),
    (&[], "softmax %x", &["3x0xf32"], "3x0xf32"),
    (&[], "log_softmax %x {axis = 0 : i64}", &["3x4xf32"], "3x4xf32"),
    (&[], "lrn %x {size = 4 : i64}", &["2x5x3xf32"], "2x5x3xf32"),
    (&[], "lrn %x {size = 1 : i64, beta = 0.5 : f32}", &["1x2xf32"], "1x2xf32"),
    (&[], "lrn %x {size = 9 : i64}", &["1x0x2xf32"], "1x0x2xf32"),
    (&[], "lrn %x {size = 4 : i64, axis = -1 : i64}", &["2x3x5xf32"], "2x3x5xf32"),
    (&[], "lrn %x {size = 9 : i64, axis = 2 : i64}", &["1x2x1xf32"], "1x2x1xf32"),
    (&[], "lrn %x {size = 3 : i64, axis = 1 : i64}", &["2x0xf32"], "2x0xf32"),
    (&[], "sign %x", &["18xf32"], "18xf32"),
    (&[], "round %x", &["18xf32"], "18xf32"),
    (&[], "log %x", &["18xf32"], "18xf32"),
    (&[], "erf %x", &["18xf32"], "18xf32"),
    (&[], "gelu %x", &["18xf32"], "18xf32"),
    (&[], "softplus %x", &["18xf32"], "18xf32"),
    (&[], "softsign %x", &["18xf32"], "18xf32"),
    (&[], "mish %x", &["18xf32"], "18xf32"),
    (&[], "elu %x", &["18xf32"], "18xf32"),
    (&[], "selu %x", &["18xf32"], "18xf32"),
    (&[], "thresholded_relu %x", &["18xf32"], "18xf32"),
    (&[], "sin %x", &["18xf32"], "18xf32"),
    (&[], "cos %x", &["18xf32"], "18xf32"),
    (&[("e", "dense<[2.0, 0.5, -1.0]> : tensor<3xf32>")], "pow %x, %e", &["9x1xf32", "3xf32"], "9x3xf32"),
    (&[("e", "dense<3> : tensor<i32>")], "pow %x, %e", &["9xf32", "i32"], "9xf32"),
    (&[], "softmax %x", &["3x37xf32"], "3x37xf32"),
    (
        &[("s", "dense<0.5> : tensor<21xf32>"), ("b", "dense<2.0> : tensor<1x21xf32>")],
        "layer_normalization %x, %s, %b",
        &["4x21xf32", "21xf32", "1x21xf32"],
        "4x21xf32",
    ),
    (
        &[("s", "dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>")],
        "layer_normalization %x, %s {axis = 1 : i64, epsilon = 0.5 : f32}",
        &["3x2x2xf32", "2x2xf32"],
        "3x2x2xf32",
    ),
    (&[("s", "dense<2.0> : tensor<1xf32>")], "layer_normalization %x, %s", &["3x4xf32", "1xf32"], "3x4xf32"),
    (&[("s", "dense<0.5> : tensor<5xf32>")], "rms_normalization %x, %s", &["4x5xf32", "5xf32"], "4x5xf32"),
    (
        &[("i", "dense<[[2, -1], [0, 1]]> : tensor<2x2xi64>")],
        "gather %x, %i {axis = 1 : i64}",
        &["2x3x4xf32", "2x2xi64"],
        "2x2x2x4xf32",
    ),
    (&[("i", "dense<-3> : tensor<i32>")], "gather %x, %i", &["3x4xf32", "i32"], "4xf32"),
    (&[("i", "dense<> : tensor<0xi64>")], "gather %x, %i", &["3x4xf32", "0xi64"], "0x4xf32"),
    (&[], "reduce_sum %x", &["3x7xf32"], "1x1xf32"),
    (
        &[("a", "dense<[-2, 1]> : tensor<2xi64>")],
        "reduce_sum %x, %a {keepdims = 0 : i64}",
        &["2x3x4x5xf32", "2xi64"],
        "2x5xf32",
    ),
    (&[("a", "dense<[0, 2]> : tensor<2xi64>")], "reduce_sum %x, %a", &["2x3x4xf32", "2xi64"], "1x3x1xf32"),
    (&[], "reduce_mean %x", &["3x7xf32"], "1x1xf32"),
    (
        &[("a", "dense<[-2, 1]> : tensor<2xi64>")],
        "reduce_mean %x, %a {keepdims = 0 : i64}",
        &["2x3x4x5xf32", "2xi64"],
        "2x5xf32",
    ),
    (&[("a", "dense<[0, 2]> : tensor<2xi64>")], "reduce_mean %x, %a", &["2x3x4xf32", "2xi64"], "1x3x1xf32"),
    (&[], "reduce_max %x", &["3x7xf32"], "1x1xf32"),
    (
        &[("a", "dense<[-2, 1]> : tensor<2xi64>")],
        "reduce_max %x, %a {keepdims = 0 : i64}",
        &["2x3x4x5xf32", "2xi64"],
        "2x5xf32",
    ),
    (&[("a", "dense<[0, 2]> : tensor<2xi64>")], "reduce_max %x, %a", &["2x3x4xf32", "2xi64"], "1x3x1xf32"),
    (&[], "reduce_min %x", &["3x7xf32"], "1x1xf32"),
    (
        &[("a", "dense<[-2, 1]> : tensor<2xi64>")],
        "reduce_min %x, %a {keepdims = 0 : i64}",
        &["2x3x4x5xf32", "2xi64"],
        "2x5xf32",
    ),
    (&[("a", "dense<[0, 2]> : tensor<2xi64>")], "reduce_min %x, %a", &["2x3x4xf32", "2xi64"], "1x3x1xf32"),
    (&[], "reduce_l2 %x", &["3x7xf32"], "1x1xf32"),
    (
        &[("a", "dense<[-2, 1]> : tensor<2xi64>")],
        "reduce_l2 %x, %a {keepdims = 0 : i64}",
        &["2x3x4x5xf32", "2xi64"],
        "2x5xf32",
    ),
    (&[("a", "dense<[0, 2]> : tensor<2xi64>")], "reduce_l2 %x, %a", &["2x3x4xf32", "2xi64"], "1x3x1xf32"),
    (&[], "reduce_sum_square %x", &["3x7xf32"], "1x1xf32"),
    (
        &[("a", "dense<[-2, 1]> : tensor<2xi64>")],
        "reduce_sum_square %x, %a {keepdims = 0 : i64}",
        &["2x3x4x5xf32", "2xi64"],
        "2x5xf32",
    ),
    (&[("a", "dense<[0, 2]> : tensor<2xi64>")], "reduce_sum_square %x, %a", &["2x3x4xf32", "2xi64"], "1x3x1xf32"),
    (&[("a", "dense<1> : tensor<1xi64>")], "reduce_max %x, %a", &["3x0xf32", "1xi64"], "3x1xf32"),
    (&[("a", "dense<1> : tensor<1xi64>")], "reduce_sum %x, %a", &["0x3xf32", "1xi64"], "0x1xf32"),
    (&[], "arg_max %x {axis = 1 : i64}", &["3x18xf32"], "3x1xi64"),
    (&[], "arg_max %x {axis = 0 : i64, keepdims = 0 : i64, select_last_index = 1 : i64}", &["5x3x2xf32"], "3x2xi64"),
    (&[], "arg_min %x {axis = -1 : i64, select_last_index = 1 : i64}", &["3x18xf32"], "3x1xi64"),
    (&[], "arg_min %x", &["9x4xf32"], "1x4xi64"),
    (&[], "relu %x", &["f32"], "f32"),
    (&[], "relu %x", &["2x0xf32"], "2x0xf32"),
    (&[], "leaky_relu %x {alpha = -0.5 : f32}", &["9xf32"], "9xf32"),
    (&[], "hard_sigmoid %x", &["9xf32"], "9xf32"),
    (&[], "hard_swish %x", &["9xf32"], "9xf32"),
    (&[], "swish %x", &["18xf32"], "18xf32"),
    (&[], "sigmoid %x", &["18xf32"], "18xf32"),
    (&[], "tanh %x", &["18xf32"], "18xf32"),
    (&[], "exp %x", &["18xf32"], "18xf32"),
    (&[], "sqrt %x", &["9xf32"], "9xf32"),
    (&[], "reciprocal %x", &["9xf32"], "9xf32"),
    (&[], "neg %x", &["9xf32"], "9xf32"),
    (&[], "abs %x", &["9xf32"], "9xf32"),
    (&[], "floor %x", &["9xf32"], "9xf32"),
    (&[], "ceil %x", &["9xf32"], "9xf32"),
    (
        &[("l", "dense<2.0> : tensor<f32>"), ("h", "dense<-1.0> : tensor<f32>")],
        "clip %x min %l max %h",
        &["9xf32", "f32", "f32"],
        "9xf32",
    ),
    (&[("h", "dense<1.0> : tensor<f32>")], "clip %x max %h", &["9xf32", "f32"], "9xf32"),
    (
        &[("s", "dense<[[0.5], [-2.0], [0.0]]> : tensor<3x1xf32>")],
        "prelu %x, %s",
        &["2x3x4xf32", "3x1xf32"],
        "2x3x4xf32",
    ),
    (&[("s", "dense<[1.0, 0.0]> : tensor<2xf32>")], "max %x, %s, %x", &["9x1xf32", "2xf32", "9x1xf32"], "9x2xf32"),
    (&[("s", "dense<[1.0, 0.0]> : tensor<2xf32>")], "min %x, %s", &["9x1xf32", "2xf32"], "9x2xf32"),
    (&[("s", "dense<0.0> : tensor<1x1x1xf32>")], "div %x, %s", &["9xf32", "1x1x1xf32"], "1x1x9xf32"),
    (&[], "max %x", &["9xf32"], "9xf32"),
    (&[], "sum %x, %x, %x", &["9xf32", "9xf32", "9xf32"], "9xf32"),
    (&[], "sub %x, %x", &["2x1x3xf32", "2x1x3xf32"], "2x1x3xf32"),
    (&[("p", "dense<[1, -1, 0, 2]> : tensor<4xi64>")], "pad %x, %p", &["3x3xf32", "4xi64"], "4x4xf32"),
    (
        &[
            ("p", "dense<[1, 2]> : tensor<2xi64>"),
            ("v", "dense<7.0> : tensor<f32>"),
            ("a", "dense<-2> : tensor<1xi64>"),
        ],
        "pad %x, %p value %v axes %a",
        &["3x3xf32", "2xi64", "f32", "1xi64"],
        "6x3xf32",
    ),
    (&[("p", "dense<[1, 2]> : tensor<2xi64>")], "pad %x, %p", &["0xf32", "2xi64"], "3xf32"),
    (
        &[
            ("s", "dense<[-1, 1]> : tensor<2xi64>"),
            ("e", "dense<[-100, 100]> : tensor<2xi64>"),
            ("a", "dense<[1, 0]> : tensor<2xi64>"),
            ("t", "dense<[-2, 2]> : tensor<2xi64>"),
        ],
        "slice %x, %s, %e axes %a steps %t",
        &["4x5xf32", "2xi64", "2xi64", "2xi64", "2xi64"],
        "2x3xf32",
    ),
    (
        &[
            ("s", "dense<-3> : tensor<1xi64>"),
            ("e", "dense<100> : tensor<1xi64>"),
            ("a", "dense<-1> : tensor<1xi64>"),
            ("t", "dense<2> : tensor<1xi64>"),
        ],
        "slice %x, %s, %e axes %a steps %t",
        &["4x5xf32", "1xi64", "1xi64", "1xi64", "1xi64"],
        "4x2xf32",
    ),
    (
        &[("s", "dense<3> : tensor<1xi64>"), ("e", "dense<1> : tensor<1xi64>")],
        "slice %x, %s, %e",
        &["4x5xf32", "1xi64", "1xi64"],
        "0x5xf32",
    ),
    (&[("s", "dense<[2, 3, 4]> : tensor<3xi64>")], "expand %x, %s", &["3x1xf32", "3xi64"], "2x3x4xf32"),
    (&[("s", "dense<[2, 1]> : tensor<2xi64>")], "expand %x, %s", &["3x2x4xf32", "2xi64"], "3x2x4xf32"),
    (&[("s", "dense<0> : tensor<1xi64>")], "expand %x, %s", &["1xf32", "1xi64"], "0xf32"),
    (&[], "concat %x, %x {axis = -1 : i64}", &["2x3xf32", "2x3xf32"], "2x6xf32"),
    (&[], "concat %x, %x {axis = 0 : i64}", &["0x3xf32", "0x3xf32"], "0x3xf32"),
    (&[], "transpose %x", &["2x3x4xf32"], "4x3x2xf32"),
    (&[], "transpose %x {perm = array<i64: 0, 2, 1>}", &["3x2x17xf32"], "3x17x2xf32"),
    (&[], "transpose %x {perm = array<i64: 0, 2, 1>}", &["3x4x17xf32"], "3x17x4xf32"),
    (&[], "transpose %x {perm = array<i64: 1, 0>}", &["3x17xf32"], "17x3xf32"),
    (&[], "transpose %x {perm = array<i64: 1, 0>}", &["40x37xf32"], "37x40xf32"),
    (&[], "transpose %x {perm = array<i64: 1, 0>}", &["8x5xf32"], "5x8xf32"),
    (&[], "transpose %x {perm = array<i64: 0, 1, 3, 2>}", &["2x3x5x7xf32"], "2x3x7x5xf32"),
    (&[], "transpose %x", &["f32"], "f32"),
    (&[], "transpose %x", &["2x0xf32"], "0x2xf32"),
    (&[], "flatten %x {axis = 0 : i64}", &["2x3xf32"], "1x6xf32"),
    (
        &[("s", "dense<0.5> : tensor<f32>"), ("z", "dense<-3> : tensor<i8>")],
        "quantize_linear %x, %s, %z",
        &["9xf32", "f32", "i8"],
        "9xi8",
    ),
    (
        &[("s", "dense<0.5> : tensor<f32>"), ("z", "dense<130> : tensor<ui8>")],
        "quantize_linear %x, %s, %z",
        &["9xf32", "f32", "ui8"],
        "9xui8",
    ),
    (
        &[("s", "dense<[0.5, 2.0]> : tensor<2xf32>"), ("z", "dense<[1, 2]> : tensor<2xi8>")],
        "quantize_linear %x, %s, %z {axis = -2 : i64}",
        &["2x9xf32", "2xf32", "2xi8"],
        "2x9xi8",
    ),
    (
        &[],
        "max_pool %x {kernel_shape = array<i64: 2, 2>, pads = array<i64: 1, 0, 1, 1>}",
        &["1x2x3x3xf32"],
        "1x2x4x3xf32",
    ),
    (
        &[],
        "max_pool %x {kernel_shape = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 2>, ceil_mode = 1 : i64}",
        &["1x2x6xf32"],
        "1x2x3xf32",
    ),
    (
        &[],
        "average_pool %x {kernel_shape = array<i64: 3>, strides = array<i64: 2>, ceil_mode = 1 : i64}",
        &["1x2x6xf32"],
        "1x2x3xf32",
    ),
    (
        &[],
        "average_pool %x {kernel_shape = array<i64: 3>, strides = array<i64: 2>, pads = array<i64: 1, 1>, ceil_mode = 1 : i64, count_include_pad = 1 : i64}",
        &["1x2x7xf32"],
        "1x2x4xf32",
    ),
    (&[], "global_average_pool %x", &["2x3x1x5xf32"], "2x3x1x1xf32"),
    (&[], "global_max_pool %x", &["2x3x4xf32"], "2x3x1xf32"),
    (
        &[("w", "dense<[[[1.0, 0.0]], [[-1.0, 2.0]]]> : tensor<2x1x2xf32>")],
        "conv %x, %w {group = 2 : i64, pads = array<i64: 1, 1>}",
        &["1x2x4xf32", "2x1x2xf32"],
        "1x2x5xf32",
    ),
    (
        &[("w", "dense<[[[1.0, 0.0], [0.0, 1.0]]]> : tensor<1x2x2xf32>")],
        "conv %x, %w {pads = array<i64: 2, 1>}",
        &["2x2x4xf32", "1x2x2xf32"],
        "2x1x6xf32",
    ),
    (
        &[("w", "dense<[[[1.0, 0.0], [0.0, 1.0]]]> : tensor<1x2x2xf32>")],
        "conv %x, %w",
        &["0x2x4xf32", "1x2x2xf32"],
        "0x1x3xf32",
    ),
    (
        &[("w", "dense<[[1.0, 0.0], [0.0, -1.0], [2.0, 0.5]]> : tensor<3x2xf32>")],
        "matmul %x, %w",
        &["2x3xf32", "3x2xf32"],
        "2x2xf32",
    ),
    (&[("w", "dense<[1.0, 0.0, 2.0]> : tensor<3xf32>")], "matmul %x, %w", &["4x3xf32", "3xf32"], "4xf32"),
    (&[("w", "dense<> : tensor<0x2xf32>")], "matmul %x, %w", &["2x0xf32", "0x2xf32"], "2x2xf32"),
    (
        &[("w", "dense<[[1.0, 0.0]]> : tensor<1x2xf32>"), ("c", "dense<[[1.0], [2.0]]> : tensor<2x1xf32>")],
        "gemm %x, %w, %c {alpha = 0.5 : f32, transA = 1 : i64}",
        &["1x2xf32", "1x2xf32", "2x1xf32"],
        "2x2xf32",
    ),
];

fn program(case: &Case) -> String {
    let &(constants, op, operands, result) = case;
    let constants: String =
        constants.iter().map(|(name, value)| format!("  %{name} = graph.constant {value}\n")).collect();
    let tensors: Vec<String> = operands.iter().map(|ty| format!("tensor<{ty}>")).collect();
    let [x, result] = [operands[0], result].map(|ty| format!("tensor<{ty}>"));
    // An op with equal operand and result types spells the type once.
    let is_short = |m: &str| parse(&Tool::gradus().context(), m).is_some();
    let with = |types: &str| {
        format!(
            "func.func @main(%x: {x}) -> {result} {{\n{constants}  %0 = graph.{op} : {types}\n  return %0 : {result}\n}}\n"
        )
    };
    let short = with(&x);
    if is_short(&short) { short } else { with(&format!("({}) -> {result}", tensors.join(", "))) }
}

/// Returns the difference between a compiled program and the reference, if any.
fn check(tool: &Tool, case: &Case, numbers: &[f64]) -> Result<(), String> {
    let text = program(case);
    let m = parse(&tool.context(), &text).ok_or_else(|| format!("it is not valid: {text}"))?;
    let extents = case.2[0].trim_end_matches("f32").split('x').filter(|d| !d.is_empty());
    let shape: Vec<usize> = extents.map(|d| d.parse().expect("an extent")).collect();
    let all = (0..shape.iter().product()).map(|i: usize| numbers[i % numbers.len()]).collect();
    let input = Datum::Tensor(floats_to_tensor(DType::F32, &shape, all));
    let (want, (have, _)) = (run(&m, &input), run_by_kernels(&compiled(tool, &m, "{layout=auto}"), &input));
    let (have, want) = (have.tensor().expect("a tensor"), want.tensor().expect("a tensor"));
    let near = |(a, b): (&f64, &f64)| a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= 1e-5 * b.abs().max(1e-30);
    let is_same = have.shape() == want.shape()
        && have.dtype() == want.dtype()
        && have.to_f64().iter().zip(&want.to_f64()).all(near);
    if is_same { Ok(()) } else { Err(format!("{text}{:?}\n{:?}", have.to_f64(), want.to_f64())) }
}

#[test]
fn single_ops_are_what_the_reference_says() {
    let tool = Tool::gradus();
    let all = CASES.iter().flat_map(|case| [(case, &PLAIN[..]), (case, &ODD[..])]);
    let failed: Vec<String> = all.filter_map(|(case, numbers)| check(&tool, case, numbers).err()).collect();
    assert!(failed.is_empty(), "{} differ:\n{}", failed.len(), failed.join("\n"));
}
