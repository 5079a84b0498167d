//! Imports of models that are made here, message by message.

use gradus_ir::tensor::Tensor;
use gradus_ir::{Module, PrintOptions};
use gradus_lowering::onnx::proto::*;
use gradus_lowering::onnx_to_graph::{ImportOptions, check, import};
use gradus_machines::context;
use prost::Message;

/// Returns the type of a tensor of `f32`, with numbers or parameters as dimensions.
fn value(name: &str, elem: DataType, dims: &[&str]) -> ValueInfoProto {
    let dim = |d: &&str| {
        let value = match d.parse() {
            Ok(n) => DimensionValue::DimValue(n),
            Err(_) => DimensionValue::DimParam((*d).to_owned()),
        };
        Dimension { value: Some(value), denotation: String::new() }
    };
    let shape = Some(TensorShapeProto { dim: dims.iter().map(dim).collect() });
    let tensor = TypeValue::Tensor(TensorType { elem_type: elem as i32, shape });
    let ty = TypeProto { value: Some(tensor), denotation: String::new() };
    ValueInfoProto { name: name.to_owned(), r#type: Some(ty), doc_string: String::new() }
}

fn node(op_type: &str, input: &[&str], output: &[&str], attribute: Vec<AttributeProto>) -> NodeProto {
    let names = |list: &[&str]| list.iter().map(|n| (*n).to_owned()).collect();
    let (op_type, name) = (op_type.to_owned(), format!("node_{}", output.first().unwrap_or(&"")));
    NodeProto { input: names(input), output: names(output), name, op_type, attribute, ..NodeProto::default() }
}

fn ints(name: &str, ints: &[i64]) -> AttributeProto {
    let (name, r#type) = (name.to_owned(), AttributeType::Ints as i32);
    AttributeProto { name, r#type, ints: ints.to_vec(), ..AttributeProto::default() }
}

fn int(name: &str, i: i64) -> AttributeProto {
    AttributeProto { name: name.to_owned(), r#type: AttributeType::Int as i32, i, ..AttributeProto::default() }
}

fn float(name: &str, f: f32) -> AttributeProto {
    AttributeProto { name: name.to_owned(), r#type: AttributeType::Float as i32, f, ..AttributeProto::default() }
}

fn weights(name: &str, dims: &[i64], data: &[f32]) -> TensorProto {
    let (name, data_type) = (name.to_owned(), DataType::Float as i32);
    TensorProto { name, data_type, dims: dims.to_vec(), float_data: data.to_vec(), ..TensorProto::default() }
}

fn model(version: i64, node: Vec<NodeProto>, input: Vec<ValueInfoProto>, output: Vec<ValueInfoProto>) -> ModelProto {
    let graph = GraphProto { node, name: "net".to_owned(), input, output, ..GraphProto::default() };
    let opset = OperatorSetIdProto { domain: String::new(), version };
    ModelProto { ir_version: 8, opset_import: vec![opset], graph: Some(graph), ..ModelProto::default() }
}

fn try_import(model: &ModelProto, options: &ImportOptions) -> Result<Module, String> {
    let ctx = context();
    import(&ctx, model.encode_to_vec().into(), "model.onnx", options)
        .map(|imported| imported.module)
        .map_err(|errors| errors.iter().map(|e| e.render(&ctx)).collect())
}

#[track_caller]
fn text(model: &ModelProto) -> String {
    try_import(model, &ImportOptions::default()).unwrap_or_else(|e| panic!("{e}")).to_text(PrintOptions::default())
}

#[track_caller]
fn errors(model: &ModelProto) -> String {
    try_import(model, &ImportOptions::default()).err().expect("an error")
}

#[track_caller]
fn contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no {part:?} in:\n{text}");
    }
}

const F: DataType = DataType::Float;

#[test]
fn interface_keeps_names_and_parameters_get_values() {
    let relu = node("Relu", &["image"], &["logits"], vec![]);
    let m = model(17, vec![relu], vec![value("image", F, &["batch", "1", "8"])], vec![value("logits", F, &[])]);
    let mut m = ModelProto { producer_name: "maker".to_owned(), ..m };
    let ctx = context();
    let imported = import(&ctx, m.encode_to_vec().into(), "m", &ImportOptions::default()).unwrap();
    let said: String = imported.warnings.iter().map(|d| d.render(&ctx)).collect();
    contains(&said, &["\"logits\": warning: output is of type tensor<?x1x8xf32>, but the model says tensor<f32>"]);
    m.graph.as_mut().unwrap().output[0] = value("logits", DataType::Double, &["batch", "1", "8"]);
    contains(&errors(&m), &["error: output is of type tensor<?x1x8xf32>, but the model says tensor<?x1x8xf64>"]);
    m.graph.as_mut().unwrap().output[0] = value("logits", F, &["batch", "1", "8"]);
    contains(
        &text(&m),
        &[
            "module attributes {onnx.graph = \"net\", onnx.opset = 17 : i64, onnx.producer = \"maker\"}",
            "func.func @main(",
            ": tensor<?x1x8xf32> {graph.name = \"image\"}) -> (tensor<?x1x8xf32> {graph.name = \"logits\"})",
        ],
    );
    let options = ImportOptions { dims: vec![("batch".to_owned(), 4)], ..ImportOptions::default() };
    let four = try_import(&m, &options).unwrap().to_text(PrintOptions::default());
    contains(&four, &["tensor<4x1x8xf32>"]);
    assert!(!four.contains('?'), "{four}");
    let options = ImportOptions { dims: vec![("batches".to_owned(), 4)], ..ImportOptions::default() };
    contains(&try_import(&m, &options).err().unwrap(), &["no input has a dimension parameter 'batches'"]);
}

#[test]
fn optional_inputs_may_be_left_out() {
    // The lower bound is left out by an empty name, the bounds of the second node at the end.
    let nodes = vec![node("Clip", &["x", "", "top"], &["y"], vec![]), node("Clip", &["y"], &["z"], vec![])];
    let mut m = model(13, nodes, vec![value("x", F, &["2"])], vec![value("z", F, &["2"])]);
    m.graph.as_mut().unwrap().initializer = vec![weights("top", &[], &[6.0]), weights("unused", &[9], &[])];
    let text = text(&m);
    contains(&text, &["graph.clip", "dense<6.000000e+00> : tensor<f32>"]);
    assert_eq!(text.matches("graph.constant").count(), 1, "{text}");
}

#[test]
fn constant_inputs_are_no_parameters() {
    let nodes = vec![node("Reshape", &["x", "shape"], &["y"], vec![])];
    let inputs = vec![value("x", F, &["2", "3"]), value("shape", DataType::Int64, &["1"])];
    let m = model(14, nodes, inputs, vec![value("y", F, &["6"])]);
    let given =
        |t: Tensor| ImportOptions { constant_inputs: vec![("shape".to_owned(), t)], ..ImportOptions::default() };
    let text = try_import(&m, &given(Tensor::from_vec(&[1], vec![-1i64]))).unwrap().to_text(PrintOptions::default());
    contains(&text, &["dense<-1> : tensor<1xi64>", "tensor<6xf32>"]);
    let error = try_import(&m, &given(Tensor::scalar(-1i64))).err().unwrap();
    contains(&error, &["\"shape\": error: is of type tensor<i64>, but the model says tensor<1xi64>"]);
}

#[test]
fn old_versions_become_the_newest() {
    let old = |version, nodes| {
        text(&model(
            version,
            nodes,
            vec![value("x", F, &["1", "2", "3"])],
            vec![ValueInfoProto { r#type: None, ..value("z", F, &[]) }],
        ))
    };
    let squeeze = node("Squeeze", &["x"], &["z"], vec![ints("axes", &[0])]);
    contains(&old(11, vec![squeeze]), &["dense<0> : tensor<1xi64>", "-> (tensor<2x3xf32> {"]);
    let slice = vec![ints("starts", &[1]), ints("ends", &[3]), ints("axes", &[2])];
    contains(&old(9, vec![node("Slice", &["x"], &["z"], slice)]), &["-> (tensor<1x2x2xf32> {"]);
    let clip = vec![float("min", 0.5), ints("consumed_inputs", &[0])];
    contains(&old(5, vec![node("Clip", &["x"], &["z"], clip)]), &["dense<5.000000e-01> : tensor<f32>"]);
    contains(&old(12, vec![node("Softmax", &["x"], &["z"], vec![int("axis", 2)])]), &["graph.softmax"]);
    contains(&old(12, vec![node("Softmax", &["x"], &["z"], vec![])]), &["axis = 1", "legacy_flatten = 1"]);
    let c = node("Constant", &[], &["c"], vec![ints("value_ints", &[2, 3])]);
    contains(&old(12, vec![c, node("Reshape", &["x", "c"], &["z"], vec![])]), &["-> (tensor<2x3xf32> {"]);
    let add = vec![int("axis", 0), int("broadcast", 1)];
    let c = AttributeProto { floats: vec![7.0], r#type: AttributeType::Floats as i32, ..ints("value_floats", &[]) };
    let nodes = vec![node("Constant", &[], &["c"], vec![c]), node("Add", &["x", "c"], &["z"], add)];
    contains(&old(6, nodes), &["graph.unsqueeze", "tensor<1x1x1xf32>", "-> (tensor<1x2x3xf32> {"]);
    let up = AttributeProto { floats: vec![1., 2., 2.], r#type: AttributeType::Floats as i32, ..ints("scales", &[]) };
    let nodes = vec![node("Upsample", &["x"], &["z"], vec![up])];
    contains(&old(7, nodes), &["graph.resize", "\"asymmetric\"", "\"floor\"", "-> (tensor<1x4x6xf32> {"]);
}

#[test]
fn old_words_and_defaults_become_the_newest() {
    let word = |name: &str, s: &'static str| AttributeProto {
        name: name.to_owned(),
        r#type: AttributeType::String as i32,
        s: s.into(),
        ..AttributeProto::default()
    };
    let old = |version, node, inputs| {
        let output = ValueInfoProto { r#type: None, ..value("z", F, &[]) };
        text(&model(version, vec![node], inputs, vec![output]))
    };
    let x = || value("x", F, &["1", "4", "6", "6"]);
    let grid = || value("g", F, &["1", "2", "3", "2"]);
    let cubic = node("GridSample", &["x", "g"], &["z"], vec![word("mode", "bicubic")]);
    contains(
        &old(16, cubic, vec![x(), grid()]),
        &["graph.grid_sample", "mode = \"cubic\"", "-> (tensor<1x4x2x3xf32> {"],
    );
    let inputs = vec![x(), value("r", F, &["5", "4"]), value("b", DataType::Int64, &["5"])];
    let align = || node("RoiAlign", &["x", "r", "b"], &["z"], vec![]);
    contains(&old(10, align(), inputs.clone()), &["\"output_half_pixel\"", "-> (tensor<5x4x1x1xf32> {"]);
    assert!(!old(16, align(), inputs).contains("output_half_pixel"));
    let groups = node("GroupNormalization", &["x", "s", "s"], &["z"], vec![int("num_groups", 2)]);
    let per_group = old(18, groups.clone(), vec![x(), value("s", F, &["2"])]);
    contains(&per_group, &["graph.expand", "dense<2> : tensor<2xi64>", "tensor<4xf32>, tensor<4xf32>"]);
    assert!(!old(21, groups, vec![x(), value("s", F, &["4"])]).contains("graph.expand"));
    let dft = node("DFT", &["x"], &["z"], vec![int("onesided", 1)]);
    let spectrum = old(17, dft, vec![value("x", F, &["2", "8", "3", "1"])]);
    contains(&spectrum, &["dense<1> : tensor<1xi64>", "axis", "-> (tensor<2x5x3x2xf32> {"]);
    contains(&old(12, node("Hardmax", &["x"], &["z"], vec![]), vec![x()]), &["axis = 1", "legacy_flatten = 1"]);
    contains(&old(9, node("TopK", &["x"], &["z", "i"], vec![int("k", 2)]), vec![x()]), &["tensor<1x4x6x2xi64>"]);
}

#[test]
fn results_are_made_up_to_the_last_that_has_a_name() {
    let all = ["Y", "", "", "scores"];
    let nodes = vec![node("Attention", &["q", "k", "k", "", "p", "p"], &all, vec![int("is_causal", 1)])];
    let q = value("q", F, &["1", "4", "3", "8"]);
    let inputs = vec![q, value("k", F, &["1", "2", "5", "8"]), value("p", F, &["1", "2", "7", "8"])];
    let outputs = vec![value("Y", F, &["1", "4", "3", "8"]), value("scores", F, &["1", "4", "3", "12"])];
    let text = text(&model(25, nodes, inputs, outputs));
    contains(&text, &["%0:4 = graph.attention", "past_key", "tensor<1x2x12x8xf32>", "return %0#0, %0#3"]);
}

#[test]
fn small_element_types_are_types() {
    let cast = |to: DataType| node("Cast", &["x"], &["z"], vec![int("to", to as i64)]);
    let into = |to: DataType| {
        let output = value("z", to, &["3"]);
        text(&model(25, vec![cast(to)], vec![value("x", F, &["3"])], vec![output]))
    };
    contains(&into(DataType::Float8e4m3fn), &["to f8E4M3FN", "tensor<3xf8E4M3FN>"]);
    contains(&into(DataType::Uint4), &["tensor<3xui4>"]);
    contains(&into(DataType::Float4e2m1), &["tensor<3xf4E2M1FN>"]);
}

#[test]
fn equal_splits_are_counted() {
    let split = node("Split", &["x"], &["a", "b"], vec![int("axis", 1)]);
    let m = model(11, vec![split], vec![value("x", F, &["2", "6"])], vec![value("b", F, &["2", "3"])]);
    contains(&text(&m), &["graph.split", "tensor<2x3xf32>"]);
}

#[test]
fn functions_are_expanded() {
    let alpha = AttributeProto { ref_attr_name: "slope".to_owned(), ..float("alpha", 0.0) };
    let body = vec![node("LeakyRelu", &["in"], &["t"], vec![alpha]), node("Neg", &["t"], &["out"], vec![])];
    let function = FunctionProto {
        name: "Twist".to_owned(),
        domain: "mine".to_owned(),
        input: vec!["in".to_owned()],
        output: vec!["out".to_owned(), "in".to_owned()],
        attribute: vec!["slope".to_owned()],
        node: body,
        ..FunctionProto::default()
    };
    let call =
        |x, y: &[&str]| NodeProto { domain: "mine".to_owned(), ..node("Twist", &[x], y, vec![float("slope", 0.5)]) };
    let nodes = vec![call("x", &["y", "same"]), call("same", &["z"])];
    let mut m = model(17, nodes, vec![value("x", F, &["2"])], vec![value("y", F, &["2"]), value("z", F, &["2"])]);
    m.functions = vec![function];
    let text = text(&m);
    assert_eq!((text.matches("graph.leaky_relu").count(), text.matches("graph.neg").count()), (2, 2), "{text}");
    contains(&text, &["5.000000e-01"]);
    m.functions[0].node[0] = call("in", &["t"]);
    contains(&errors(&m), &["nested too deeply, or it calls itself"]);
    // Each function calls the next nine times: small as a file, and endless when expanded, though no node ever comes out.
    let level = |i: usize| FunctionProto {
        name: if i == 0 { "Twist".to_owned() } else { format!("Twist{i}") },
        node: vec![NodeProto { op_type: format!("Twist{}", i + 1), ..call("in", &["t"]) }; 9],
        ..m.functions[0].clone()
    };
    m.functions = (0..30).map(level).collect();
    m.functions[29].node.clear();
    contains(&errors(&m), &["the model expands to too many nodes"]);
}

#[test]
fn all_unsupported_operators_are_listed() {
    let custom = NodeProto { domain: "com.me".to_owned(), ..node("Magic", &["x"], &["a"], vec![]) };
    let body = AttributeProto { r#type: AttributeType::Graph as i32, g: Some(Box::default()), ..int("then_branch", 0) };
    let nodes = vec![
        custom.clone(),
        NodeProto { output: vec!["b".to_owned()], name: String::new(), ..custom },
        node("Unknown", &["a"], &["c"], vec![body]),
        node("Relu", &["b"], &["y"], vec![]),
        node("Frobnicate", &["x"], &["d"], vec![]),
    ];
    let m = model(17, nodes, vec![value("x", F, &["2"])], vec![value("y", F, &["2"])]);
    let coverage = check(&context(), m.encode_to_vec().into(), "m", &ImportOptions::default()).unwrap();
    assert_eq!(coverage.supported, [("Relu".to_owned(), 1)]);
    let list: Vec<_> = coverage.unsupported.iter().map(|u| (u.op.as_str(), u.count, u.places.join(" "))).collect();
    let want =
        [("Frobnicate", 1, "node_d".into()), ("Unknown", 1, "node_c".into()), ("com.me.Magic", 2, "node_a b".into())];
    assert_eq!(list, want);
    // Nothing is said about what merely follows from an error.
    let all = errors(&m);
    assert_eq!(all.lines().count(), 4, "{all}");
    contains(&all, &["\"node_a\": error: com.me.Magic: the operator is not supported\n\"b\": error:"]);
    contains(&all, &["\"node_c\": error: Unknown: the operator is not supported"]);
}

#[test]
fn what_is_wrong_is_named() {
    let with = |nodes: Vec<NodeProto>| model(17, nodes, vec![value("x", F, &["2"])], vec![value("y", F, &["2"])]);
    let relu = || node("Relu", &["x"], &["y"], vec![]);
    let fails = |nodes: Vec<NodeProto>, why: &str| contains(&errors(&with(nodes)), &[why]);
    fails(vec![node("Relu", &["x", "x"], &["y"], vec![])], "\"node_y\": error: Relu: there are 2 inputs");
    fails(vec![node("Relu", &[], &["y"], vec![])], "is missing");
    fails(vec![node("Relu", &["x"], &["y", "z"], vec![])], "there are 2 outputs");
    fails(vec![node("Relu", &["x"], &[], vec![])], "the node has no results");
    fails(vec![node("Relu", &["x"], &["y"], vec![int("slope", 1)])], "there is no attribute 'slope'");
    fails(vec![node("LeakyRelu", &["x"], &["y"], vec![float("alpa", 1.0)])], "did you mean 'alpha'?");
    fails(vec![node("LeakyRelu", &["x"], &["y"], vec![ints("alpha", &[1])])], "attribute 'alpha' must be 32-bit float");
    fails(vec![node("LeakyRelu", &["x"], &["y"], vec![float("alpha", 1.), float("alpha", 1.)])], "is given twice");
    fails(vec![node("Cast", &["x"], &["y"], vec![])], "attribute 'to' is missing");
    fails(vec![node("Cast", &["x"], &["y"], vec![int("to", 8)])], "element type String is not supported");
    fails(vec![relu(), relu()], "'y' is defined twice");
    fails(vec![node("Relu", &["x"], &["x"], vec![])], "'x' is defined twice");
    fails(vec![node("Relu", &["w"], &["y"], vec![])], "'w' is used, but not defined");
    fails(vec![node("Relu", &["y"], &["y"], vec![])], "the nodes form a cycle: 'node_y' uses 'node_y'");
    fails(
        vec![node("Relu", &["t"], &["y"], vec![]), node("Relu", &["y"], &["t"], vec![])],
        "\"node_y\": error: the nodes form a cycle: 'node_y' uses 'node_t' uses 'node_y'",
    );
    fails(vec![], "output 'y' is used, but not defined");
    let header = |change: fn(&mut ModelProto), why: &str| {
        let mut m = with(vec![relu()]);
        change(&mut m);
        contains(&errors(&m), &["\"model.onnx\": error: ", why]);
    };
    header(|m| m.graph = None, "the model has no graph");
    header(|m| m.opset_import.clear(), "does not say which operator set");
    header(|m| m.opset_import[0].version = 1000, "operator set version 1000 is newer than");
    header(|m| m.opset_import[0].version = -1, "operator set version -1 does not exist");
    header(|m| m.graph.as_mut().unwrap().output.clear(), "the graph is empty");
    let mut m = with(vec![relu()]);
    m.graph.as_mut().unwrap().input[0].r#type = None;
    assert_eq!(errors(&m), "\"x\": error: the input has no type\n");
    let many = (0..50).map(|i| node("Relu", &["w"], &[&format!("y{i}")], vec![])).collect();
    assert_eq!(errors(&with(many)).lines().count(), 20);
}

#[test]
fn damaged_models_are_refused() {
    let nodes = vec![
        node("Conv", &["x", "w"], &["c"], vec![ints("pads", &[1, 1, 1, 1]), int("group", 1)]),
        node("Softmax", &["c"], &["s"], vec![int("axis", 1)]),
        node("Split", &["s"], &["a", "b"], vec![int("axis", 3)]),
        node("Concat", &["a", "b"], &["y"], vec![int("axis", 0)]),
    ];
    let inputs = vec![value("x", F, &["n", "1", "4", "4"])];
    let mut m = model(11, nodes, inputs, vec![value("y", F, &["m", "2", "4", "2"])]);
    m.graph.as_mut().unwrap().initializer = vec![weights("w", &[2, 1, 3, 3], &[0.5; 18])];
    let good = m.encode_to_vec();
    let ctx = context();
    import(&ctx, good.clone().into(), "m", &ImportOptions::default()).unwrap();
    for end in 0..good.len() {
        let _ = import(&ctx, good[..end].to_vec().into(), "m", &ImportOptions::default());
        let _ = check(&ctx, good[..end].to_vec().into(), "m", &ImportOptions::default());
    }
    // A small generator of its own: the same damage in every run.
    let mut state = 1u64;
    for _ in 0..3000 {
        let mut bytes = good.clone();
        for _ in 0..1 + state % 3 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let at = (state >> 33) as usize % bytes.len();
            bytes[at] = (state >> 20) as u8;
        }
        let _ = import(&ctx, bytes.into(), "m", &ImportOptions::default());
    }
}

/// Returns a node that runs a graph.
fn running(op: &str, inputs: &[&str], outputs: &[&str], attribute: &str, graph: GraphProto) -> NodeProto {
    let body = AttributeProto { r#type: AttributeType::Graph as i32, g: Some(Box::new(graph)), ..int(attribute, 0) };
    node(op, inputs, outputs, vec![body])
}

#[test]
fn a_variable_hides_a_value_of_its_name() {
    // The condition of the next iteration is the variable `go`, not the constant around the loop.
    let body = GraphProto {
        input: vec![
            value("k", DataType::Int64, &[]),
            value("c", DataType::Bool, &[]),
            value("go", DataType::Bool, &[]),
        ],
        node: vec![node("Not", &["go"], &["next"], vec![])],
        output: vec![value("go", DataType::Bool, &[]), value("next", DataType::Bool, &[])],
        ..GraphProto::default()
    };
    let always =
        TensorProto { name: "go".to_owned(), data_type: 9, raw_data: vec![1].into(), ..TensorProto::default() };
    let nodes = vec![running("Loop", &["", "", "go"], &["y"], "body", body)];
    let mut m = model(17, nodes, vec![value("x", F, &["2"])], vec![value("y", DataType::Bool, &[])]);
    m.graph.as_mut().unwrap().initializer = vec![always];
    contains(&text(&m), &["scf.while"]);
}

#[test]
fn axes_of_scans_are_checked() {
    let body = GraphProto {
        input: vec![value("a", F, &[])],
        node: vec![node("Neg", &["a"], &["b"], vec![])],
        output: vec![value("b", F, &[])],
        ..GraphProto::default()
    };
    let ints = |name: &str, ints: Vec<i64>| AttributeProto { ints, r#type: AttributeType::Ints as i32, ..int(name, 0) };
    for axes in ["scan_input_axes", "scan_output_axes"] {
        let mut scan = running("Scan", &["x"], &["y"], "body", body.clone());
        scan.attribute.extend([int("num_scan_inputs", 1), ints(axes, vec![7])]);
        let m = model(17, vec![scan], vec![value("x", F, &["2"])], vec![value("y", F, &["2"])]);
        contains(&errors(&m), &["axis 7 is out of range"]);
    }
}

#[test]
fn expansions_know_all_that_nodes_say() {
    let of = |op: &str, inputs: &[&str], attributes: Vec<AttributeProto>| {
        let one = NodeProto { domain: "com.microsoft".to_owned(), ..node(op, inputs, &["y"], attributes) };
        errors(&model(17, vec![one], vec![value("x", F, &["2"])], vec![value("y", F, &["2"])]))
    };
    contains(&of("QuickGelu", &["x", "x"], vec![]), &["inputs after the first 1 are not supported"]);
    contains(&of("QuickGelu", &["x"], vec![int("beta", 2)]), &["attribute 'beta' is not supported"]);
}

/// A tree of two levels whose first node tests a feature, and is followed by nodes `yes` and `no`.
fn tree(feature: i64, yes: i64, no: i64) -> ModelProto {
    let list = |name: &str, list: &[f32]| AttributeProto { floats: list.to_vec(), ..float(name, 0.0) };
    let modes = ["BRANCH_LEQ", "LEAF", "LEAF"].map(|mode| mode.as_bytes().to_vec().into()).to_vec();
    let attributes = vec![
        ints("nodes_treeids", &[0, 0, 0]),
        ints("nodes_nodeids", &[0, 1, 2]),
        // The features of leaves are not read.
        ints("nodes_featureids", &[feature, -2, 9]),
        list("nodes_values", &[0.5, 0.0, 0.0]),
        AttributeProto { strings: modes, r#type: AttributeType::Strings as i32, ..int("nodes_modes", 0) },
        ints("nodes_truenodeids", &[yes, 0, 0]),
        ints("nodes_falsenodeids", &[no, 0, 0]),
        ints("target_treeids", &[0, 0]),
        ints("target_nodeids", &[1, 2]),
        ints("target_ids", &[0, 0]),
        list("target_weights", &[10.0, 20.0]),
        int("n_targets", 1),
    ];
    let one = node("TreeEnsembleRegressor", &["x"], &["y"], attributes);
    let one = NodeProto { domain: "ai.onnx.ml".to_owned(), ..one };
    model(17, vec![one], vec![value("x", F, &["3", "2"])], vec![value("y", F, &["3", "1"])])
}

#[test]
fn trees_are_gathers() {
    contains(&text(&tree(1, 1, 2)), &["graph.gather_elements", "graph.less_or_equal", "-> tensor<3x1xf32>"]);
    contains(&errors(&tree(1, 1, 7)), &["tree 0 has no node 7"]);
    contains(&errors(&tree(1, 0, 0)), &["a tree has not one root"]);
    contains(&errors(&tree(-1, 1, 2)), &["feature -1 does not exist"]);
}

#[test]
fn quantized_recurrent_layers_are_loops() {
    let of = |inputs: &[&str]| {
        let one = node("DynamicQuantizeLSTM", inputs, &["y"], vec![int("hidden_size", 2)]);
        let mut m =
            model(17, vec![NodeProto { domain: "com.microsoft".to_owned(), ..one }], vec![], vec![value("y", F, &[])]);
        let bytes = DataType::Int8;
        let graph = m.graph.as_mut().unwrap();
        graph.input = vec![
            value("x", F, &["5", "1", "3"]),
            value("w", bytes, &["1", "3", "8"]),
            value("r", bytes, &["1", "2", "8"]),
        ];
        graph.input.extend([value("s", F, &["1"]), value("z", bytes, &["1"])]);
        m
    };
    let inputs = ["x", "w", "r", "", "", "", "", "", "s", "z", "s", "z"];
    contains(&text(&of(&inputs)), &["scf.for", "graph.matmul_integer", "-> tensor<5x1x1x2xf32>"]);
    let with_peepholes = ["x", "w", "r", "", "", "", "", "s", "s", "z", "s", "z"];
    contains(&errors(&of(&with_peepholes)), &["DynamicQuantizeLSTM: input 'P' is not supported"]);
}
