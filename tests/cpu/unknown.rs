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
