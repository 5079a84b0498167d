//! `com.microsoft.DynamicQuantizeLSTM` as a function of standard operators: its weights are bytes, and its input and state are quantized while it
//! runs, the state in each step. Source: onnxruntime, which writes and runs the operator.

use super::NEWEST;
use super::expansion::F32;
use super::proto::{
    AttributeProto, AttributeType, FunctionProto, GraphProto, NodeProto, OperatorSetIdProto, ValueInfoProto,
};
use super::rewrite::{Adapted, NodeRewrite, int_attr, ints_attr};
use gradus_ir::tensor::Tensor;

const INPUTS: [&str; 12] = [
    "X",
    "W",
    "R",
    "B",
    "sequence_lens",
    "initial_h",
    "initial_c",
    "P",
    "W_scale",
    "W_zero_point",
    "R_scale",
    "R_zero_point",
];
const OUTPUTS: [&str; 3] = ["Y", "Y_h", "Y_c"];
const GATES: [&str; 3] = ["Sigmoid", "Tanh", "Tanh"];

/// Returns a node without facts about its values, before which others are inserted.
fn rewrite(node: NodeProto) -> NodeRewrite<'static> {
    NodeRewrite { node, before: Vec::new(), values: &() }
}

/// Returns the directions, each with whether it runs backwards.
fn directions(n: &NodeRewrite<'_>) -> Adapted<&'static [bool]> {
    match n.word("direction", "forward").as_str() {
        "forward" => Ok(&[false]),
        "reverse" => Ok(&[true]),
        "bidirectional" => Ok(&[false, true]),
        other => Err(format!("direction '{other}' is not known").into()),
    }
}

/// Whether a call has an input.
fn is_given(n: &NodeRewrite<'_>, name: &str) -> bool {
    INPUTS.iter().position(|&input| input == name).is_some_and(|i| !n.input(i).is_empty())
}

/// Returns the function that a call stands for.
///
/// # Errors
/// A form that is not supported.
pub(super) fn function(call: &NodeProto) -> Adapted<FunctionProto> {
    let mut n = rewrite(call.clone());
    if let Some(name) = ["sequence_lens", "P"].into_iter().find(|name| is_given(&n, name)) {
        return Err(format!("input '{name}' is not supported").into());
    }
    for a in &call.attribute {
        let is_known = match a.name.as_str() {
            "activations" => a.strings.iter().zip(GATES.iter().cycle()).all(|(have, want)| have == want),
            "input_forget" => a.i == 0,
            name => matches!(name, "direction" | "hidden_size"),
        };
        if !is_known {
            return Err(format!("attribute '{}' is not supported", a.name).into());
        }
    }
    let (directions, hidden) = (directions(&n)?, n.int("hidden_size", 0));
    if hidden <= 0 {
        return Err("attribute 'hidden_size' is missing".into());
    }
    let x = n.emit_many("DynamicQuantizeLinear", &["X"], vec![]);
    let mut parts: [Vec<String>; 3] = Default::default();
    for (number, &is_reversed) in directions.iter().enumerate() {
        let results = direction(&mut n, &x, (number as i64, is_reversed), hidden);
        parts.iter_mut().zip(results).for_each(|(parts, result)| parts.push(result));
    }
    for ((name, parts), axis) in OUTPUTS.into_iter().zip(parts).zip([1, 0, 0]) {
        let list = n.list(&[axis]);
        let parts: Vec<String> = parts.iter().map(|part| n.emit("Unsqueeze", &[part, &list], vec![])).collect();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        n.emit_as(name, "Concat", &parts, vec![int_attr("axis", axis)]);
    }
    Ok(FunctionProto {
        name: call.op_type.clone(),
        input: INPUTS.map(str::to_owned).to_vec(),
        output: OUTPUTS.map(str::to_owned).to_vec(),
        node: n.before,
        opset_import: vec![OperatorSetIdProto { version: NEWEST, ..OperatorSetIdProto::default() }],
        ..FunctionProto::default()
    })
}

/// Returns a quantized `x` by quantized weights, each with its scale and zero point, as floats.
fn product(
    n: &mut NodeRewrite<'_>,
    [x, scale, zero]: &[String; 3],
    [weights, weight_scale, weight_zero]: &[String; 3],
) -> String {
    let product = n.emit("MatMulInteger", &[x, weights, zero, weight_zero], vec![]);
    let product = n.cast(&product, F32);
    let scale = n.emit("Mul", &[scale, weight_scale], vec![]);
    n.emit("Mul", &[&product, &scale], vec![])
}

/// Adds one direction. Returns all states `[S, B, hidden]`, the last one, and the last cell.
fn direction(n: &mut NodeRewrite<'_>, x: &[String; 3], (number, is_reversed): (i64, bool), hidden: i64) -> [String; 3] {
    let at = n.constant(&Tensor::scalar(number));
    let of_direction = |n: &mut NodeRewrite<'_>, name: &str| n.emit("Gather", &[name, &at], vec![int_attr("axis", 0)]);
    let weights = ["W", "W_scale", "W_zero_point"].map(|name| of_direction(n, name));
    let mut products = product(n, x, &weights);
    if is_given(n, "B") {
        let bias = of_direction(n, "B");
        let [of_input, of_state] =
            n.emit_many("Split", &[&bias], vec![int_attr("axis", 0), int_attr("num_outputs", 2)]);
        let bias = n.emit("Add", &[&of_input, &of_state], vec![]);
        products = n.emit("Add", &[&products, &bias], vec![]);
    }
    let initial = ["initial_h", "initial_c"].map(|name| {
        if is_given(n, name) {
            return of_direction(n, name);
        }
        let batch = n.emit("Shape", &["X"], vec![int_attr("start", 1), int_attr("end", 2)]);
        let hidden = n.list(&[hidden]);
        let shape = n.emit("Concat", &[&batch, &hidden], vec![int_attr("axis", 0)]);
        n.emit("ConstantOfShape", &[&shape], vec![])
    });
    let recurrent = ["R", "R_scale", "R_zero_point"].map(|name| of_direction(n, name));
    let body = step(&recurrent, if is_reversed { "backward" } else { "forward" });
    let (name, r#type, g) = ("body".to_owned(), AttributeType::Graph as i32, Some(Box::new(body)));
    let attributes = vec![
        AttributeProto { name, r#type, g, ..AttributeProto::default() },
        int_attr("num_scan_inputs", 1),
        ints_attr("scan_input_directions", vec![is_reversed.into()]),
        ints_attr("scan_output_directions", vec![is_reversed.into()]),
    ];
    let [state, cell, states] = n.emit_many("Scan", &[&initial[0], &initial[1], &products], attributes);
    [states, state, cell]
}

/// Returns the graph of a step: from state, cell and the input's products to the next state, the next cell, and the state once more.
fn step(recurrent: &[String; 3], prefix: &str) -> GraphProto {
    let mut n = rewrite(NodeProto { output: vec![prefix.to_owned()], ..NodeProto::default() });
    let [state, cell, products, next, kept] = ["h", "c", "x", "next", "kept"].map(|name| format!("{prefix}/{name}"));
    let quantized = n.emit_many("DynamicQuantizeLinear", &[&state], vec![]);
    let of_state = product(&mut n, &quantized, recurrent);
    let gates = n.emit("Add", &[&products, &of_state], vec![]);
    let [input, output, forget, new] =
        n.emit_many("Split", &[&gates], vec![int_attr("axis", -1), int_attr("num_outputs", 4)]);
    let [input, output, forget] = [input, output, forget].map(|gate| n.emit("Sigmoid", &[&gate], vec![]));
    let new = n.emit("Tanh", &[&new], vec![]);
    let (kept_part, new_part) = (n.emit("Mul", &[&forget, &cell], vec![]), n.emit("Mul", &[&input, &new], vec![]));
    n.emit_as(&next, "Add", &[&kept_part, &new_part], vec![]);
    let activated = n.emit("Tanh", &[&next], vec![]);
    n.emit_as(&kept, "Mul", &[&output, &activated], vec![]);
    let copy = n.emit("Identity", &[&kept], vec![]);
    let infos = |names: &[&String]| {
        names.iter().map(|&name| ValueInfoProto { name: name.clone(), ..ValueInfoProto::default() }).collect()
    };
    GraphProto {
        input: infos(&[&state, &cell, &products]),
        output: infos(&[&kept, &next, &copy]),
        node: n.before,
        ..GraphProto::default()
    }
}
