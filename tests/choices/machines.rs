//! Random programs with all kinds of product, saturated once: what costs as an op of the machine runs on the machine.

use super::{draw, function, model, results};
use crate::support::{lowered, parse, pipeline_of};
use gradus::Tool;
use gradus::ir::eval::Datum;
use gradus::ir::random::Random;
use gradus::ir::{Module, Op, Traits};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Number of random programs for each target.
const PROGRAMS: u64 = 100;

/// The targets whose pipelines saturate.
const TARGETS: [&str; 5] = ["cpu", "a64-ext", "nna", "npu", "cluster"];

/// Ops that only move elements, of which lowering adds some.
const MOVES: [&str; 11] = [
    "graph.concat",
    "graph.expand",
    "graph.gather",
    "graph.pad",
    "graph.reshape",
    "graph.slice",
    "graph.transpose",
    "graph.unsqueeze",
    "layout.pack",
    "layout.unpack",
    "tensor.reshape",
];

/// A program under construction.
#[derive(Default)]
struct Writer {
    args: Vec<String>,
    body: String,
    results: Vec<[String; 2]>,
}

impl Writer {
    fn arg(&mut self, ty: &str) -> String {
        let name = format!("%arg{}", self.args.len());
        self.args.push(format!("{name}: {ty}"));
        name
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.body, "  {text}");
    }

    /// Adds an op whose value is a result.
    fn result(&mut self, op: &str, ty: &str) {
        let name = format!("%r{}", self.results.len());
        self.line(&format!("{name} = {op} -> {ty}"));
        self.results.push([name, ty.to_owned()]);
    }

    fn finish(self) -> String {
        let [names, types] = [0, 1].map(|i| self.results.iter().map(|r| r[i].as_str()).collect::<Vec<_>>().join(", "));
        let (args, body) = (self.args.join(", "), self.body);
        format!("func.func @main({args}) -> ({types}) {{\n{body}  return {names} : {types}\n}}\n")
    }
}

/// A matrix of which a part is not zero.
fn sparse(random: &mut Random, [rows, columns]: [u64; 2], one: &str) -> String {
    let row = |random: &mut Random| {
        let all: Vec<&str> = (0..columns).map(|_| if random.percent(10) { one } else { zero_of(one) }).collect();
        format!("[{}]", all.join(", "))
    };
    let all: Vec<String> = (0..rows).map(|_| row(random)).collect();
    format!("[{}]", all.join(", "))
}

fn zero_of(one: &str) -> &'static str {
    if one.contains('.') { "0.0" } else { "0" }
}

/// Adds products of floats: of elements, of matrices, and by a sparse constant.
fn floats(w: &mut Writer, random: &mut Random) {
    let [m, k, n] = [0; 3].map(|_| random.pick(&[1, 4, 8, 16, 33]));
    let (image, factors) = ("tensor<1x8x5x4xf32>", random.pick(&["1x8x1x1", "1x1x5x4", "4", "1x8x5x4", "1"]));
    let factors = format!("tensor<{factors}xf32>");
    let (x, y) = (w.arg(image), w.arg(&factors));
    w.result(&format!("graph.mul {x}, {y} : ({image}, {factors})"), image);
    let (left, right) = (format!("tensor<{m}x{k}xf32>"), format!("tensor<{k}x{n}xf32>"));
    let (a, b) = (w.arg(&left), w.arg(&right));
    w.result(&format!("graph.matmul {a}, {b} : ({left}, {right})"), &format!("tensor<{m}x{n}xf32>"));
    let constant = sparse(random, [m, k], "2.0");
    w.line(&format!("%sparse = graph.constant dense<{constant}> : {left}"));
    w.result(&format!("graph.matmul %sparse, {b} : ({left}, {right})"), &format!("tensor<{m}x{n}xf32>"));
}

/// Adds products of bytes: of elements, of matrices, and by a sparse constant, with and without requantization.
fn bytes(w: &mut Writer, random: &mut Random) {
    let [m, k, n] = [0; 3].map(|_| random.pick(&[1, 4, 9, 16, 33]));
    let elem = random.pick(&["i8", "ui8"]);
    let (scale, zero) = (random.pick(&["0.0625", "0.25", "0.3"]), random.pick(&["0", "3"]));
    w.line(&format!("%s = graph.constant dense<{scale}> : tensor<f32>"));
    w.line(&format!("%z = graph.constant dense<{zero}> : tensor<{elem}>"));
    let quantization = format!("tensor<f32>, tensor<{elem}>");
    let quantized = |op: &str, [x, y]: [&str; 2], [left, right]: [&str; 2]| {
        format!(
            "graph.{op} {x}, %s, %z, {y}, %s, %z, %s, %z : ({left}, {quantization}, {right}, {quantization}, {quantization})"
        )
    };
    let (image, factors) = random.pick(&[
        ("1x8x5x4", "1x8x1x1"),
        ("1x8x5x4", "1x1x5x4"),
        ("1x8x5x4", "4"),
        ("2x8x5x4", "8x1x1"),
        ("3x16", "16"),
        ("1x3x16", "16"),
        ("40", "40"),
        ("1x2x3x4x5", "1x2x3x4x5"),
        ("6x1", "1x7"),
        ("1x16x3x3", "1x16x3x3"),
    ]);
    let of = |shape: &str| format!("tensor<{shape}x{elem}>");
    let result = if image == "6x1" { "6x7" } else { image };
    let (x, y) = (w.arg(&of(image)), w.arg(&of(factors)));
    w.result(&quantized("qlinear_mul", [&x, &y], [&of(image), &of(factors)]), &of(result));
    let [left, right, product] = [[m, k], [k, n], [m, n]].map(|[a, b]| of(&format!("{a}x{b}")));
    let (a, b) = (w.arg(&left), w.arg(&right));
    w.result(&quantized("qlinear_matmul", [&a, &b], [&left, &right]), &product);
    let wide = format!("tensor<{m}x{n}xi32>");
    w.result(&format!("graph.matmul_integer {a}, {b} : ({left}, {right})"), &wide);
    let constant = sparse(random, [m, k], "2");
    w.line(&format!("%few = graph.constant dense<{constant}> : {left}"));
    w.result(&format!("graph.matmul_integer %few, {b} : ({left}, {right})"), &wide);
    w.result(&quantized("qlinear_matmul", ["%few", &b], [&left, &right]), &product);
}

/// The pipeline up to saturation, and with it.
fn until_saturated(pipeline: &str) -> String {
    let at = pipeline.find("saturate{").expect("it saturates");
    let end = at + pipeline[at..].find('}').expect("options end") + 1;
    format!("{})", &pipeline[..end])
}

/// The ops that the target does not compute, by name.
fn not_computed(m: &Module, target: &str) -> BTreeMap<String, u64> {
    let (model, mut counts) = (model(&m.ctx, target), BTreeMap::new());
    let is_computation =
        |op: &Op| m.info(*op).is_some_and(|info| info.eval.is_some()) && !m.has_trait(*op, Traits::CONSTANT_LIKE);
    for op in m.ops_under(m.root()).into_iter().filter(is_computation) {
        if !model.computes(m, op) {
            *counts.entry(m.name_text(op).to_owned()).or_default() += 1;
        }
    }
    counts
}

#[test]
fn what_is_chosen_for_a_machine_runs_on_it() {
    let tool = Tool::gradus();
    let ctx = tool.context();
    let mut on_machine = BTreeMap::new();
    for target in TARGETS {
        let pipeline = pipeline_of(&tool, target);
        let declared = tool.targets.iter().find(|t| t.cost.name == target).expect("it is a target");
        let machine = declared.cost.machine(&ctx).expect("its machine is valid");
        for n in 0..PROGRAMS {
            let (mut w, mut random) = (Writer::default(), Random::of((target, n)));
            floats(&mut w, &mut random);
            bytes(&mut w, &mut random);
            let text = w.finish();
            let m = parse(&ctx, &text).unwrap_or_else(|| panic!("no program\n{text}"));
            let chosen = lowered(&tool, &m, &until_saturated(&pipeline));
            let (left, code) = (not_computed(&chosen, target), lowered(&tool, &m, &pipeline));
            let mut executable =
                declared.load(&code, function(&code), &machine, 1).unwrap_or_else(|e| panic!("{target}: {e}"));
            let entry = m.entry(m.regions(function(&m))[0]).expect("it has a body");
            let args: Vec<Datum> =
                m.block_args(entry).iter().map(|&arg| draw(&ctx, m.value_type(arg), &mut random)).collect();
            let found = executable.call(args.clone()).unwrap_or_else(|e| panic!("{target}: {e:?}\n{text}"));
            let what = || format!("{target}\n{text}\n{}", chosen.to_text(Default::default()));
            for (result, wanted) in found.iter().zip(results(&m, &args, &text)) {
                let Datum::Tensor(tensor) = result else { panic!("{result:?}") };
                assert_eq!(tensor.to_f64(), wanted, "{}", what());
            }
            for statistic in executable.statistics() {
                let Some(name) = statistic.name.strip_prefix("by the host: ") else { continue };
                let most = left.get(name).copied().unwrap_or(0);
                assert!(MOVES.contains(&name) || statistic.value as u64 <= most, "{name}, not {most}: {}", what());
            }
            *on_machine.entry(target).or_insert(0) += chosen
                .ops_under(chosen.root())
                .into_iter()
                .filter(|&op| model(&ctx, target).computes(&chosen, op))
                .count();
        }
    }
    assert!(on_machine.values().all(|&n| n as u64 * 2 > PROGRAMS), "{on_machine:?}");
    println!("ops on machines: {on_machine:?}");
}
