//! Programs of the nna: products and convolutions, lowered and simulated, against their reference semantics, bit by bit.

use crate::support::{gradus, lowered, parse, pipeline_of, root};
use gradus::Tool;
use gradus::cost::{CostModel, load_machine};
use gradus::interp::Interpreter;
use gradus::ir::eval::Datum;
use gradus::ir::random::Random;
use gradus::ir::{Module, Op, OpDecl, Tensor};
use gradus::machines::nna::{CallOp, Prepared, inst_of};

/// The numbers of the smallest machine.
const SMALLEST: [(&str, u64); 3] = [("outputs", 4), ("kernels", 1), ("frams", 1)];

fn main_of(m: &Module) -> Op {
    m.block_ops(m.entry(m.regions(m.root())[0]).expect("it has a block")).next().expect("it has a function")
}

/// Draws a tensor of bytes, as an attribute.
fn constant(random: &mut Random, extents: &[usize], element: &str) -> String {
    let (n, dims) = (extents.iter().product::<usize>(), extents.iter().map(|d| format!("{d}x")).collect::<String>());
    let bytes: String = (0..n).map(|_| format!("{:02X}", random.below(256))).collect();
    format!("dense<\"0x{bytes}\"> : tensor<{dims}{element}>")
}

fn scalar(random: &mut Random, element: &str) -> String {
    let value = random.below(256) as i64 - if element == "i8" { 128 } else { 0 };
    format!("dense<{value}> : tensor<{element}>")
}

/// Draws a program with a product of matrices, with zero points; requantized, with scales per column or in all.
fn product(random: &mut Random) -> String {
    let [m, k, n] = std::array::from_fn(|_| {
        let most = if random.percent(20) { 300 } else { 40 };
        1 + random.below(most) as usize
    });
    let [a, b] = [random.pick(&["i8", "ui8"]), random.pick(&["i8", "ui8"])];
    let (left, right) = (format!("tensor<{m}x{k}x{a}>"), constant(random, &[k, n], b));
    let [za, zb] = [scalar(random, a), scalar(random, b)];
    let head = format!("  %b = graph.constant {right}\n  %za = graph.constant {za}\n  %zb = graph.constant {zb}\n");
    let (types, scalars) = (format!("tensor<{k}x{n}x{b}>"), format!("tensor<{a}>, tensor<{b}>"));
    if random.percent(50) {
        return format!(
            "func.func @main(%x: {left}) -> tensor<{m}x{n}xi32> {{\n{head}  %y = graph.matmul_integer %x, %b a_zero %za b_zero %zb : ({left}, {types}, {scalars}) -> tensor<{m}x{n}xi32>\n  return %y : tensor<{m}x{n}xi32>\n}}"
        );
    }
    let (scales, ty) = match random.percent(50) {
        true => {
            let list: Vec<String> = (0..n).map(|_| format!("{:.3}", 0.001 * (1 + random.below(100)) as f64)).collect();
            (format!("dense<[{}]> : tensor<{n}xf32>", list.join(", ")), format!("tensor<{n}xf32>"))
        }
        false => ("dense<0.02> : tensor<f32>".to_owned(), "tensor<f32>".to_owned()),
    };
    let out = random.pick(&["i8", "ui8"]);
    let zy = scalar(random, out);
    format!(
        "func.func @main(%x: {left}) -> tensor<{m}x{n}x{out}> {{\n{head}  %s = graph.constant dense<0.1> : tensor<f32>\n  %sb = graph.constant {scales}\n  %zy = graph.constant {zy}\n  %y = graph.qlinear_matmul %x, %s, %za, %b, %sb, %zb, %s, %zy : ({left}, tensor<f32>, tensor<{a}>, {types}, {ty}, tensor<{b}>, tensor<f32>, tensor<{out}>) -> tensor<{m}x{n}x{out}>\n  return %y : tensor<{m}x{n}x{out}>\n}}"
    )
}

/// Draws a program with a convolution in one or two dimensions, with groups, strides, dilations and padding; some are depthwise.
fn convolution(random: &mut Random) -> String {
    let depthwise = random.percent(30).then(|| random.pick(&[7, 33, 40, 64, 96]));
    let (channels, most_filters, more) = if random.percent(30) { (40, 40, 12) } else { (5, 6, 5) };
    let mut below = |n: u64| random.below(n) as usize;
    let (groups, rank) = (depthwise.unwrap_or(1 + below(3)), 1 + below(2));
    let (of_group, of_filters) =
        if depthwise.is_some() { (1, 1 + below(2)) } else { (1 + below(channels), 1 + below(most_filters)) };
    let (batch, filters) = (1 + below(2), groups * of_filters);
    let (kernel, dilations) = ((0..rank).map(|_| 1 + below(5)).collect::<Vec<_>>(), vec![1 + below(2); rank]);
    let input: Vec<usize> = (0..rank).map(|i| (kernel[i] - 1) * dilations[i] + 1 + below(more)).collect();
    let strides: Vec<usize> = (0..rank).map(|_| 1 + below(3)).collect();
    let pads: Vec<usize> = (0..2 * rank).map(|_| below(2)).collect();
    let output: Vec<usize> = (0..rank)
        .map(|i| (input[i] + pads[i] + pads[rank + i] - (kernel[i] - 1) * dilations[i] - 1) / strides[i] + 1)
        .collect();
    let dims = |list: &[usize]| list.iter().map(|d| format!("{d}x")).collect::<String>();
    let list = |list: &[usize]| list.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let [x, w] = [random.pick(&["i8", "ui8"]), random.pick(&["i8", "ui8"])];
    let (xs, ws) = ([&[batch, groups * of_group], &input[..]].concat(), [&[filters, of_group], &kernel[..]].concat());
    let (image, ys) = (format!("tensor<{}{x}>", dims(&xs)), dims(&[&[batch, filters], &output[..]].concat()));
    let attrs = format!(
        "{{dilations = array<i64: {}>, group = {groups} : i64, pads = array<i64: {}>, strides = array<i64: {}>}}",
        list(&dilations),
        list(&pads),
        list(&strides)
    );
    let filter_type = format!("tensor<{}{w}>", dims(&ws));
    let (filters_text, zx) = (constant(random, &ws, w), scalar(random, x));
    let zw = constant(random, &[filters], w);
    let head =
        format!("  %w = graph.constant {filters_text}\n  %zx = graph.constant {zx}\n  %zw = graph.constant {zw}\n");
    if random.percent(40) {
        return format!(
            "func.func @main(%x: {image}) -> tensor<{ys}i32> {{\n{head}  %y = graph.conv_integer %x, %w x_zero %zx w_zero %zw {attrs} : ({image}, {filter_type}, tensor<{x}>, tensor<{filters}x{w}>) -> tensor<{ys}i32>\n  return %y : tensor<{ys}i32>\n}}"
        );
    }
    let out = random.pick(&["i8", "ui8"]);
    let (zy, bias): (String, Vec<String>) =
        (scalar(random, out), (0..filters).map(|_| (random.below(100_000) as i64 - 50_000).to_string()).collect());
    let scales: Vec<String> = (0..filters).map(|_| format!("{:.3}", 0.001 * (1 + random.below(100)) as f64)).collect();
    format!(
        "func.func @main(%x: {image}) -> tensor<{ys}{out}> {{\n{head}  %s = graph.constant dense<0.1> : tensor<f32>\n  %sw = graph.constant dense<[{}]> : tensor<{filters}xf32>\n  %zy = graph.constant {zy}\n  %bias = graph.constant dense<[{}]> : tensor<{filters}xi32>\n  %y = graph.qlinear_conv %x, %s, %zx, %w, %sw, %zw, %s, %zy, %bias {attrs} : ({image}, tensor<f32>, tensor<{x}>, {filter_type}, tensor<{filters}xf32>, tensor<{filters}x{w}>, tensor<f32>, tensor<{out}>, tensor<{filters}xi32>) -> tensor<{ys}{out}>\n  return %y : tensor<{ys}{out}>\n}}",
        scales.join(", "),
        bias.join(", ")
    )
}

/// Draws the argument of a function.
fn argument(random: &mut Random, m: &Module) -> Datum {
    let block = m.entry(m.regions(main_of(m))[0]).expect("it has a block");
    let ty = m.value_type(m.block_args(block)[0]);
    let shape: Vec<usize> = m.ctx.static_shape(ty).expect("it is known").iter().map(|&d| d as usize).collect();
    let bytes: Vec<u8> = (0..shape.iter().product::<usize>()).map(|_| random.below(256) as u8).collect();
    let dtype = m.ctx.dtype(m.ctx.element_type(ty)).expect("it has one");
    Datum::Tensor(Tensor::new(dtype, shape, bytes.into()).expect("it fits"))
}

#[test]
fn programs_compute_what_they_replace() {
    let (tool, mut random) = (Tool::gradus(), Random::of("nna"));
    for case in 0..80 {
        let text = if case % 2 == 0 { product(&mut random) } else { convolution(&mut random) };
        let ctx = tool.context();
        let mut machine = CostModel::named(&ctx, "nna").and_then(|model| model.machine(&ctx)).expect("it is described");
        let smaller = random.pick(&[&[][..], &[("outputs", 4)], &SMALLEST, &[("kernels", 1)]]);
        smaller.iter().for_each(|&(key, value)| machine.set(key, value).expect("it has the number"));
        load_machine(&ctx, machine);
        let m = parse(&ctx, &text).unwrap_or_else(|| panic!("{text}"));
        let code = lowered(&tool, &m, "builtin.module(convert-matmul-to-nna)");
        assert!(code.ops_under(code.root()).into_iter().any(|op| CallOp::cast(&code, op).is_some()), "{text}");
        let x = argument(&mut random, &m);
        let expected = Interpreter::new(&m).call(main_of(&m), vec![x.clone()]).expect("it has a result");
        let result = Interpreter::new(&code).call(main_of(&code), vec![x]);
        let result = result.unwrap_or_else(|stop| panic!("{}\n{text}", stop.trap));
        assert!(result == expected, "{smaller:?}: {text}");
    }
}

/// The quantized network: bit by bit the logits of the integers, with the target's pipeline.
#[test]
fn a_network_has_the_logits_of_its_integers() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = |name: &str| folder.path().join(name).display().to_string();
    let example = |name: &str| root().join("examples").join(name).display().to_string();
    let model = example("digits_cnn_int8.onnx");
    let integers = ["opt", &model, "--convert-qdq-to-integer", "--canonicalize", "-o", &file("integers.mlir")];
    assert_eq!(gradus(&integers).code, 0);
    let run = |program: &str, to: &str, target: &[&str]| {
        let input = format!("image={}", example("digits_test_images.npy"));
        let save = format!("logits={to}");
        let output = gradus(&[&["run", program, "--input", &input, "--output", &save], target].concat());
        assert_eq!(output.code, 0, "{}", output.err);
        std::fs::read(to).expect("logits were saved")
    };
    let expected = run(&file("integers.mlir"), &file("expected.npy"), &[]);
    assert!(run(&model, &file("nna.npy"), &["--target", "nna"]) == expected);
}

/// All instructions of a lowered program have words, text and ops, and the program that a call names has them all.
#[test]
fn instructions_are_ops() {
    let tool = Tool::gradus();
    let m = parse(&tool.context(), &product(&mut Random::of("ops"))).expect("it is a program");
    let code = lowered(&tool, &m, &pipeline_of(&tool, "nna"));
    let ops = code.ops_under(code.root());
    let call = ops.iter().copied().find(|&op| CallOp::cast(&code, op).is_some()).expect("it has a call");
    let instructions = ops.iter().filter(|&&op| inst_of(&code, op).is_some()).count();
    assert!(instructions > 100, "{instructions}");
    let again = parse(&code.ctx, &code.to_text(Default::default())).expect("it is a program");
    assert_eq!(again.ops_under(again.root()).len(), ops.len());
    assert!(Prepared::of(&code, call).is_ok());
}
