//! `com.microsoft.DynamicQuantizeLSTM` as a function of standard operators: its weights are bytes, and its input and state are quantized while it
//! runs, the state in each step. Source: onnxruntime, which writes and runs the operator.

use super::NEWEST;
use super::expansion::F32;
use super::proto::{
    AttributeProto, AttributeType, FunctionProto, GraphProto, NodeProto, OperatorSetIdProto, ValueInfoProto,
};
use super::rewrite::{Adapted, int_attr, ints_attr, tensor_proto, value_attr};
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

/// Nodes of a graph while it is built.
struct Nodes {
    nodes: Vec<NodeProto>,
    prefix: &'static str,
}

impl Nodes {
    fn new(prefix: &'static str) -> Nodes {
        Nodes { nodes: Vec::new(), prefix }
    }

    /// Adds a node and returns the names of its results.
    fn many<const N: usize>(&mut self, op_type: &str, inputs: &[&str], attribute: Vec<AttributeProto>) -> [String; N] {
        let first = self.nodes.len();
        let output: [String; N] = std::array::from_fn(|i| format!("{}{first}.{i}", self.prefix));
        let input = inputs.iter().map(|&name| name.to_owned()).collect();
        let op_type = op_type.to_owned();
        self.nodes.push(NodeProto { input, output: output.to_vec(), op_type, attribute, ..NodeProto::default() });
        output
    }

    fn one(&mut self, op_type: &str, inputs: &[&str], attribute: Vec<AttributeProto>) -> String {
        let [result] = self.many(op_type, inputs, attribute);
        result
    }

    fn constant(&mut self, tensor: &Tensor) -> String {
        self.one("Constant", &[], vec![value_attr(tensor_proto(tensor))])
    }

    fn list(&mut self, ints: &[i64]) -> String {
        self.constant(&Tensor::from_vec(&[ints.len()], ints.to_vec()))
    }

    /// Returns `x` by quantized weights with their scale and zero point, as floats.
    fn product(
        &mut self,
        [x, scale, zero]: &[String; 3],
        [weights, weight_scale, weight_zero]: &[String; 3],
    ) -> String {
        let product = self.one("MatMulInteger", &[x, weights, zero, weight_zero], vec![]);
        let product = self.one("Cast", &[&product], vec![int_attr("to", F32)]);
        let scale = self.one("Mul", &[scale, weight_scale], vec![]);
        self.one("Mul", &[&product, &scale], vec![])
    }

    /// Adds a node whose result has a given name.
    fn named(&mut self, name: &str, op_type: &str, inputs: &[&str], attribute: Vec<AttributeProto>) {
        self.one(op_type, inputs, attribute);
        if let Some(node) = self.nodes.last_mut() {
            node.output = vec![name.to_owned()];
        }
    }
}

/// Returns the directions, each with whether it runs backwards.
fn directions(call: &NodeProto) -> Adapted<&'static [bool]> {
    let given = call.attribute.iter().find(|a| a.name == "direction");
    match given.map_or(&b"forward"[..], |a| &a.s[..]) {
        b"forward" => Ok(&[false]),
        b"reverse" => Ok(&[true]),
        b"bidirectional" => Ok(&[false, true]),
        other => Err(format!("direction '{}' is not known", String::from_utf8_lossy(other)).into()),
    }
}

/// Returns the function that a call stands for.
///
/// # Errors
/// A form that is not supported.
pub(super) fn function(call: &NodeProto) -> Adapted<FunctionProto> {
    let is_given = |name: &str| {
        let i = INPUTS.iter().position(|&input| input == name);
        i.and_then(|i| call.input.get(i)).is_some_and(|name| !name.is_empty())
    };
    if let Some(name) = ["sequence_lens", "P"].into_iter().find(|name| is_given(name)) {
        return Err(format!("input '{name}' is not supported").into());
    }
    let directions = directions(call)?;
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
    let hidden = call.attribute.iter().find(|a| a.name == "hidden_size").map(|a| a.i).filter(|&n| n > 0);
    let hidden = hidden.ok_or("attribute 'hidden_size' is missing")?;
    let mut n = Nodes::new("n");
    let x = n.many("DynamicQuantizeLinear", &["X"], vec![]);
    let mut parts: [Vec<String>; 3] = Default::default();
    for (number, &is_reversed) in directions.iter().enumerate() {
        let results = direction(&mut n, &x, (number as i64, is_reversed), hidden, &is_given);
        parts.iter_mut().zip(results).for_each(|(parts, result)| parts.push(result));
    }
    for ((name, parts), axis) in OUTPUTS.into_iter().zip(parts).zip([1, 0, 0]) {
        let list = n.list(&[axis]);
        let parts: Vec<String> = parts.iter().map(|part| n.one("Unsqueeze", &[part, &list], vec![])).collect();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        n.named(name, "Concat", &parts, vec![int_attr("axis", axis)]);
    }
    Ok(FunctionProto {
        name: call.op_type.clone(),
        input: INPUTS.map(str::to_owned).to_vec(),
        output: OUTPUTS.map(str::to_owned).to_vec(),
        node: n.nodes,
        opset_import: vec![OperatorSetIdProto { version: NEWEST, ..OperatorSetIdProto::default() }],
        ..FunctionProto::default()
    })
}

/// Adds one direction. Returns all states `[S, B, hidden]`, the last one, and the last cell.
fn direction(
    n: &mut Nodes,
    x: &[String; 3],
    (number, is_reversed): (i64, bool),
    hidden: i64,
    is_given: &dyn Fn(&str) -> bool,
) -> [String; 3] {
    let at = n.constant(&Tensor::scalar(number));
    let of_direction = |n: &mut Nodes, name: &str| n.one("Gather", &[name, &at], vec![int_attr("axis", 0)]);
    let weights = ["W", "W_scale", "W_zero_point"].map(|name| of_direction(n, name));
    let mut products = n.product(x, &weights);
    if is_given("B") {
        let bias = of_direction(n, "B");
        let [of_input, of_state] = n.many("Split", &[&bias], vec![int_attr("axis", 0), int_attr("num_outputs", 2)]);
        let bias = n.one("Add", &[&of_input, &of_state], vec![]);
        products = n.one("Add", &[&products, &bias], vec![]);
    }
    let initial = ["initial_h", "initial_c"].map(|name| {
        if is_given(name) {
            return of_direction(n, name);
        }
        let batch = n.one("Shape", &["X"], vec![int_attr("start", 1), int_attr("end", 2)]);
        let hidden = n.list(&[hidden]);
        let shape = n.one("Concat", &[&batch, &hidden], vec![int_attr("axis", 0)]);
        n.one("ConstantOfShape", &[&shape], vec![])
    });
    let recurrent = ["R", "R_scale", "R_zero_point"].map(|name| of_direction(n, name));
    let body = step(&recurrent, if is_reversed { "backward." } else { "forward." });
    let (name, r#type, g) = ("body".to_owned(), AttributeType::Graph as i32, Some(Box::new(body)));
    let attributes = vec![
        AttributeProto { name, r#type, g, ..AttributeProto::default() },
        int_attr("num_scan_inputs", 1),
        ints_attr("scan_input_directions", vec![is_reversed.into()]),
        ints_attr("scan_output_directions", vec![is_reversed.into()]),
    ];
    let [state, cell, states] = n.many("Scan", &[&initial[0], &initial[1], &products], attributes);
    [states, state, cell]
}

/// Returns the graph of a step: from state, cell and the input's products to the next state, the next cell, and the state once more.
fn step(recurrent: &[String; 3], prefix: &'static str) -> GraphProto {
    let mut n = Nodes::new(prefix);
    let [state, cell, products, next, kept] = ["h", "c", "x", "next", "kept"].map(|name| format!("{prefix}{name}"));
    let quantized = n.many("DynamicQuantizeLinear", &[&state], vec![]);
    let of_state = n.product(&quantized, recurrent);
    let gates = n.one("Add", &[&products, &of_state], vec![]);
    let [input, output, forget, new] =
        n.many("Split", &[&gates], vec![int_attr("axis", -1), int_attr("num_outputs", 4)]);
    let [input, output, forget] = [input, output, forget].map(|gate| n.one("Sigmoid", &[&gate], vec![]));
    let new = n.one("Tanh", &[&new], vec![]);
    let (kept_part, new_part) = (n.one("Mul", &[&forget, &cell], vec![]), n.one("Mul", &[&input, &new], vec![]));
    n.named(&next, "Add", &[&kept_part, &new_part], vec![]);
    let activated = n.one("Tanh", &[&next], vec![]);
    n.named(&kept, "Mul", &[&output, &activated], vec![]);
    let copy = n.one("Identity", &[&kept], vec![]);
    let infos = |names: &[&String]| {
        names.iter().map(|&name| ValueInfoProto { name: name.clone(), ..ValueInfoProto::default() }).collect()
    };
    GraphProto {
        input: infos(&[&state, &cell, &products]),
        output: infos(&[&kept, &next, &copy]),
        node: n.nodes,
        ..GraphProto::default()
    }
}
