//! Quantized layers of several ops between dequantize and quantize, on all machines, against their meaning in floats.

use crate::support::{lowered, parse, pipeline_of};
use gradus::Tool;
use gradus::interp::Interpreter;
use gradus::ir::eval::{Datum, ints_to_tensor};
use gradus::ir::random::Random;
use gradus::ir::{DType, Module, Op, Type};

/// Largest difference from the meaning in floats, in steps: the default of `quantize-intermediates`.
const STEPS: f64 = 3.0;

/// A form of a layer, with `{X}`, `{Y}` for the types of its operand and result in floats, `{I}` of both in bytes, and `{W}`, `{C}`, `{V}` of weights and
/// constants for each channel. It computes `%y` from `%x`, `%r`, the weights `%w`, and the constants `%c`, `%scale`, `%var`.
struct Form {
    name: &'static str,
    text: &'static str,
    /// The least real number of the result.
    low: f32,
}

const CONV: &str = "  %0 = graph.conv %x, %w, %c {pads = array<i64: 1, 1, 1, 1>} : ({X}, {W}, {V}) -> {Y}\n";

/// Forms of images of 8 channels. The convolution of [`CONV`] computes `%0` before them.
const IMAGES: [Form; 13] = [
    Form { name: "bias", text: "  %y = graph.add %0, %c1 : ({Y}, {C}) -> {Y}\n", low: -4.0 },
    Form {
        name: "negated",
        text: "  %a = graph.sub %c1, %0 : ({C}, {Y}) -> {Y}\n  %y = graph.mul %a, %c1 : ({Y}, {C}) -> {Y}\n",
        low: -2.0,
    },
    Form {
        name: "batch norm, relu",
        text: "  %a = graph.batch_normalization %0, %scale, %c, %c, %var : ({Y}, {V}, {V}, {V}, {V}) -> {Y}\n  %y = graph.relu %a : {Y}\n",
        low: 0.0,
    },
    Form {
        name: "silu",
        text: "  %a = graph.sigmoid %0 : {Y}\n  %y = graph.mul %0, %a : ({Y}, {Y}) -> {Y}\n",
        low: -0.28,
    },
    Form {
        name: "batch norm, silu",
        text: "  %a = graph.batch_normalization %0, %scale, %c, %c, %var : ({Y}, {V}, {V}, {V}, {V}) -> {Y}\n  %b = graph.sigmoid %a : {Y}\n  %y = graph.mul %b, %a : ({Y}, {Y}) -> {Y}\n",
        low: -0.28,
    },
    Form { name: "hard swish", text: "  %y = graph.hard_swish %0 : {Y}\n", low: -0.375 },
    Form { name: "leaky relu", text: "  %y = graph.leaky_relu %0 {alpha = 0.1 : f32} : {Y}\n", low: -0.5 },
    Form {
        name: "sum, leaky relu",
        text: "  %a = graph.add %0, %r : ({Y}, {Y}) -> {Y}\n  %y = graph.leaky_relu %a {alpha = 0.1 : f32} : {Y}\n",
        low: -0.5,
    },
    Form { name: "residual", text: "  %y = graph.add %r, %0 : ({Y}, {Y}) -> {Y}\n", low: -4.0 },
    Form {
        name: "batch norm, residual, relu",
        text: "  %a = graph.batch_normalization %0, %scale, %c, %c, %var : ({Y}, {V}, {V}, {V}, {V}) -> {Y}\n  %b = graph.add %a, %r : ({Y}, {Y}) -> {Y}\n  %y = graph.relu %b : {Y}\n",
        low: 0.0,
    },
    Form {
        name: "gate",
        text: "  %a = graph.sigmoid %0 : {Y}\n  %y = graph.mul %r, %a : ({Y}, {Y}) -> {Y}\n",
        low: -3.0,
    },
    Form {
        name: "relu, pool",
        text: "  %a = graph.relu %0 : {Y}\n  %y = graph.max_pool %a {kernel_shape = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} : ({Y}) -> {Y}\n",
        low: 0.0,
    },
    Form {
        name: "sum, leaky relu, scale",
        text: "  %a = graph.add %x, %r : ({Y}, {Y}) -> {Y}\n  %b = graph.leaky_relu %a {alpha = 0.3 : f32} : {Y}\n  %y = graph.hard_swish %b : {Y}\n",
        low: -0.375,
    },
];

const MATMUL: &str = "  %0 = graph.matmul %x, %w : ({X}, {W}) -> {Y}\n  %1 = graph.add %c, %0 : ({V}, {Y}) -> {Y}\n";

/// Forms of matrices. The product and the sum of [`MATMUL`] compute `%1` before them.
const MATRICES: [Form; 3] = [
    Form { name: "bias", text: "  %y = graph.relu %1 : {Y}\n", low: -4.0 },
    Form {
        name: "bias, silu",
        text: "  %a = graph.sigmoid %1 : {Y}\n  %y = graph.mul %1, %a : ({Y}, {Y}) -> {Y}\n",
        low: -0.28,
    },
    Form { name: "bias, residual", text: "  %y = graph.add %1, %r : ({Y}, {Y}) -> {Y}\n", low: -4.0 },
];

/// A program of one layer, on bytes of type `elem`.
fn program(form: &Form, elem: &str, is_per_channel: bool, extents: &[usize], r: &mut Random) -> String {
    let is_image = extents.len() == 4;
    let (weights, axis) = if is_image { (vec![8, 8, 3, 3], 0) } else { (vec![8, 8], 1) };
    let ty = |extents: &[usize], elem: &str| {
        extents.iter().fold("tensor<".to_owned(), |text, n| text + &format!("{n}x")) + elem + ">"
    };
    let mut floats = |low: f64, high: f64| {
        let all: Vec<String> =
            (0..8).map(|_| format!("{:.4}", low + (high - low) * r.below(1000) as f64 / 999.0)).collect();
        all.join(", ")
    };
    let per = if is_per_channel { 8 } else { 0 };
    let (own, zeros) = match per {
        0 => ("0.0015".to_owned(), "tensor<".to_owned()),
        _ => (format!("[{}]", floats(0.0005, 0.002)), "tensor<8x".to_owned()),
    };
    let (c, scale, var) = (floats(-0.5, 0.5), floats(0.5, 1.5), floats(0.5, 1.5));
    let bytes: String = (0..weights.iter().product()).map(|_| format!("{:02X}", r.below(256))).collect();
    let shift = if elem == "i8" { 128 } else { 0 };
    let (step, zero) = ((5.0 - form.low) / 255.0, (-form.low * 255.0 / (5.0 - form.low)).round() as i64 - shift);
    let (bytes_ty, floats_ty) = (ty(extents, elem), ty(extents, "f32"));
    let body = [if is_image { CONV } else { MATMUL }, form.text].concat();
    let one = if is_image { "tensor<1x8x1x1xf32>" } else { "tensor<8xf32>" };
    let body = body.replace("{X}", &floats_ty).replace("{Y}", &floats_ty).replace("{W}", &ty(&weights, "f32"));
    let body = body.replace("{C}", one).replace("{V}", "tensor<8xf32>");
    let listed = if is_image {
        format!("[[{}]]", c.split(", ").map(|n| format!("[[{n}]]")).collect::<Vec<_>>().join(", "))
    } else {
        format!("[{c}]")
    };
    format!(
        "func.func @main(%xq: {bytes_ty}, %rq: {bytes_ty}) -> {bytes_ty} {{
  %sx = graph.constant dense<0.02> : tensor<f32>
  %zx = graph.constant dense<{}> : tensor<{elem}>
  %sy = graph.constant dense<{step}> : tensor<f32>
  %zy = graph.constant dense<{zero}> : tensor<{elem}>
  %sw = graph.constant dense<{own}> : {zeros}f32>
  %zw = graph.constant dense<0> : {zeros}i8>
  %wq = graph.constant dense<\"0x{bytes}\"> : {}
  %c = graph.constant dense<[{c}]> : tensor<8xf32>
  %c1 = graph.constant dense<{}> : {one}
  %scale = graph.constant dense<[{scale}]> : tensor<8xf32>
  %var = graph.constant dense<[{var}]> : tensor<8xf32>
  %x = graph.dequantize_linear %xq, %sx, %zx : ({bytes_ty}, tensor<f32>, tensor<{elem}>) -> {floats_ty}
  %r = graph.dequantize_linear %rq, %sx, %zx : ({bytes_ty}, tensor<f32>, tensor<{elem}>) -> {floats_ty}
  %w = graph.dequantize_linear %wq, %sw, %zw {{axis = {axis} : i64}} : ({}, {zeros}f32>, {zeros}i8>) -> {}
{body}  %q = graph.quantize_linear %y, %sy, %zy : ({floats_ty}, tensor<f32>, tensor<{elem}>) -> {bytes_ty}
  return %q : {bytes_ty}
}}
",
        100 - shift,
        ty(&weights, "i8"),
        listed,
        ty(&weights, "i8"),
        ty(&weights, "f32"),
    )
}

fn main_of(m: &Module) -> Op {
    m.ops_under(m.root()).into_iter().find(|&op| m.name_text(op) == "func.func").expect("there is a function")
}

fn numbers(results: &[Datum]) -> Vec<f64> {
    match results {
        [Datum::Tensor(tensor)] => tensor.to_f64(),
        other => panic!("{other:?}"),
    }
}

/// Calls `check` with each form as a program, its name, operands, and the result by its meaning.
fn each_form(mut check: impl FnMut(&Module, &str, Vec<Datum>, Vec<f64>)) {
    let (tool, mut seed) = (Tool::gradus(), 0);
    let images = IMAGES.iter().map(|form| (form, vec![1, 8, 6, 5]));
    for (form, extents) in images.chain(MATRICES.iter().map(|form| (form, vec![6, 8]))) {
        for (elem, dtype, is_per_channel) in
            [("ui8", DType::U8, false), ("ui8", DType::U8, true), ("i8", DType::I8, false), ("i8", DType::I8, true)]
        {
            seed += 1;
            let mut r = Random::of(("quantized layers", seed));
            let text = program(form, elem, is_per_channel, &extents, &mut r);
            let m = parse(&tool.context(), &text).unwrap_or_else(|| panic!("no program\n{text}"));
            let least = if dtype == DType::I8 { -128 } else { 0 };
            let mut operand = || {
                let all: Vec<i64> = (0..extents.iter().product()).map(|_| least + r.below(256) as i64).collect();
                Datum::Tensor(ints_to_tensor(dtype, &extents, &all))
            };
            let args = vec![operand(), operand()];
            let wanted = Interpreter::new(&m).call(main_of(&m), args.clone()).expect("it has a meaning");
            let name =
                format!("{} on {elem}, {}", form.name, if is_per_channel { "per channel" } else { "per tensor" });
            check(&m, &name, args, numbers(&wanted));
        }
    }
}

/// No tensor of floats is computed after the three passes.
#[test]
fn layers_of_several_ops_become_integer_ops() {
    let tool = Tool::gradus();
    each_form(|m, name, args, wanted| {
        let pipeline = "builtin.module(canonicalize-qdq,quantize-intermediates,convert-qdq-to-integer,canonicalize)";
        let code = lowered(&tool, m, pipeline);
        let is_float = |op: Op| {
            let mut values = code.results(op).filter(|&value| code.constant(value).is_none());
            values.any(|value| code.ctx.element_type(code.value_type(value)) == Type::F32)
        };
        let floats = code.ops_under(main_of(&code)).into_iter().find(|&op| is_float(op));
        assert!(floats.is_none(), "{name}: {}", code.name_text(floats.expect("it is an op")));
        let found = numbers(&Interpreter::new(&code).call(main_of(&code), args).expect("it has a meaning"));
        let worst = found.iter().zip(&wanted).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(worst <= STEPS, "{name}: {worst} steps");
        assert!(wanted.iter().any(|y| *y != wanted[0]), "{name}: a constant result");
    });
}

#[test]
fn layers_of_several_ops_run_on_all_machines() {
    let tool = Tool::gradus();
    for target in ["cpu", "npu", "nna", "cluster"] {
        let found = tool.targets.iter().find(|known| known.cost.name == target).expect("it is a target");
        let machine = found.cost.machine(&tool.context()).expect("its machine is valid");
        // The npu adds most pairs of scales with factors that are not exact.
        let pipeline =
            pipeline_of(&tool, target).replace("form-layers{target=npu", "form-layers{allow-steps=true target=npu");
        each_form(|m, name, args, wanted| {
            let code = lowered(&tool, m, &pipeline);
            let mut executable = found.load(&code, main_of(&code), &machine, 1).expect("it can be executed");
            let result = executable.call(args).unwrap_or_else(|stop| panic!("{name} on {target}: {stop:?}"));
            let worst = numbers(&result).iter().zip(&wanted).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(worst <= STEPS, "{name} on {target}: {worst} steps");
            // The nna computes products, its host the rest.
            let ops: &[&str] = match target {
                "nna" => &["conv", "matmul", "gemm"],
                _ => &["conv", "matmul", "gemm", "add", "mul", "table", "quantize", "sigmoid", "relu", "pool"],
            };
            let host = executable.statistics().into_iter().map(|statistic| statistic.name);
            let mut host = host.filter(|name| name.starts_with("by reference: ") || name.starts_with("by the host: "));
            let left = host.find(|name| ops.iter().any(|op| name.contains(op)));
            assert!(left.is_none(), "{name} on {target}: {left:?}");
        });
    }
}
