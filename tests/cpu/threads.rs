//! Results of kernels do not depend on the number of threads, bit by bit.

use super::{compiled, parse};
use gradus::Tool;
use gradus::interp::Interpreter;
use gradus::ir::eval::{Datum, floats_to_tensor};
use gradus::ir::random::Random;
use gradus::ir::{DType, Tensor};
use gradus::runtime::cpu::CompiledFunction;
use gradus::runtime::workers::Workers;

/// Layers large enough to be divided: by rows, columns or channels, with strided output, and by Winograd convolution.
const LAYERS: &str = "
func.func @rows(%x: tensor<1x32x40x40xf32>, %w: tensor<40x32x3x3xf32>) -> tensor<1x40x40x40xf32> {
  %y = graph.conv %x, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x32x40x40xf32>, tensor<40x32x3x3xf32>) -> tensor<1x40x40x40xf32>
  return %y : tensor<1x40x40x40xf32>
}
func.func @columns(%x: tensor<1x1500xf32>, %w: tensor<1500x1300xf32>) -> tensor<1x1300xf32> {
  %y = graph.matmul %x, %w : (tensor<1x1500xf32>, tensor<1500x1300xf32>) -> tensor<1x1300xf32>
  return %y : tensor<1x1300xf32>
}
func.func @channels(%x: tensor<1x40x90x90xf32>, %w: tensor<40x1x3x3xf32>) -> tensor<1x40x90x90xf32> {
  %c = arith.constant dense<0.25> : tensor<40x1x3x3xf32>
  %y = graph.conv %x, %c {group = 40 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x40x90x90xf32>, tensor<40x1x3x3xf32>) -> tensor<1x40x90x90xf32>
  return %y : tensor<1x40x90x90xf32>
}
func.func @beside(%x: tensor<400x70xf32>, %v: tensor<70x90xf32>, %w: tensor<70x50xf32>) -> tensor<400x140xf32> {
  %a = graph.matmul %x, %v : (tensor<400x70xf32>, tensor<70x90xf32>) -> tensor<400x90xf32>
  %b = graph.matmul %x, %w : (tensor<400x70xf32>, tensor<70x50xf32>) -> tensor<400x50xf32>
  %y = graph.concat %a, %b {axis = 1 : i64} : (tensor<400x90xf32>, tensor<400x50xf32>) -> tensor<400x140xf32>
  return %y : tensor<400x140xf32>
}
func.func @fewer(%x: tensor<1x64x48x48xf32>) -> tensor<1x64x46x46xf32> {
  %w = arith.constant dense<0.3> : tensor<64x64x3x3xf32>
  %y = graph.conv %x, %w : (tensor<1x64x48x48xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x46x46xf32>
  return %y : tensor<1x64x46x46xf32>
}
";

fn random(m: &gradus::ir::Module, ty: gradus::ir::Type, random: &mut Random) -> Datum {
    let shape: Vec<usize> = m.ctx.static_shape(ty).expect("extents are known").iter().map(|&d| d as usize).collect();
    let values = (0..shape.iter().product()).map(|_| random.below(2001) as f64 / 1000.0 - 1.0).collect();
    Datum::Tensor(floats_to_tensor(DType::F32, &shape, values))
}

#[test]
fn threads_change_nothing() {
    let tool = Tool::gradus();
    let m = compiled(&tool, &parse(&tool.context(), LAYERS).expect("they are valid"), "{target=cpu}");
    let mut numbers = Random::of("threads");
    for name in ["rows", "columns", "channels", "beside", "fewer"] {
        let function = Interpreter::new(&m).function(name).expect("there is a function");
        let block = m.region_blocks(m.regions(function)[0]).next().expect("there is a block");
        let inputs: Vec<Datum> =
            m.block_args(block).iter().map(|&v| random(&m, m.value_type(v), &mut numbers)).collect();
        let [one, three] = [1, 3].map(|threads| {
            let workers = Workers::new(threads).expect("there are threads");
            let mut program = CompiledFunction::new(&m, function).on(workers);
            let run = |program: &mut CompiledFunction<&gradus::ir::Module>| -> Tensor {
                let results = program.call(inputs.clone()).unwrap_or_else(|stop| panic!("{stop:?}"));
                results[0].tensor().expect("a tensor").clone()
            };
            let first = run(&mut program);
            // A result that the caller keeps is not overwritten.
            assert!(run(&mut program).bytes() == first.bytes(), "{name}");
            first
        });
        assert!(one.bytes() == three.bytes(), "{name}");
    }
}
