//! Tests: every op's example round-trips and verifies; some ops are executed.

use gradus_ir::eval::{Datum, eval_op};
use gradus_ir::{
    DType, Elem, Module, Op, OpArgs, OpInfo, ParseOptions, PrintOptions, Tensor, Type, parse_module, verify,
};
use gradus_networks::graph::{DIALECT, onnx_type, operator};
use std::fmt::Write as _;

/// Parses a valid program.
fn parse(text: &str) -> Module {
    let ctx = gradus_networks::context();
    let m = parse_module(&ctx, "t.mlir", text.to_owned(), ParseOptions::default());
    let m = m.unwrap_or_else(|e| panic!("{}\n{text}", message(&e)));
    verify(&m).unwrap_or_else(|e| panic!("{}\n{text}", message(&e)));
    m
}

fn message(errors: &[gradus_ir::Diagnostic]) -> String {
    errors.iter().map(|e| e.message.clone()).collect::<Vec<_>>().join("\n")
}

/// Wraps a line in a function with a parameter for every operand.
fn function(line: &str) -> String {
    let (_, body) = line.split_once('=').expect("a result");
    let (ops, types) = body.rsplit_once(" : ").map_or((body, ""), |(a, b)| (a, b));
    let (ops, types) = match body.find(" : (") {
        Some(at) => (&body[..at], body[at + 4..].split(") ->").next().unwrap_or("")),
        None => (ops, types),
    };
    let names = ops.split('%').skip(1).map(|s| s.split(|c: char| !c.is_alphanumeric()).next().unwrap_or(""));
    let mut params = String::new();
    for (i, (name, ty)) in names.zip(types.split(", ")).enumerate() {
        let _ = write!(params, "{}%{name}: {ty}", if i > 0 { ", " } else { "" });
    }
    format!("func.func @f({params}) {{\n{line}\nreturn\n}}")
}

/// Returns the example in an op's documentation.
fn example(info: &OpInfo) -> &str {
    let block = info.doc.split("```mlir\n").nth(1).and_then(|s| s.split("\n```").next());
    block.unwrap_or_else(|| panic!("{} has no example", info.name))
}

/// Returns the first op of that name.
fn find(m: &Module, name: &str) -> Op {
    m.ops_under(m.root()).into_iter().find(|&op| m.name_text(op) == name).unwrap_or_else(|| panic!("no {name}"))
}

/// Executes the first op of that name.
fn eval(m: &Module, name: &str, inputs: &[Tensor]) -> Vec<Tensor> {
    let data: Vec<Datum> = inputs.iter().cloned().map(Datum::Tensor).collect();
    let results = m.with_args(find(m, name), |args| eval_op(args, &data)).expect("registered");
    results.unwrap_or_else(|e| panic!("{name}: {e}")).into_iter().map(|d| d.tensor().unwrap().clone()).collect()
}

/// Returns the result types of an op.
fn types(m: &Module, name: &str) -> Vec<String> {
    m.results(find(m, name)).map(|v| m.ctx.display_type(m.value_type(v))).collect()
}

/// Infers the result types of the first op of that name, as if it were being created.
fn inferred(text: &str, name: &str) -> Result<Vec<String>, String> {
    let m = parse_module(&gradus_networks::context(), "t.mlir", text.to_owned(), ParseOptions::default());
    let m = m.unwrap_or_else(|e| panic!("{}\n{text}", message(&e)));
    let infer = m.info(find(&m, name)).and_then(|i| i.infer).expect("infers");
    let new = |args: &OpArgs<'_>| infer(&OpArgs { op: None, ..*args });
    let types = m.with_args(find(&m, name), new).expect("registered")?;
    Ok(types.into_iter().map(|t| m.ctx.display_type(t)).collect())
}

fn tensor<T: Elem>(shape: &[usize], data: &[T]) -> Tensor {
    Tensor::from_vec(shape, data.to_vec())
}

#[test]
fn examples_are_valid_and_complete() {
    for info in DIALECT.ops {
        assert!(info.infer.is_some() && info.eval.is_some(), "{}", info.name);
        assert!(!info.summary().is_empty(), "{}", info.name);
        let m = parse(&function(example(info)));
        let text = m.to_text(PrintOptions::default());
        assert_eq!(parse(&text).to_text(PrintOptions::default()), text);
        let generic = PrintOptions { generic: true, ..PrintOptions::default() };
        assert_eq!(parse(&m.to_text(generic)).to_text(PrintOptions::default()), text);
        // Examples are in the printer's style, so that documentation and output agree.
        let body = |line: &str| line.split_once(" = ").map(|(_, b)| b.replace(['%', ' '], "")).unwrap_or_default();
        let names = |s: &str| s.chars().filter(|c| !c.is_alphanumeric()).collect::<String>();
        let printed = text.lines().find(|l| l.contains(info.name)).unwrap_or_default();
        assert_eq!(names(&body(printed)), names(&body(example(info))), "{printed}");
    }
}

#[test]
fn names_are_unique_and_follow_the_rule() {
    let mut names: Vec<&str> = DIALECT.ops.iter().map(|i| i.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), DIALECT.ops.len());
    let letters: std::collections::BTreeSet<String> = names.iter().map(|name| name.replace('_', "")).collect();
    assert_eq!(letters.len(), names.len(), "two ops for one operator");
    for (onnx, name) in [
        ("Conv", "conv"),
        ("LRN", "lrn"),
        ("IsInf", "is_inf"),
        ("LpPool", "lp_pool"),
        ("ReduceL1", "reduce_l1"),
        ("ReduceLogSumExp", "reduce_log_sum_exp"),
        ("GatherND", "gather_nd"),
        ("RMSNormalization", "rms_normalization"),
        ("QLinearMatMul", "qlinear_matmul"),
        ("LessOrEqual", "less_or_equal"),
        ("ConvTranspose", "conv_transpose"),
        ("IsNaN", "is_nan"),
        ("Col2Im", "col2im"),
    ] {
        assert_eq!(operator(onnx).map(|info| info.name), Some(format!("graph.{name}").as_str()));
    }
}

#[test]
fn executes() {
    let run = |line: &str, inputs: &[Tensor]| {
        let m = parse(&function(line));
        let name = line.split_once("= ").and_then(|(_, s)| s.split(' ').next()).expect("a name").to_owned();
        eval(&m, &name, inputs)
    };
    let x = tensor(&[1, 1, 3, 3], &[1f32, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
    let ones = tensor(&[1, 1, 2, 2], &[1f32; 4]);
    let y = run(
        "%y = graph.conv %x, %w {strides = array<i64: 1, 2>} : (tensor<?x1x3x3xf32>, tensor<1x1x2x2xf32>) -> tensor<?x1x2x1xf32>",
        &[x.clone(), ones],
    );
    assert_eq!(y[0].to_f64(), [12.0, 24.0]);
    let y = run(
        "%y:2 = graph.max_pool %x {kernel_shape = array<i64: 3, 3>} : (tensor<1x1x3x3xf32>) -> (tensor<1x1x1x1xf32>, tensor<1x1x1x1xi64>)",
        std::slice::from_ref(&x),
    );
    assert_eq!((y[0].to_f64(), y[1].to_i64()), (vec![9.0], Some(vec![8])));
    let y = run("%y = graph.leaky_relu %x : tensor<2xf32>", &[tensor(&[2], &[-100f32, 1.0])]);
    assert_eq!(y[0].to_f64(), [-1.0, 1.0]);
    // Only the upper bound: the middle operand is absent.
    let y = run(
        "%y = graph.clip %x max %m : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>",
        &[tensor(&[2], &[-100f32, 9.0]), Tensor::scalar(6f32)],
    );
    assert_eq!(y[0].to_f64(), [-100.0, 6.0]);
    let y = run("%y = graph.cast %x to ui8 : (tensor<2xf32>) -> tensor<2xui8>", &[tensor(&[2], &[-1f32, 9.7])]);
    assert_eq!((y[0].dtype(), y[0].to_i64()), (DType::U8, Some(vec![0, 9])));
    let y = run(
        "%y = graph.resize %x scales %s : (tensor<1x2xf32>, tensor<2xf32>) -> tensor<?x?xf32>",
        &[tensor(&[1, 2], &[1f32, 2.0]), tensor(&[2], &[1f32, 2.0])],
    );
    assert_eq!(y[0].to_f64(), [1.0, 1.0, 2.0, 2.0]);
    let y = run(
        "%y:2 = graph.split %x : (tensor<3xf32>) -> (tensor<2xf32>, tensor<1xf32>)",
        &[tensor(&[3], &[1f32, 2.0, 3.0])],
    );
    assert_eq!((y[0].to_f64(), y[1].to_f64()), (vec![1.0, 2.0], vec![3.0]));
}

#[test]
fn shapes_propagate_what_is_known() {
    let check = |line: &str, expected: &[&str]| {
        let name = line.split_once("= ").and_then(|(_, s)| s.split(' ').next()).expect("a name");
        assert_eq!(inferred(&function(line), name).unwrap(), expected, "{line}");
    };
    check(
        "%y = graph.conv %x, %w : (tensor<?x3x?x8xf32>, tensor<4x3x3x3xf32>) -> tensor<*xf32>",
        &["tensor<?x4x?x6xf32>"],
    );
    for (x, w, y) in [
        ("tensor<1x3x8xf32>", "tensor<6x1x3xf32>", "tensor<1x6x6xf32>"),
        ("tensor<1x?x8xf32>", "tensor<?x1x3xf32>", "tensor<1x?x6xf32>"),
        ("tensor<1x0x8xf32>", "tensor<0x?x3xf32>", "tensor<1x0x6xf32>"),
    ] {
        check(&format!("%y = graph.conv %x, %w {{group = -1 : i64}} : ({x}, {w}) -> tensor<*xf32>"), &[y]);
    }
    check("%y = graph.conv %x, %w : (tensor<*xf32>, tensor<4x3x3x3xf32>) -> tensor<*xf32>", &["tensor<?x4x?x?xf32>"]);
    check(
        "%y = graph.conv_transpose %x, %w {group = 2 : i64, strides = array<i64: 2>} : (tensor<1x?x8xf32>, tensor<4x3x2xf32>) -> tensor<*xf32>",
        &["tensor<1x6x16xf32>"],
    );
    check("%y = graph.add %a, %b : (tensor<?x1x4xf32>, tensor<3x?xf32>) -> tensor<*xf32>", &["tensor<?x3x4xf32>"]);
    check("%y = graph.matmul %a, %b : (tensor<?x4x?xf32>, tensor<8xf32>) -> tensor<*xf32>", &["tensor<?x4xf32>"]);
    check(
        "%y = graph.concat %a, %b {axis = -1 : i64} : (tensor<?x3xf32>, tensor<4x?xf32>) -> tensor<*xf32>",
        &["tensor<4x?xf32>"],
    );
    check("%y = graph.shape %x : (tensor<*xf32>) -> tensor<?xi64>", &["tensor<?xi64>"]);
    check("%y = graph.relu %x : tensor<*xf32>", &["tensor<*xf32>"]);
}

#[test]
fn shapes_follow_constant_operands() {
    let check = |lines: &str, expected: &str| {
        let text = format!("func.func @f(%x: tensor<?x3x4xf32>) {{\n{lines}\nreturn\n}}");
        let name = lines.lines().last().and_then(|l| l.split_once("= ")).and_then(|(_, s)| s.split(' ').next());
        assert_eq!(inferred(&text, name.expect("a name")).unwrap(), [expected], "{lines}");
    };
    let c = |values: &str, n: usize| format!("%c = graph.constant dense<{values}> : tensor<{n}xi64>\n");
    let unary = |op: &str, values: &str, n: usize| {
        format!("{}%y = graph.{op} %x, %c : (tensor<?x3x4xf32>, tensor<{n}xi64>) -> tensor<*xf32>", c(values, n))
    };
    check(&unary("reshape", "[0, -1]", 2), "tensor<?x12xf32>");
    check(&unary("reshape", "[-1, 6]", 2), "tensor<?x6xf32>");
    check(&unary("expand", "[5, 1, 1]", 3), "tensor<5x3x4xf32>");
    check(&unary("tile", "[2, 1, 2]", 3), "tensor<?x3x8xf32>");
    check(&unary("unsqueeze", "[0, -1]", 2), "tensor<1x?x3x4x1xf32>");
    check(&unary("squeeze", "[0]", 1), "tensor<3x4xf32>");
    check(&unary("reduce_sum", "[1]", 1), "tensor<?x1x4xf32>");
    check(&unary("pad", "[0, 1, 0, 2, -1, 3]", 6), "tensor<?x3x7xf32>");
    let slice = format!(
        "{}%y = graph.slice %x, %c, %c axes %c : (tensor<?x3x4xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<*xf32>",
        c("[1, 0]", 2)
    );
    check(&slice, "tensor<?x0x4xf32>");
    // Values computed from shapes and constants count as constants.
    let computed = [
        "%c = graph.constant dense<[-1, 2]> : tensor<2xi64>",
        "%i = graph.constant dense<1> : tensor<1xi64>",
        "%w = graph.constant dense<0.0> : tensor<5x3x4xf32>",
        "%s = graph.shape %w : (tensor<5x3x4xf32>) -> tensor<3xi64>",
        "%g = graph.gather %s, %i : (tensor<3xi64>, tensor<1xi64>) -> tensor<1xi64>",
        "%m = graph.mul %g, %c : (tensor<1xi64>, tensor<2xi64>) -> tensor<2xi64>",
        "%a = graph.abs %m : tensor<2xi64>",
        "%y = graph.reshape %x, %a : (tensor<?x3x4xf32>, tensor<2xi64>) -> tensor<*xf32>",
    ];
    check(&computed.join("\n"), "tensor<3x6xf32>");
}

#[test]
fn wrong_shapes_and_attributes_are_refused() {
    let refused = |line: &str| {
        let m = parse_module(&gradus_networks::context(), "t.mlir", function(line), ParseOptions::default());
        let m = m.unwrap_or_else(|e| panic!("{}\n{line}", message(&e)));
        assert!(verify(&m).is_err(), "{line}");
    };
    refused("%y = graph.add %a, %b : (tensor<3xf32>, tensor<4xf32>) -> tensor<*xf32>");
    refused("%y = graph.add %a, %b : (tensor<3xf32>, tensor<3xf16>) -> tensor<3xf32>");
    refused("%y = graph.conv %x, %w {group = 0 : i64} : (tensor<1x3x8xf32>, tensor<4x3x3xf32>) -> tensor<*xf32>");
    refused("%y = graph.conv %x, %w {group = -2 : i64} : (tensor<1x3x8xf32>, tensor<3x1x3xf32>) -> tensor<*xf32>");
    refused("%y = graph.conv %x, %w {group = -1 : i64} : (tensor<1x3x8xf32>, tensor<3x3x3xf32>) -> tensor<*xf32>");
    refused("%y = graph.conv %x, %w {group = -1 : i64} : (tensor<1x3x8xf32>, tensor<4x1x3xf32>) -> tensor<*xf32>");
    refused(
        "%y = graph.conv_transpose %x, %w {group = -1 : i64} : (tensor<1x3x8xf32>, tensor<3x1x3xf32>) -> tensor<*xf32>",
    );
    refused("%y = graph.conv %x, %w {group = 2 : i64} : (tensor<1x3x8xf32>, tensor<4x3x3xf32>) -> tensor<*xf32>");
    refused("%y = graph.conv %x, %w {auto_pad = \"SOME\"} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>");
    refused(
        "%y = graph.conv %x, %w {strides = array<i64: 0>} : (tensor<1x3x8xf32>, tensor<4x3x3xf32>) -> tensor<*xf32>",
    );
    refused("%y = graph.transpose %x {perm = array<i64: 0, 0>} : (tensor<2x3xf32>) -> tensor<*xf32>");
    refused("%y = graph.softmax %x {axis = 2 : i64} : tensor<2x3xf32>");
    refused("%y = graph.concat %a, %b {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<*xf32>");
    refused("%y = graph.prelu %x, %s : (tensor<1xf32>, tensor<3xf32>) -> tensor<*xf32>");
    refused("%y = graph.not %x : tensor<3xf32>");
    refused("%y = graph.depth_to_space %x {blocksize = 2 : i64} : (tensor<1x6x2x2xf32>) -> tensor<*xf32>");
    refused(
        "%y = graph.group_normalization %x, %a, %b {num_groups = 3 : i64} : (tensor<1x4x2xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<*xf32>",
    );
}

#[test]
fn folds_what_changes_nothing() {
    use gradus_ir::{FoldResult, Folded};
    let folded = |line: &str| {
        let m = parse(line);
        let op = m.ops_under(m.root()).into_iter().rfind(|&op| m.name_text(op).starts_with("graph.")).expect("an op");
        match gradus_ir::rewrite::fold(&m, op) {
            Some(Folded::Results(list)) => match list[..] {
                [FoldResult::Attr(a)] => m.ctx.display_attr(a),
                _ => "value".to_owned(),
            },
            _ => "nothing".to_owned(),
        }
    };
    let f = |line: &str| folded(&function(line));
    assert_eq!(f("%y = graph.identity %x : tensor<2xf32>"), "value");
    assert_eq!(f("%y = graph.transpose %x {perm = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>"), "value");
    assert_eq!(f("%y = graph.transpose %x : (tensor<2x2xf32>) -> tensor<2x2xf32>"), "nothing");
    assert_eq!(f("%y = graph.cast %x to f32 : (tensor<2xf32>) -> tensor<2xf32>"), "value");
    assert_eq!(f("%y = graph.shape %x : (tensor<2x3xf32>) -> tensor<2xi64>"), "dense<[2, 3]> : tensor<2xi64>");
    assert_eq!(f("%y = graph.shape %x : (tensor<2x?xf32>) -> tensor<2xi64>"), "nothing");
    assert_eq!(
        folded(
            "func.func @f(%x: tensor<2x3x4xf32>) {
            %a = graph.transpose %x {perm = array<i64: 1, 2, 0>} : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
            %b = graph.transpose %a {perm = array<i64: 2, 0, 1>} : (tensor<3x4x2xf32>) -> tensor<2x3x4xf32>
            return
        }"
        ),
        "value"
    );
    assert_eq!(
        folded(
            "func.func @f() {
            %a = graph.constant dense<[1, 2]> : tensor<2xi32>
            %b = graph.add %a, %a : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
            return
        }"
        ),
        "dense<[2, 4]> : tensor<2xi32>"
    );
}

#[test]
fn constants_of_every_form() {
    let m = parse(
        "func.func @f() {
            %a = graph.constant dense_resource<w> : tensor<2xf32>
            %b = graph.constant dense<7> : tensor<3xui8>
            return
        }
        {-# dialect_resources: { builtin: { w: \"0x040000000000803F00000040\" } } #-}",
    );
    assert_eq!(eval(&m, "graph.constant", &[])[0].to_f64(), [1.0, 2.0]);
    assert_eq!(types(&m, "graph.constant"), ["tensor<2xf32>"]);
    let ctx = gradus_networks::context();
    assert_eq!(onnx_type(&ctx, 1), Some(Type::F32));
    assert_eq!(onnx_type(&ctx, 8), None);
}
