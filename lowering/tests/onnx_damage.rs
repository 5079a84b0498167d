//! Damaged models: the check of a model and its import agree, and the order of nodes does not matter.

use gradus_lowering::onnx::proto::*;
use gradus_lowering::onnx_to_graph::{Coverage, ImportOptions, check, import};
use gradus_machines::context;
use prost::Message;

/// A generator of numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n.max(1)
    }

    fn pick<'a, T>(&mut self, of: &'a mut [T]) -> Option<&'a mut T> {
        let i = self.below(of.len());
        of.get_mut(i)
    }
}

fn examples() -> Vec<ModelProto> {
    let names = ["digits_cnn", "digits_cnn_batch", "digits_cnn_int8", "digits_mlp_sparse90_batch"];
    let path = |name: &str| format!("{}/../examples/{name}.onnx", env!("CARGO_MANIFEST_DIR"));
    let read = |name: &&str| std::fs::read(path(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    let models = names.iter().map(|name| decode_model(read(name).into()).expect("it is a model"));
    models.chain([control_flow()]).collect()
}

/// A loop that carries a tensor and collects another one, and a branch.
fn control_flow() -> ModelProto {
    let value = |name: &str, elem_type: DataType, dims: &[i64]| {
        let dim = |&n: &i64| Dimension { value: Some(DimensionValue::DimValue(n)), ..Dimension::default() };
        let shape = Some(TensorShapeProto { dim: dims.iter().map(dim).collect() });
        let tensor = TypeValue::Tensor(TensorType { elem_type: elem_type as i32, shape });
        let r#type = Some(TypeProto { value: Some(tensor), ..TypeProto::default() });
        ValueInfoProto { name: name.to_owned(), r#type, ..ValueInfoProto::default() }
    };
    let node = |op: &str, input: &[&str], output: &[&str], graphs: Vec<(&str, GraphProto)>| NodeProto {
        op_type: op.to_owned(),
        input: input.iter().map(|&name| name.to_owned()).collect(),
        output: output.iter().map(|&name| name.to_owned()).collect(),
        attribute: graphs
            .into_iter()
            .map(|(name, graph)| AttributeProto {
                name: name.to_owned(),
                r#type: AttributeType::Graph as i32,
                g: Some(Box::new(graph)),
                ..AttributeProto::default()
            })
            .collect(),
        ..NodeProto::default()
    };
    let one = TensorProto {
        name: "one".to_owned(),
        data_type: 1,
        raw_data: vec![0, 0, 128, 63].into(),
        ..TensorProto::default()
    };
    let (f, i, b) = (DataType::Float, DataType::Int64, DataType::Bool);
    let body = GraphProto {
        input: vec![value("k", i, &[]), value("c", b, &[]), value("v", f, &[3])],
        node: vec![
            node("Identity", &["c"], &["c2"], vec![]),
            node("Add", &["v", "one"], &["v2"], vec![]),
            node("Mul", &["v2", "x"], &["s"], vec![]),
        ],
        output: vec![value("c2", b, &[]), value("v2", f, &[3]), value("s", f, &[3])],
        initializer: vec![one],
        ..GraphProto::default()
    };
    let branch = |op: &str| GraphProto {
        node: vec![node(op, &["last"], &["r"], vec![])],
        output: vec![value("r", f, &[3])],
        ..GraphProto::default()
    };
    let graph = GraphProto {
        input: vec![value("n", i, &[]), value("go", b, &[]), value("x", f, &[3])],
        node: vec![
            node("Loop", &["n", "go", "x"], &["last", "all"], vec![("body", body)]),
            node("If", &["go"], &["y"], vec![("then_branch", branch("Relu")), ("else_branch", branch("Neg"))]),
        ],
        output: vec![value("y", f, &[3]), value("all", f, &[-1, 3])],
        ..GraphProto::default()
    };
    let opset = OperatorSetIdProto { domain: String::new(), version: 16 };
    ModelProto { ir_version: 8, opset_import: vec![opset], graph: Some(graph), ..ModelProto::default() }
}

fn graph(m: &mut ModelProto) -> &mut GraphProto {
    m.graph.get_or_insert_default()
}

fn shuffle(nodes: &mut [NodeProto], r: &mut Random) {
    for i in (1..nodes.len()).rev() {
        nodes.swap(i, r.below(i + 1));
    }
}

/// Makes a random change of a kind to a model; some leave it as it is.
fn damage(m: &mut ModelProto, kind: usize, r: &mut Random) -> Option<()> {
    let (n, mut g) = (r.below(1 << 20), graph(m));
    if kind < 11 && r.below(2) == 1 && g.node.iter().any(|node| node.attribute.iter().any(|a| a.g.is_some())) {
        let bodies = g.node.iter_mut().flat_map(|node| &mut node.attribute).filter_map(|a| a.g.as_mut());
        g = bodies.last()?;
    }
    if g.node.is_empty() || g.initializer.is_empty() && matches!(kind, 5 | 6) {
        return None;
    }
    match kind {
        0 => shuffle(&mut g.node, r),
        1 => drop(g.node.remove(n % g.node.len())),
        2 => g.node.push(g.node[n % g.node.len()].clone()),
        3 => r.pick(&mut g.initializer)?.data_type = n as i32 % 24,
        4 => *r.pick(&mut g.initializer)?.dims.first_mut()? = n as i64 % 40,
        5 => drop(g.initializer.remove(n % g.initializer.len())),
        6 => g.initializer.push(g.initializer[n % g.initializer.len()].clone()),
        7 => tensor(r.pick(&mut g.input)?)?.elem_type = n as i32 % 18,
        8 => drop(tensor(r.pick(&mut g.output)?)?.shape.as_mut()?.dim.pop()),
        9 => r.pick(&mut g.output)?.name.push('x'),
        10 => g.output.clear(),
        11 => r.pick(&mut m.opset_import)?.version = n as i64 % 30,
        12 => drop(m.opset_import.pop()),
        _ => {
            let names: Vec<String> = g.node.iter().flat_map(|node| node.output.clone()).collect();
            damage_node(r.pick(&mut g.node)?, kind, &names, r)?;
        }
    }
    Some(())
}

/// Makes a random change of a kind to a node.
fn damage_node(node: &mut NodeProto, kind: usize, names: &[String], r: &mut Random) -> Option<()> {
    let n = r.below(1 << 20);
    match kind {
        13 => node.input.last_mut()?.push('x'),
        14 => *r.pick(&mut node.input)? = names[n % names.len()].clone(),
        15 => drop(node.input.pop()),
        16 => *r.pick(&mut node.output)? = names[n % names.len()].clone(),
        17 => node.op_type = ["Add", "MatMul", "Relu", "Flatten", "Frobnicate", "If"][n % 6].to_owned(),
        18 => node.domain = "com.me".to_owned(),
        19 => r.pick(&mut node.attribute)?.i = n as i64 % 5 - 1,
        20 => r.pick(&mut node.attribute)?.r#type = n as i32 % 9,
        21 => r.pick(&mut node.attribute)?.ints.push(n as i64 % 3),
        22 => r.pick(&mut node.attribute)?.name.push('x'),
        _ => drop(node.attribute.pop()),
    }
    Some(())
}

fn tensor(value: &mut ValueInfoProto) -> Option<&mut TensorType> {
    match &mut value.r#type.as_mut()?.value {
        Some(TypeValue::Tensor(tensor)) => Some(tensor),
        _ => None,
    }
}

/// Number of kinds of damage.
const KINDS: usize = 24;

#[test]
fn the_check_agrees_with_the_import() {
    let (models, mut r, mut seen) = (examples(), Random(0x9e37_79b9_7f4a_7c15), [0, 0]);
    let options = ImportOptions::default();
    for i in 0..500 {
        let mut m = models[i % models.len()].clone();
        for _ in 0..=r.below(2) {
            // A kind that does not apply changes nothing.
            let kind = r.below(KINDS);
            let _ = damage(&mut m, kind, &mut r);
        }
        let (ctx, bytes) = (context(), m.encode_to_vec());
        let imported = import(&ctx, bytes.clone().into(), "m", &options);
        let checked = check(&ctx, bytes.into(), "m", &options);
        let is_complete = checked.as_ref().is_ok_and(Coverage::is_complete);
        let errors: Vec<String> = imported.as_ref().err().into_iter().flatten().map(|e| e.render(&ctx)).collect();
        assert_eq!(is_complete, imported.is_ok(), "model {i}: {checked:?}\n{}", errors.concat());
        assert!(imported.is_ok() || !errors.is_empty(), "model {i} is refused without a reason");
        seen[usize::from(imported.is_ok())] += 1;
    }
    assert!(seen.iter().all(|&n| n > 50), "{seen:?} are refused and accepted");
}

#[test]
fn nodes_come_in_any_order() {
    let mut r = Random(7);
    for m in examples() {
        let ops = |m: &ModelProto| {
            let ctx = context();
            let imported = import(&ctx, m.encode_to_vec().into(), "m", &ImportOptions::default());
            let imported = imported.unwrap_or_else(|e| panic!("{}", e[0].render(&ctx))).module;
            let all = imported.ops_under(imported.root()).into_iter();
            let mut names: Vec<String> = all.map(|op| imported.name_text(op).to_owned()).collect();
            names.sort_unstable();
            names
        };
        let expected = ops(&m);
        for _ in 0..5 {
            let mut shuffled = m.clone();
            shuffle(&mut graph(&mut shuffled).node, &mut r);
            assert_eq!(ops(&shuffled), expected);
        }
    }
}
