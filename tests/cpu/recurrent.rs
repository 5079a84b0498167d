//! Recurrent layers stay layers on the target, and have kernels.

use super::{parse, passed};
use crate::support::pipeline_of;
use gradus::Tool;
use gradus::interp::Interpreter;
use gradus::ir::eval::{Datum, floats_to_tensor, ints_to_tensor};
use gradus::ir::random::Random;
use gradus::ir::{DType, Module, Op};
use gradus::networks::graph::recurrent_attributes;
use gradus::runtime::cpu::CompiledFunction;
use gradus::runtime::workers::Workers;

/// Layers with all results, with one, with lengths of sequences, with weights that are not constant, and after other ops.
const LAYERS: &str = "
func.func @all(%x: tensor<6x2x9xf32>) -> (tensor<6x2x2x20xf32>, tensor<2x2x20xf32>, tensor<2x2x20xf32>) {
  %w = graph.constant dense<0.125> : tensor<2x80x9xf32>
  %r = graph.constant dense<0.0625> : tensor<2x80x20xf32>
  %y:3 = graph.lstm %x, %w, %r {direction = \"bidirectional\"} : (tensor<6x2x9xf32>, tensor<2x80x9xf32>, tensor<2x80x20xf32>) -> (tensor<6x2x2x20xf32>, tensor<2x2x20xf32>, tensor<2x2x20xf32>)
  return %y#0, %y#1, %y#2 : tensor<6x2x2x20xf32>, tensor<2x2x20xf32>, tensor<2x2x20xf32>
}
func.func @last(%x: tensor<6x4x9xf32>) -> tensor<1x4x20xf32> {
  %w = graph.constant dense<0.125> : tensor<1x60x9xf32>
  %r = graph.constant dense<-0.0625> : tensor<1x60x20xf32>
  %y:2 = graph.gru %x, %w, %r {linear_before_reset = 1 : i64} : (tensor<6x4x9xf32>, tensor<1x60x9xf32>, tensor<1x60x20xf32>) -> (tensor<6x1x4x20xf32>, tensor<1x4x20xf32>)
  %z = graph.relu %y#1 : tensor<1x4x20xf32>
  return %z : tensor<1x4x20xf32>
}
func.func @lengths(%x: tensor<6x4x9xf32>, %n: tensor<4xi32>) -> (tensor<6x1x4x20xf32>, tensor<1x4x20xf32>) {
  %w = graph.constant dense<0.125> : tensor<1x60x9xf32>
  %r = graph.constant dense<-0.0625> : tensor<1x60x20xf32>
  %y:2 = graph.gru %x, %w, %r lengths %n {direction = \"reverse\"} : (tensor<6x4x9xf32>, tensor<1x60x9xf32>, tensor<1x60x20xf32>, tensor<4xi32>) -> (tensor<6x1x4x20xf32>, tensor<1x4x20xf32>)
  return %y#0, %y#1 : tensor<6x1x4x20xf32>, tensor<1x4x20xf32>
}
func.func @weights(%x: tensor<3x6x9xf32>, %w: tensor<1x20x9xf32>, %r: tensor<1x20x20xf32>) -> tensor<3x6x1x20xf32> {
  %y = graph.rnn %x, %w, %r {activations = [\"Relu\"], clip = 0.5 : f32, layout = 1 : i64} : (tensor<3x6x9xf32>, tensor<1x20x9xf32>, tensor<1x20x20xf32>) -> tensor<3x6x1x20xf32>
  return %y : tensor<3x6x1x20xf32>
}
func.func @between(%x: tensor<6x2x9xf32>) -> tensor<6x2x40xf32> {
  %w = graph.constant dense<0.125> : tensor<2x20x9xf32>
  %r = graph.constant dense<0.0625> : tensor<2x20x20xf32>
  %shape = graph.constant dense<[6, 2, 40]> : tensor<3xi64>
  %a = graph.tanh %x : tensor<6x2x9xf32>
  %b = graph.rnn %a, %w, %r {direction = \"bidirectional\"} : (tensor<6x2x9xf32>, tensor<2x20x9xf32>, tensor<2x20x20xf32>) -> tensor<6x2x2x20xf32>
  %c = graph.transpose %b {perm = array<i64: 0, 2, 1, 3>} : (tensor<6x2x2x20xf32>) -> tensor<6x2x2x20xf32>
  %y = graph.reshape %c, %shape : (tensor<6x2x2x20xf32>, tensor<3xi64>) -> tensor<6x2x40xf32>
  return %y : tensor<6x2x40xf32>
}
";

/// Draws the arguments of a function: numbers from -1 to 1, and lengths of sequences.
fn arguments(m: &Module, function: Op, random: &mut Random) -> Vec<Datum> {
    let block = m.region_blocks(m.regions(function)[0]).next().expect("there is a block");
    let argument = |ty| {
        let shape: Vec<usize> = m.ctx.static_shape(ty).expect("known").iter().map(|&d| d as usize).collect();
        Datum::Tensor(match m.ctx.dtype(m.ctx.element_type(ty)) {
            Some(DType::I32) => ints_to_tensor(DType::I32, &shape, &[6, 0, 3, 1]),
            _ => {
                let values = (0..shape.iter().product()).map(|_| random.below(2001) as f64 / 1000.0 - 1.0).collect();
                floats_to_tensor(DType::F32, &shape, values)
            }
        })
    };
    m.block_args(block).iter().map(|&v| m.value_type(v)).map(argument).collect()
}

#[test]
fn layers_stay_layers_and_have_kernels() {
    let tool = Tool::gradus();
    let m = parse(&tool.context(), LAYERS).expect("they are valid");
    let compiled = passed(&tool, &m, &pipeline_of(&tool, "cpu"));
    let count =
        |m: &Module| m.ops_under(m.root()).into_iter().filter(|&op| recurrent_attributes(m, op).is_some()).count();
    assert_eq!(count(&compiled), count(&m));
    let mut random = Random::of("recurrent layers");
    for name in ["all", "last", "lengths", "weights", "between"] {
        let mut interpreter = Interpreter::new(&m);
        let function = interpreter.function(name).expect("there is a function");
        let inputs = arguments(&m, function, &mut random);
        let want = interpreter.call(function, inputs.clone()).unwrap_or_else(|stop| panic!("{stop:?}"));
        for threads in [1, 3] {
            let function = Interpreter::new(&compiled).function(name).expect("there is a function");
            let workers = Workers::new(threads).expect("there are threads");
            let mut program = CompiledFunction::new(&compiled, function).on(workers);
            let have = program.call(inputs.clone()).unwrap_or_else(|stop| panic!("{stop:?}"));
            assert!(
                program.refused().is_none() && program.reference(1).is_empty(),
                "{name}: {:?}",
                program.reference(1)
            );
            for (have, want) in have.iter().zip(&want) {
                let [have, want] = [have, want].map(|datum| datum.tensor().expect("a tensor").to_f64());
                let is_near = have.iter().zip(&want).all(|(a, b)| (a - b).abs() <= 1e-6 * b.abs().max(1.0));
                assert!(have.len() == want.len() && is_near, "{name} on {threads} threads");
            }
        }
    }
}
