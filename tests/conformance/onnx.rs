//! ONNX's own node tests: import, execute, compare.
//!
//! Weights come as inputs of the graph. They stay inputs; only where the shapes of a program depend on the values of
//! integer inputs (a new shape, pads, axes) are these made constants.
//!
//! `GRADUS_ONNX_CORPUS` names another archive of such tests to run instead.

use super::corpus::{Corpus, all_good, in_parallel};
use super::onnx_cpu::{self, Ran};
use bytes::Bytes;
use gradus::dialects::func::FuncOp;
use gradus::interp::Interpreter;
use gradus::ir::eval::Datum;
use gradus::ir::{DType, Diagnostic, Module, Op, OpDecl, Tensor};
use gradus::lowering::onnx::proto::{decode_model, decode_tensor};
use gradus::lowering::onnx::tensor::to_tensor;
use gradus::lowering::onnx_to_graph::{ImportOptions, import};
use gradus::networks::graph::TensorSequence;
use std::sync::LazyLock;

static CORPUS: LazyLock<Corpus> = LazyLock::new(|| match std::env::var("GRADUS_ONNX_CORPUS") {
    Ok(path) => Corpus::read(path.as_ref()),
    Err(_) => Corpus::open("onnx-node-dev").with(Corpus::open("onnx-node-more")),
});

/// A test of ONNX with its result.
pub struct Case {
    /// Its name.
    pub name: &'static str,
    /// `A` for convolutional networks, `B` for transformers, `C` for quantized ones, `D` for control flow and sequences, `E` for
    /// other operators.
    pub tier: &'static str,
    /// Whether shapes are static and element types common; other tests are special.
    pub plain: bool,
    /// Its operators.
    pub ops: Vec<&'static str>,
    /// Ok, or the reason for the failure.
    pub outcome: Result<(), String>,
    /// How its operators ran on the `cpu` target, or why it fails there.
    pub on_cpu: Result<Ran, String>,
}

/// All tests, run.
pub static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| {
    let rows = CORPUS.index();
    in_parallel(&rows, |row| {
        let plain = row[2] == "plain";
        let types = if plain { static_types(row[0]) } else { Ok(()) };
        let (run, ops) = (run(row[0]), row[3].split(' ').collect());
        let on_cpu = run.clone().and_then(|fixed| onnx_cpu::run(row[0], fixed));
        Case { name: row[0], tier: row[1], plain, ops, outcome: run.and(types), on_cpu }
    })
});

fn bytes(name: &str, file: &str) -> Option<Bytes> {
    CORPUS.get(&format!("{name}/{file}")).map(Bytes::copy_from_slice)
}

/// Returns the tensors `input_0.pb`, `input_1.pb`, ..., and the sequences in folders with these names.
fn values(name: &str, kind: &str) -> Result<Vec<Datum>, String> {
    let tensor = |b| Ok::<Tensor, String>(to_tensor(&decode_tensor(b)?, None)?);
    let mut all = Vec::new();
    for i in 0.. {
        let path = format!("test_data_set_0/{kind}_{i}");
        all.push(if let Some(b) = bytes(name, &format!("{path}.pb")) {
            Datum::Tensor(tensor(b)?)
        } else if bytes(name, &format!("{path}/len")).is_some() {
            let elements = (0..).map_while(|k| bytes(name, &format!("{path}/{k}.pb")));
            Datum::own(TensorSequence(elements.map(tensor).collect::<Result<_, _>>()?))
        } else {
            break;
        });
    }
    Ok(all)
}

/// Returns the inputs by name.
pub fn inputs(name: &str) -> Result<Vec<(String, Datum)>, String> {
    let model = decode_model(bytes(name, "model.onnx").expect("every case has a model"))?;
    let graph = model.graph.as_ref().ok_or("no graph")?;
    let names = graph.input.iter().map(|i| i.name.clone()).filter(|n| !n.is_empty());
    Ok(names.zip(values(name, "input")?).collect())
}

/// Imports with some inputs as constants, and hands the program and its main function to `f`.
pub fn imported<R>(
    name: &str,
    constants: Vec<(String, Datum)>,
    f: impl FnOnce(&Module, Op) -> Result<R, Diagnostic>,
) -> Result<R, String> {
    let ctx = gradus::Tool::gradus().context();
    let tensors = constants.into_iter().filter_map(|(name, value)| Some((name, value.tensor().ok()?.clone())));
    let options = ImportOptions { constant_inputs: tensors.collect(), ..ImportOptions::default() };
    let model = bytes(name, "model.onnx").expect("every case has a model");
    let say = |d: &Diagnostic| d.render(&ctx).trim_end().to_owned();
    let m = import(&ctx, model, name, &options).map_err(|d| say(&d[0]))?.module;
    gradus::ir::verify(&m).map_err(|d| say(&d[0]))?;
    let main = Interpreter::new(&m).function("main").ok_or("there is no @main")?;
    f(&m, main).map_err(|d| say(&d))
}

/// Executes with some inputs as constants.
fn execute(name: &str, inputs: &[(String, Datum)], constant: Fixed) -> Result<Vec<Datum>, String> {
    let (fixed, free): (Vec<_>, Vec<_>) = inputs.iter().cloned().partition(|i| i.1.tensor().is_ok_and(constant));
    let args = free.into_iter().map(|i| i.1).collect();
    imported(name, fixed, |m, main| Interpreter::new(m).call(main, args).map_err(|stop| stop.diagnostic(m)))
}

/// Selects the inputs that become constants.
type Fixed = fn(&Tensor) -> bool;

/// Interprets the model, and returns which inputs had to be constants.
fn run(name: &str) -> Result<Fixed, String> {
    let inputs = inputs(name)?;
    let (none, integer): (Fixed, Fixed) = (|_| false, |t| matches!(t.dtype(), DType::I64 | DType::I32));
    let (have, fixed) = match execute(name, &inputs, none) {
        Ok(have) => (have, none),
        Err(why) => match execute(name, &inputs, integer) {
            Ok(have) => (have, integer),
            Err(e) => return Err(format!("{why}; with constants: {e}")),
        },
    };
    compare(name, &have).map(|()| fixed)
}

/// Whether outputs are as expected, within the bounds of the test.
pub fn compare(name: &str, have: &[Datum]) -> Result<(), String> {
    let want = values(name, "output")?;
    if have.len() != want.len() {
        return Err(format!("{} outputs instead of {}", have.len(), want.len()));
    }
    let tolerance = CORPUS.text(&format!("{name}/tol.txt"));
    let mut tolerance = tolerance.split_whitespace().map(|t| t.parse::<f64>().expect("tolerances are numbers"));
    let (rtol, atol) = (tolerance.next().expect("has rtol"), tolerance.next().expect("has atol"));
    have.iter().zip(&want).try_for_each(|(have, want)| close(have, want, rtol, atol))
}

fn close(have: &Datum, want: &Datum, rtol: f64, atol: f64) -> Result<(), String> {
    if let (Ok(have), Ok(want)) = (have.as_own::<TensorSequence>(), want.as_own::<TensorSequence>()) {
        if have.0.len() != want.0.len() {
            return Err(format!("the output has {} elements instead of {}", have.0.len(), want.0.len()));
        }
        return have.0.iter().zip(&want.0).try_for_each(|(have, want)| tensors_close(have, want, rtol, atol));
    }
    match (have, want) {
        (Datum::Tensor(have), Datum::Tensor(want)) => tensors_close(have, want, rtol, atol),
        _ => Err(format!("the output is {have:?}")),
    }
}

fn tensors_close(have: &Tensor, want: &Tensor, rtol: f64, atol: f64) -> Result<(), String> {
    if have.shape() != want.shape() || have.dtype() != want.dtype() {
        return Err(format!("the output is {have:?} instead of {want:?}"));
    }
    let near = |a: f64, b: f64| a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= atol + rtol * b.abs();
    let wrong = have.to_f64().into_iter().zip(want.to_f64()).find(|&(a, b)| !near(a, b));
    wrong.map_or(Ok(()), |(a, b)| Err(format!("an element is {a} instead of {b}")))
}

/// Checks that outputs have static shapes when all inputs are constants.
fn static_types(name: &str) -> Result<(), String> {
    let shape = |value: &Datum| value.tensor().map_or(Vec::new(), |tensor| tensor.shape().to_vec());
    let want: Vec<Vec<usize>> = values(name, "output")?.iter().map(shape).collect();
    imported(name, inputs(name)?, |m, main| {
        let ty = FuncOp::wrap(main).function_type(m).and_then(|a| m.ctx.as_type(a)).expect("functions have a type");
        let results = m.ctx.function_parts(ty).map_or(&[][..], |parts| parts.1);
        let fits = |(ty, want): (_, &Vec<usize>)| {
            let dims = m.ctx.static_shape(ty).unwrap_or(&[i64::MIN]);
            dims.iter().copied().eq(want.iter().map(|&d| d as i64))
        };
        match results.iter().copied().zip(&want).find(|&r| !fits(r)) {
            None => Ok(()),
            Some((ty, want)) => {
                let why = format!("an output of shape {want:?} is of type {}", m.ctx.display_type(ty));
                Err(Diagnostic::error(m.loc(main), why))
            }
        }
    })
}

/// Checks that all plain tests of a tier pass; the coverage table has the special ones.
fn tier(tier: &str) {
    let cases: Vec<&Case> = CASES.iter().filter(|c| c.tier == tier).collect();
    let failed = |plain: bool| -> Vec<String> {
        let failed = cases.iter().filter(|c| c.plain == plain);
        failed.filter_map(|c| Some(format!("{}: {}", c.name, c.outcome.as_ref().err()?))).collect()
    };
    println!("{} special cases of tier {tier} fail\n{}", failed(false).len(), failed(false).join("\n"));
    let plain = || cases.iter().filter(|c| c.plain);
    all_good(&format!("plain cases of tier {tier} fail"), plain().count(), &failed(true));
    let on_cpu = cases
        .iter()
        .filter(|c| c.outcome.is_ok())
        .filter_map(|c| Some(format!("{}: {}", c.name, c.on_cpu.as_ref().err()?)));
    all_good(&format!("cases of tier {tier} fail on the cpu target"), cases.len(), &on_cpu.collect::<Vec<_>>());
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

/// Checks that all tests of a tier pass but those of a list.
fn all_of(tier_name: &str, known: &[&str]) {
    tier(tier_name);
    let failed = CASES.iter().filter(|c| c.tier == tier_name && c.outcome.is_err());
    let failed: Vec<&str> = failed.map(|c| c.name).collect();
    assert_eq!(failed, known, "cases of tier {tier_name} that fail");
}

/// The tests of tier E that fail: their results are of sums rounded to bf16 or f16 (attention) or f32 (inverse transforms) at each step, which are
/// rounded once here; booleans are no bytes here.
const KNOWN: &[&str] = &[
    "test_attention_3d_causal_bf16",
    "test_attention_4d_attn_mask_causal_bf16",
    "test_attention_4d_causal_bf16",
    "test_attention_4d_causal_fp16",
    "test_attention_4d_causal_padded_kv_bf16",
    "test_attention_4d_padded_kv_bf16",
    "test_bitcast_bool_to_uint8",
    "test_dft_inverse",
    "test_dft_inverse_opset19",
];

#[test]
fn tier_d_control_flow_and_sequences() {
    // A scan of a batch, which version 9 of the operator no longer has.
    all_of("D", &["test_scan_sum"]);
}

#[test]
fn tier_e_other_operators() {
    all_of("E", KNOWN);
}
