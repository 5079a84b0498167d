//! ONNX's own node tests: import, execute, compare.
//!
//! Weights come as inputs of the graph. They stay inputs; only where the shapes of a program depend on the values of
//! integer inputs (a new shape, pads, axes) are these made constants.

use crate::corpus::{Corpus, all_good, in_parallel};
use bytes::Bytes;
use gradus::ir::eval::Datum;
use gradus::ir::{DType, Tensor};
use gradus::lowering::onnx::proto::{decode_model, decode_tensor};
use gradus::lowering::onnx::tensor::to_tensor;
use gradus::lowering::onnx_to_graph::{ImportOptions, import};
use gradus::runtime::interpreter::Interpreter;
use std::sync::LazyLock;

static CORPUS: LazyLock<Corpus> = LazyLock::new(|| Corpus::open("onnx-node-dev"));

/// How many of a tier's plain cases must pass. The rest of B are operators that are not supported yet.
const FLOORS: [(&str, usize); 3] = [("A", 81), ("B", 242), ("C", 12)];

fn bytes(name: &str, file: &str) -> Option<Bytes> {
    CORPUS.get(&format!("{name}/{file}")).map(Bytes::copy_from_slice)
}

/// The tensors `input_0.pb`, `input_1.pb`, ...
fn tensors(name: &str, kind: &str) -> Result<Vec<Tensor>, String> {
    let files = (0..).map_while(|i| bytes(name, &format!("test_data_set_0/{kind}_{i}.pb")));
    files.map(|b| to_tensor(&decode_tensor(b)?, None)).collect()
}

/// Imports with some inputs as constants, and executes.
fn execute(name: &str, inputs: &[(String, Tensor)], constant: impl Fn(&Tensor) -> bool) -> Result<Vec<Datum>, String> {
    let ctx = gradus::dialects::context();
    let (fixed, free): (Vec<_>, Vec<_>) = inputs.iter().cloned().partition(|i| constant(&i.1));
    let options = ImportOptions { constant_inputs: fixed, ..ImportOptions::default() };
    let model = bytes(name, "model.onnx").expect("every case has a model");
    let say = |d: &gradus::ir::Diagnostic| d.render(&ctx).trim_end().to_owned();
    let m = import(&ctx, model, name, &options).map_err(|d| say(&d[0]))?;
    gradus::ir::verify(&m).map_err(|d| say(&d[0]))?;
    let mut interpreter = Interpreter::new(&m);
    let main = interpreter.function("main").ok_or("there is no @main")?;
    let args = free.into_iter().map(|i| Datum::Tensor(i.1)).collect();
    interpreter.call(main, args).map_err(|d| say(&d))
}

fn run(name: &str) -> Result<(), String> {
    let model = decode_model(bytes(name, "model.onnx").expect("every case has a model"))?;
    let graph = model.graph.as_ref().ok_or("no graph")?;
    let names = graph.input.iter().map(|i| i.name.clone()).filter(|n| !n.is_empty());
    let inputs: Vec<(String, Tensor)> = names.zip(tensors(name, "input")?).collect();
    let dynamic = execute(name, &inputs, |_| false);
    let integer = |t: &Tensor| matches!(t.dtype(), DType::I64 | DType::I32);
    let have =
        dynamic.or_else(|why| execute(name, &inputs, integer).map_err(|e| format!("{why}; with constants: {e}")))?;
    let want = tensors(name, "output")?;
    if have.len() != want.len() {
        return Err(format!("{} outputs instead of {}", have.len(), want.len()));
    }
    let tolerance = CORPUS.text(&format!("{name}/tol.txt"));
    let mut tolerance = tolerance.split_whitespace().map(|t| t.parse::<f64>().expect("tolerances are numbers"));
    let (rtol, atol) = (tolerance.next().expect("has rtol"), tolerance.next().expect("has atol"));
    have.iter().zip(&want).try_for_each(|(have, want)| close(have, want, rtol, atol))
}

fn close(have: &Datum, want: &Tensor, rtol: f64, atol: f64) -> Result<(), String> {
    let Datum::Tensor(have) = have else { return Err(format!("the output is {have:?}")) };
    if have.shape() != want.shape() || have.dtype() != want.dtype() {
        return Err(format!("the output is {have:?} instead of {want:?}"));
    }
    let near = |a: f64, b: f64| a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= atol + rtol * b.abs();
    let wrong = have.to_f64().into_iter().zip(want.to_f64()).find(|&(a, b)| !near(a, b));
    wrong.map_or(Ok(()), |(a, b)| Err(format!("an element is {a} instead of {b}")))
}

fn tier(tier: &str) {
    let rows = CORPUS.index();
    let names: Vec<&str> = rows
        .iter()
        .filter(|r| r[1] == tier && (r[2] == "plain" || std::env::var("SPECIAL").is_ok()))
        .map(|r| r[0])
        .collect();
    let results = in_parallel(&names, |name| run(name).map_err(|why| format!("{name}: {why}")));
    let failures: Vec<String> = results.into_iter().filter_map(Result::err).collect();
    let floor = FLOORS.iter().find(|f| f.0 == tier).expect("is listed").1;
    let passed = names.len() - failures.len();
    if passed < floor {
        all_good(&format!("cases of tier {tier} fail ({floor} must pass)"), names.len(), &failures);
    }
    println!("tier {tier}: {passed} of {} pass, and {floor} must\n{}", names.len(), failures.join("\n"));
}

#[test]
fn tier_a_convolutional_networks() {
    tier("A");
}

#[test]
fn tier_b_transformers() {
    tier("B");
}

#[test]
fn tier_c_quantized_networks() {
    tier("C");
}
