//! Recurrent layers compared with the reference.

use super::recurrent;
use crate::aligned_bytes::AlignedBytes;
use crate::cpu::joint::JointKernel;
use crate::cpu::{Out, Prepared};
use crate::workers::Workers;
use gradus_interp::Interpreter;
use gradus_ir::eval::{Datum, floats_to_tensor};
use gradus_ir::random::Random;
use gradus_ir::{Context, DType, Module, ParseOptions, Tensor, parse_module};

/// The program of one layer, and its arguments.
struct LayerText {
    dtype: DType,
    elem: &'static str,
    /// Whether weights are constants.
    is_constant: bool,
    constants: String,
    operands: String,
    types: Vec<String>,
    arguments: Vec<String>,
    inputs: Vec<Datum>,
}

impl LayerText {
    /// Adds an operand, behind its keyword.
    fn operand(&mut self, keyword: &str, elem: &str, tensor: Tensor, is_weight: bool) {
        let (number, extents) = (self.types.len(), tensor.shape().iter().map(|d| format!("{d}x")).collect::<String>());
        let ty = format!("tensor<{extents}{elem}>");
        let comma = if keyword.is_empty() && number > 0 { ", " } else { " " };
        self.operands += &format!("{comma}{keyword} %a{number}");
        if is_weight && self.is_constant {
            let hex: String = tensor.bytes().iter().map(|byte| format!("{byte:02X}")).collect();
            self.constants += &format!("  %a{number} = graph.constant dense<\"0x{hex}\"> : {ty}\n");
        } else {
            self.arguments.push(format!("%a{number}: {ty}"));
            self.inputs.push(Datum::Tensor(tensor));
        }
        self.types.push(ty);
    }

    /// Adds an operand of floats of some magnitude.
    fn floats(&mut self, random: &mut Random, keyword: &str, shape: &[usize], magnitude: f64) {
        let count = shape.iter().product();
        let all = (0..count).map(|_| (random.below(2001) as f64 - 1000.0) * 1e-3 * magnitude).collect();
        let is_weight = !matches!(keyword, "state" | "cell") && !self.types.is_empty();
        self.operand(keyword, self.elem, floats_to_tensor(self.dtype, shape, all), is_weight);
    }
}

fn pick<T: Copy>(random: &mut Random, from: &[T]) -> T {
    from[random.below(from.len() as u64) as usize]
}

/// A cell type, with its numbers of gates and of activation functions.
type CellType = (&'static str, usize, usize);

const CELLS: [CellType; 3] = [("rnn", 1, 1), ("gru", 3, 2), ("lstm", 4, 3)];

/// Extents of a layer.
struct LayerExtents {
    directions: usize,
    steps: usize,
    batch: usize,
    width: usize,
    hidden: usize,
    is_batch_first: bool,
}

/// Draws the operands of a layer.
fn draw_operands(random: &mut Random, (cell, gates, _): CellType, extents: &LayerExtents, text: &mut LayerText) {
    let &LayerExtents { directions: d, steps, batch, width, hidden, is_batch_first } = extents;
    let (rows, scale) = (gates * hidden, 1.0 / (hidden as f64).sqrt());
    let (x, states) = match is_batch_first {
        true => ([batch, steps, width], [batch, d, hidden]),
        false => ([steps, batch, width], [d, batch, hidden]),
    };
    text.floats(random, "", &x, 1.0);
    text.floats(random, "", &[d, rows, width], 1.0);
    text.floats(random, "", &[d, rows, hidden], scale);
    if random.below(2) == 0 {
        text.floats(random, "bias", &[d, 2 * rows], 1.0);
    }
    if random.below(4) == 0 {
        let lengths = (0..batch).map(|_| random.below(steps as u64 + 1) as i32).collect();
        text.operand("lengths", "i32", Tensor::from_vec(&[batch], lengths), false);
    }
    if random.below(2) == 0 {
        text.floats(random, "state", &states, 1.0);
    }
    if cell == "lstm" && random.below(2) == 0 {
        text.floats(random, "cell", &states, 1.0);
    }
    if cell == "lstm" && random.below(3) == 0 {
        text.floats(random, "peepholes", &[d, 3 * hidden], 1.0);
    }
}

/// Draws the attributes of a layer.
fn draw_attributes(random: &mut Random, (cell, _, functions): CellType, directions: usize) -> String {
    let mut attrs = String::new();
    if directions == 2 {
        attrs += "direction = \"bidirectional\", ";
    } else if random.below(2) == 0 {
        attrs += "direction = \"reverse\", ";
    }
    // Other functions may grow without bounds, so that their inputs are clipped.
    let has_functions = random.below(4) == 0;
    if has_functions {
        let names = (0..functions * directions).map(|_| pick(random, &["\"Sigmoid\"", "\"Tanh\"", "\"Relu\""]));
        attrs += &format!("activations = [{}], ", names.collect::<Vec<_>>().join(", "));
    }
    if has_functions || random.below(4) == 0 {
        attrs += "clip = 0.5 : f32, ";
    }
    match cell {
        "lstm" => attrs + &format!("input_forget = {} : i64, ", random.below(2)),
        "gru" => attrs + &format!("linear_before_reset = {} : i64, ", random.below(2)),
        _ => attrs,
    }
}

/// Draws a layer: its program, with the arguments.
fn draw(random: &mut Random, cell: CellType) -> (String, Vec<Datum>, DType) {
    let extents = LayerExtents {
        directions: pick(random, &[1, 2]),
        steps: pick(random, &[1, 2, 50]),
        batch: pick(random, &[1, 1, 1, 2, 3, 4, 4, 9]),
        width: pick(random, &[1, 5, 40]),
        hidden: pick(random, &[1, 7, 16, 16, 133]),
        is_batch_first: random.below(4) == 0,
    };
    let f32 = (DType::F32, "f32");
    let (dtype, elem) = pick(random, &[f32, f32, f32, (DType::F16, "f16"), (DType::BF16, "bf16")]);
    let mut text = LayerText {
        dtype,
        elem,
        is_constant: random.below(4) > 0,
        constants: String::new(),
        operands: String::new(),
        types: Vec::new(),
        arguments: Vec::new(),
        inputs: Vec::new(),
    };
    draw_operands(random, cell, &extents, &mut text);
    let attrs = draw_attributes(random, cell, extents.directions);
    let LayerExtents { directions: d, steps, batch, hidden, is_batch_first, .. } = extents;
    let (all, states) = match is_batch_first {
        true => {
            (format!("tensor<{batch}x{steps}x{d}x{hidden}x{elem}>"), format!("tensor<{batch}x{d}x{hidden}x{elem}>"))
        }
        false => {
            (format!("tensor<{steps}x{d}x{batch}x{hidden}x{elem}>"), format!("tensor<{d}x{batch}x{hidden}x{elem}>"))
        }
    };
    let count = 1 + random.below(if cell.0 == "lstm" { 3 } else { 2 }) as usize;
    let results = [all.as_str(), &states, &states][..count].join(", ");
    let names = ["%y#0", "%y#1", "%y#2"][..count].join(", ");
    let (name, layout) = (cell.0, u64::from(is_batch_first));
    let LayerText { constants, operands, types, arguments, inputs, .. } = text;
    let program = format!(
        "func.func @main({}) -> ({results}) {{\n{constants}  %y:{count} = graph.{name}{operands} {{{attrs}layout = {layout} : i64}} : ({}) -> \
         ({results})\n  return {names} : {results}\n}}\n",
        arguments.join(", "),
        types.join(", "),
    );
    (program, inputs, dtype)
}

/// Returns the kernel of the program's layer.
fn kernel(m: &Module) -> Option<JointKernel> {
    let layer =
        m.ops_under(m.root()).into_iter().find(|&op| gradus_networks::graph::recurrent_attributes(m, op).is_some())?;
    match m.with_args(layer, |args| recurrent(m, args))?? {
        Prepared::Joint(kernel) => Some(kernel),
        _ => None,
    }
}

/// Checks results against those of the reference.
fn check(have: &[Vec<u8>], want: &[Datum], dtype: DType, text: &str) {
    let bound = match dtype {
        DType::F16 => 2e-3,
        DType::BF16 => 1.6e-2,
        _ => 1e-5,
    };
    for (i, (have, want)) in have.iter().zip(want).enumerate() {
        let want = want.tensor().expect("a tensor");
        let have = Tensor::new(dtype, want.shape().to_vec(), have.clone().into()).expect("of that size").to_f64();
        let (want, mut worst) = (want.to_f64(), 0.0_f64);
        let most = want.iter().fold(1e-3_f64, |most, x| most.max(x.abs()));
        for (a, b) in have.iter().zip(&want) {
            worst = if a.is_nan() { f64::INFINITY } else { worst.max((a - b).abs() / most) };
        }
        let head = text.lines().find(|line| line.contains("%y:")).unwrap_or_default();
        assert!(worst <= bound, "result {i} is off by {worst}: {head}");
    }
}

/// Computes all results of a layer.
fn run(kernel: &JointKernel, workers: &Workers, data: &[&[u8]], sizes: &[usize]) -> Vec<Vec<u8>> {
    let mut all: Vec<AlignedBytes> = sizes.iter().map(|&size| AlignedBytes::of(&vec![0x7f; size])).collect();
    let mut out: Vec<Option<&mut [u8]>> = all.iter_mut().map(|out| Some(out.as_mut())).collect();
    kernel.run(workers, data, &mut out).expect("it runs");
    all.iter().map(|bytes| bytes.as_ref().to_vec()).collect()
}

#[test]
fn recurrent_layers_equal_the_reference() {
    let dialects: Vec<_> = gradus_dialects::DIALECTS.iter().chain(gradus_networks::DIALECTS).copied().collect();
    let ctx = Context::new(&dialects);
    let workers = [1, 3].map(|threads| Workers::new(threads).expect("there are threads"));
    for number in 0..if cfg!(debug_assertions) { 60 } else { 600 } {
        let (text, inputs, dtype) = draw(&mut Random::of(("recurrent", number)), CELLS[number % 3]);
        let m = parse_module(&ctx, "layer.mlir", text.clone(), ParseOptions::default());
        let m = m.unwrap_or_else(|e| panic!("{e:?}: {text}"));
        let mut interpreter = Interpreter::new(&m);
        let main = interpreter.function("main").expect("there is a function");
        let want = interpreter.call(main, inputs.clone()).unwrap_or_else(|stop| panic!("{stop:?}"));
        let bytes = |datum: &Datum| AlignedBytes::of(datum.tensor().expect("a tensor").bytes());
        let (inputs, sizes): (Vec<AlignedBytes>, Vec<usize>) =
            (inputs.iter().map(bytes).collect(), want.iter().map(|datum| bytes(datum).as_ref().len()).collect());
        let joint = kernel(&m).unwrap_or_else(|| panic!("no kernel: {text}"));
        // The arguments are the operands that are read, in the order of the op.
        let argument = |read: &usize| inputs[joint.reads.iter().filter(|other| *other < read).count()].as_ref();
        let data: Vec<&[u8]> = joint.reads.iter().map(argument).collect();
        let [one, three] = workers.each_ref().map(|workers| run(&joint, workers, &data, &sizes));
        check(&one, &want, dtype, &text);
        assert!(one == three, "threads: {text}");
        let last = sizes.len() - 1;
        let mut out = AlignedBytes::zeros(sizes[last]);
        let only = joint.only(last, sizes.len());
        (only.run)(&workers[0], &data, Out { bytes: out.as_mut(), columns: None }).expect("it runs");
        assert!(out.as_ref() == one[last], "one result: {text}");
    }
}
