//! Programs with dynamic shapes: no memory plan, and kernels are selected per op.

use super::{compiled, run, run_by_kernels};
use crate::support::parse;
use gradus::Tool;
use gradus::interp::Interpreter;
use gradus::ir::DType;
use gradus::ir::eval::{Datum, floats_to_tensor, ints_to_tensor};
use gradus::runtime::cpu::CompiledFunction;

/// Constants, and ops whose result shape depends on values, have no kernel.
const RANGE: &str = "
func.func @main(%n: tensor<f32>) -> tensor<?xf32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %step = graph.constant dense<0.5> : tensor<f32>
  %limit = graph.mul %n, %step : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %all = graph.range %zero, %limit, %step : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<?xf32>
  %twice = graph.add %all, %all : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %twice : tensor<?xf32>
}
";

#[test]
fn sizes_need_not_be_known() {
    let tool = Tool::gradus();
    let m = parse(&tool.context(), RANGE).expect("it is valid");
    let input = Datum::Tensor(floats_to_tensor(DType::F32, &[], vec![3.0]));
    let (have, reference) = run_by_kernels(&compiled(&tool, &m, "{layout=auto}"), &input);
    assert_eq!(have.tensor().expect("a tensor").to_f64(), [0.0, 1.0, 2.0]);
    assert_eq!(run(&m, &input).tensor().expect("a tensor").to_f64(), [0.0, 1.0, 2.0]);
    assert_eq!(reference, ["graph.add"]);
}

/// A result type that contradicts the extents at run time is an error, as in reference evaluation.
const WRONG: &str = "
func.func @main(%shape: tensor<1xi64>) -> tensor<6xf32> {
  %x = arith.constant dense<1.0> : tensor<4xf32>
  %wrong = graph.reshape %x, %shape : (tensor<4xf32>, tensor<1xi64>) -> tensor<6xf32>
  %sum = graph.add %wrong, %wrong : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  return %sum : tensor<6xf32>
}
";

#[test]
fn results_of_another_size_are_no_results() {
    let tool = Tool::gradus();
    let m = parse(&tool.context(), WRONG).expect("it is valid");
    let compiled = compiled(&tool, &m, "{layout=auto}");
    let main = Interpreter::new(&compiled).function("main").expect("there is a function");
    for extent in [4, 6] {
        let shape = Datum::Tensor(ints_to_tensor(DType::I64, &[1], &[extent]));
        assert!(CompiledFunction::new(&compiled, main).call(vec![shape]).is_err(), "{extent}");
    }
}

/// Ops with an operand of extents that the others do not have, each with the types of all operands and of the results.
const MISFITS: &[(&str, &[&str], &str)] = &[
    (
        "graph.roi_align %a, %b, %c {output_height = 2 : i64, output_width = 2 : i64, sampling_ratio = 2 : i64}",
        &["1x2x4x4xf32", "3x5xf32", "3xi64"],
        "tensor<3x2x2x2xf32>",
    ),
    (
        "graph.roi_align %a, %b, %c {output_height = 2 : i64, output_width = 2 : i64, sampling_ratio = 2 : i64}",
        &["1x2x4x4xf32", "3x4xf32", "2xi64"],
        "tensor<3x2x2x2xf32>",
    ),
    ("graph.negative_log_likelihood_loss %a, %b, %c", &["4x3xf32", "4xi64", "1xf32"], "tensor<f32>"),
    ("graph.negative_log_likelihood_loss %a, %b", &["4x3x2xf32", "2x4xi64"], "tensor<f32>"),
    (
        "graph.linear_attention %a, %b, %c {kv_num_heads = 1 : i64, q_num_heads = 2 : i64, update_rule = \"linear\"}",
        &["1x4x16xf32", "1x2x8xf32", "1x4x6xf32"],
        "(tensor<1x4x12xf32>, tensor<1x1x8x6xf32>)",
    ),
    (
        "graph.linear_attention %a, %b, %c state %d {kv_num_heads = 1 : i64, q_num_heads = 2 : i64, update_rule = \"linear\"}",
        &["1x4x16xf32", "1x4x8xf32", "1x4x6xf32", "1x1x8x5xf32"],
        "(tensor<1x4x12xf32>, tensor<1x1x8x6xf32>)",
    ),
    (
        "graph.deform_conv %a, %b, %c bias %d",
        &["1x3x8x8xf32", "4x3x2x2xf32", "1x8x7x7xf32", "2xf32"],
        "tensor<1x4x7x7xf32>",
    ),
    (
        "graph.causal_conv_with_state %a, %b past %c",
        &["1x4x8xf32", "4x1x3xf32", "1x4x3xf32"],
        "(tensor<1x4x8xf32>, tensor<1x4x2xf32>)",
    ),
];

#[test]
fn operands_that_do_not_fit_are_errors() {
    let tool = Tool::gradus();
    for (op, types, result) in MISFITS {
        let names = || types.iter().zip('a'..);
        let parameters: Vec<String> = names().map(|(ty, name)| format!("%{name}: tensor<{ty}>")).collect();
        let operands: Vec<String> = types.iter().map(|ty| format!("tensor<{ty}>")).collect();
        let count = if result.starts_with('(') { ":2" } else { "" };
        let first = if result.starts_with('(') { "%r#0" } else { "%r" };
        let of_first = result.trim_start_matches('(').split(", ").next().expect("there is a result");
        let text = format!(
            "func.func @main({}) -> {of_first} {{\n  %r{count} = {op} : ({}) -> {result}\n  return {first} : {of_first}\n}}",
            parameters.join(", "),
            operands.join(", ")
        );
        let m = parse(&tool.context(), &text).unwrap_or_else(|| panic!("{text}"));
        let zeros = |ty: &&str| {
            let (extents, element) = ty.rsplit_once('x').expect("there are extents");
            let shape: Vec<usize> = extents.split('x').map(|extent| extent.parse().expect("extents")).collect();
            let count = shape.iter().product();
            Datum::Tensor(match element {
                "i64" => ints_to_tensor(DType::I64, &shape, &vec![0; count]),
                _ => floats_to_tensor(DType::F32, &shape, vec![0.0; count]),
            })
        };
        let compiled = compiled(&tool, &m, "{layout=auto}");
        let main = Interpreter::new(&compiled).function("main").expect("there is a function");
        let done = CompiledFunction::new(&compiled, main).call(types.iter().map(zeros).collect());
        assert!(done.is_err(), "{op}");
    }
}
