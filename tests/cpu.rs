//! `--target cpu` gives the results of reference evaluation.

mod assigned;
mod attention;
mod blocks;
mod layouts;
mod narrow;
mod parts;
mod qdq;
mod quantized;
mod recurrent;
mod shuffle;
mod single;
mod threads;
mod transposed;
mod types;
mod unknown;
mod winograd;

use crate::support::{parse, pipeline_of};
use gradus::Tool;
use gradus::interp::Interpreter;
use gradus::ir::eval::{Datum, floats_to_tensor};
use gradus::ir::pass::{Pipeline, RunOptions, Watch};
use gradus::ir::random::Random;
use gradus::ir::{Context, DType, Module, verify};
use gradus::runtime::cpu::CompiledFunction;
use std::sync::Arc;

/// Number of single-layer programs.
const LAYERS: u64 = if cfg!(debug_assertions) { 200 } else { 2400 };

/// Options for the layout in which images are read: the target's, and others, some of which fit no layer or are not
/// separable.
const READINGS: [&str; 12] = [
    "{target=cpu}",
    "{layout=auto}",
    "{layout=NHWC}",
    "{layout=NCHW}",
    "{layout=CNHW min-run=0}",
    "{layout=NCHW8c}",
    "{layout=NHWC order=channels-first}",
    "{layout=NCWH2w min-run=2}",
    "{layout=2h2wNCHW4c}",
    "{layout=CNW order=channels-last}",
    "{layout=NHWC encoding=running derivation=coordinates min-run=100}",
    "{layout=NCHW4c encoding=running}",
];

/// Compiles a program with given layout options.
fn compiled(tool: &Tool, m: &Module, reading: &str) -> Module {
    let mut pipeline = pipeline_of(tool, "cpu");
    // A layout or an algorithm that is asked for is not that of the cost model.
    if reading != "{layout=auto}" {
        pipeline = pipeline.replace("choose-layouts{target=cpu},", "");
    }
    let (before, rest) = pipeline.split_once("convert-graph-to-addr{").expect("it lowers");
    let (_, after) = rest.split_once('}').expect("the pass has options");
    passed(tool, m, &format!("{before}convert-graph-to-addr{reading}{after}"))
}

/// Runs a pipeline on a copy of a program.
fn passed(tool: &Tool, m: &Module, pipeline: &str) -> Module {
    let mut passed = m.clone();
    let mut pipeline = Pipeline::parse(pipeline, &tool.passes).expect("it is a pipeline");
    let run = pipeline.run(&mut passed, &RunOptions::default(), &mut Watch::new(|_| {}));
    assert!(run.is_ok() && verify(&passed).is_ok(), "{}", m.to_text(Default::default()));
    passed
}

/// A layer as program text, with the extents of its inputs; weights are constants.
struct Layer {
    text: String,
    input: Vec<usize>,
}

/// Draws small integers, so that sums are exact.
fn numbers(random: &mut Random, count: usize) -> Vec<f64> {
    (0..count).map(|_| random.below(9) as f64 - 4.0).collect()
}

fn extents(shape: &[usize]) -> String {
    shape.iter().map(|d| format!("{d}x")).collect()
}

fn list(values: &[usize]) -> String {
    format!("array<i64: {}>", values.iter().map(usize::to_string).collect::<Vec<_>>().join(", "))
}

fn constant(random: &mut Random, name: &str, shape: &[usize]) -> String {
    let bytes: Vec<u8> =
        numbers(random, shape.iter().product()).into_iter().flat_map(|x| (x as f32).to_le_bytes()).collect();
    let hex: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
    format!("  %{name} = arith.constant dense<\"0x{hex}\"> : tensor<{}f32>\n", extents(shape))
}

/// Picks one of some numbers.
fn pick(random: &mut Random, from: &[usize]) -> usize {
    from[random.below(from.len() as u64) as usize]
}

impl Layer {
    /// Returns a convolution or a pool over an image, of any stride, dilation, padding and groups.
    fn over_images(random: &mut Random) -> Layer {
        let rank = 1 + random.below(3) as usize;
        let group = pick(random, &[1, 1, 2, 3]);
        let channels = group * pick(random, &[1, 1, 3, 4, 8, 17]);
        let filters = if group == channels { channels } else { group * pick(random, &[1, 2, 5, 16]) };
        let kernel: Vec<usize> = (0..rank).map(|_| pick(random, &[1, 1, 2, 3, 5])).collect();
        let dilations: Vec<usize> = (0..rank).map(|_| pick(random, &[1, 1, 2])).collect();
        let strides: Vec<usize> = (0..rank).map(|_| pick(random, &[1, 1, 2, 3])).collect();
        let reach = |i: usize| (kernel[i] - 1) * dilations[i] + 1;
        let is_pool = random.below(3) == 0;
        // Otherwise a pool's window could lie in the padding only.
        let most = |i: usize| if is_pool { kernel[i] - 1 } else { reach(i) };
        let pads: Vec<usize> = (0..2 * rank).map(|i| random.below(1 + most(i % rank) as u64) as usize).collect();
        let image: Vec<usize> = (0..rank).map(|i| reach(i) + random.below(5) as usize).collect();
        let output: Vec<usize> =
            (0..rank).map(|i| (image[i] + pads[i] + pads[rank + i] - reach(i)) / strides[i] + 1).collect();
        let batch = pick(random, &[1, 1, 2]);
        let input = [&[batch, channels][..], &image].concat();
        let windows = format!("pads = {}, strides = {}", list(&pads), list(&strides));
        let made = |channels: usize| extents(&[&[batch, channels][..], &output].concat());
        if is_pool && dilations.iter().all(|&d| d == 1) {
            let (op, more) =
                [("max_pool", ""), ("average_pool", ""), ("average_pool", ", count_include_pad = 1 : i64")]
                    [random.below(3) as usize];
            let attrs = format!("kernel_shape = {}, {windows}{more}", list(&kernel));
            return Layer::of("", &format!("graph.{op} %x {{{attrs}}}"), "", &input, &made(channels));
        }
        let weights = [&[filters, channels / group][..], &kernel].concat();
        let mut before = constant(random, "w", &weights);
        let (mut operands, mut types) = ("%x, %w".to_owned(), format!(", tensor<{}f32>", extents(&weights)));
        if random.below(2) == 0 {
            before += &constant(random, "b", &[filters]);
            operands += ", %b";
            types += &format!(", tensor<{filters}xf32>");
        }
        let attrs = format!("{windows}, dilations = {}, group = {group} : i64", list(&dilations));
        Layer::of(&before, &format!("graph.conv {operands} {{{attrs}}}"), &types, &input, &made(filters))
    }

    /// Returns a matrix product, possibly batched.
    fn of_matrices(random: &mut Random) -> Layer {
        let [m, k, n] = [&[1, 3, 7, 20][..], &[1, 4, 9, 130], &[1, 5, 16, 24, 70]].map(|from| pick(random, from));
        let stacked = random.below(3) == 0;
        let input = if stacked { vec![2, m, k] } else { vec![m, k] };
        let by_rows = !stacked && random.below(2) == 0;
        let weights = if by_rows { [n, k] } else { [k, n] };
        let before = constant(random, "w", &weights) + &constant(random, "b", &[n]);
        let made = extents(&[&input[..input.len() - 1], &[n]].concat());
        let mut types = format!(", tensor<{}f32>", extents(&weights));
        let op = if by_rows { "graph.gemm %x, %w, %b {transB = 1 : i64}" } else { "graph.matmul %x, %w" };
        if by_rows {
            types += &format!(", tensor<{n}xf32>");
        }
        Layer::of(&before, op, &types, &input, &made)
    }

    /// Appends ops that often follow a layer.
    fn of(before: &str, op: &str, types: &str, input: &[usize], made: &str) -> Layer {
        let x = extents(input);
        let text = format!(
            "func.func @main(%x: tensor<{x}f32>) -> tensor<{made}f32> {{\n{before}  %0 = {op} : (tensor<{x}f32>{types}) -> \
             tensor<{made}f32>\n  %1 = graph.relu %0 : tensor<{made}f32>\n  %2 = graph.add %1, %0 : (tensor<{made}f32>, \
             tensor<{made}f32>) -> tensor<{made}f32>\n  return %2 : tensor<{made}f32>\n}}\n"
        );
        Layer { text, input: input.to_vec() }
    }
}

/// Interprets a program on an input.
fn run(m: &Module, input: &Datum) -> Datum {
    let mut interpreter = Interpreter::new(m);
    let main = interpreter.function("main").expect("there is a function");
    interpreter.call(main, vec![input.clone()]).unwrap_or_else(|stop| panic!("{stop:?}")).remove(0)
}

/// Runs a program by kernels, and returns the ops without a kernel.
fn run_by_kernels(m: &Module, input: &Datum) -> (Datum, Vec<&'static str>) {
    let main = Interpreter::new(m).function("main").expect("there is a function");
    let mut program = CompiledFunction::new(m, main);
    let result = program.call(vec![input.clone()]).unwrap_or_else(|stop| panic!("{stop:?}")).remove(0);
    (result, program.reference(1).into_iter().map(|(name, _)| name).collect())
}

fn check(tool: &Tool, ctx: &Arc<Context>, layer: &Layer, reading: &str, random: &mut Random) {
    let m = parse(ctx, &layer.text).unwrap_or_else(|| panic!("it is valid: {}", layer.text));
    let count = layer.input.iter().product();
    let input = Datum::Tensor(floats_to_tensor(DType::F32, &layer.input, numbers(random, count)));
    let want = run(&m, &input);
    let (have, reference) = run_by_kernels(&compiled(tool, &m, reading), &input);
    // A mean multiplies by a rounded reciprocal.
    let is_exact = !layer.text.contains("average_pool");
    let (have, want) = (have.tensor().expect("a tensor").to_f64(), want.tensor().expect("a tensor").to_f64());
    let same = |(a, b): (&f64, &f64)| a == b || !is_exact && (a - b).abs() <= 1e-5 * b.abs().max(1.0);
    let agree = have.len() == want.len() && have.iter().zip(&want).all(same);
    assert!(agree, "{reading} {}\n{have:?}\n{want:?}", layer.text);
    assert!(reference.is_empty(), "{reference:?} have no kernel: {reading} {}", layer.text);
}

#[test]
fn layers_are_what_the_reference_says() {
    let tool = Tool::gradus();
    let ctx = tool.context();
    for number in 0..LAYERS {
        let mut random = Random::of(("layer", number));
        let layer = match number % 6 {
            0 => Layer::of_matrices(&mut random),
            _ => Layer::over_images(&mut random),
        };
        let reading = READINGS[random.below(READINGS.len() as u64) as usize];
        check(&tool, &ctx, &layer, reading, &mut random);
    }
}
