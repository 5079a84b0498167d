//! Targets on the command line: `--target`, `--machine`, statistics, documentation, and choices.

use crate::support::{gradus, read, root};
use gradus::Tool;
use gradus::cost::{CostModel, measure_with};
use gradus::dialects::op_cost::OpCost;
use gradus::ir::pass::{Pipeline, RunOptions, Watch};
use gradus::ir::{ParseOptions, PrintOptions, parse_module};
use gradus::targets::{TARGETS, Target};

const GATE: &str = "docs/src/ir/gate.mlir";

fn example(file: &str) -> String {
    root().join("examples").join(file).display().to_string()
}

/// Returns a copy of a target's machine description with a text replaced, in a temporary folder.
fn machine(folder: &tempfile::TempDir, name: &str, from: &str, to: &str) -> String {
    let file = match name {
        "cpu" => "targets/machines/cpu-avx512.toml".to_owned(),
        name => format!("simulators/src/{name}/{name}.toml"),
    };
    let text = read(&root().join(file));
    assert!(text.contains(from), "{from}");
    let path = folder.path().join(format!("{name}.toml"));
    std::fs::write(&path, text.replace(from, to)).expect("a file can be written");
    path.display().to_string()
}

/// A target with costs only.
static COSTS: Target =
    Target { cost: CostModel { name: "paper", doc: "costs only", ..CostModel::DEFAULT }, ..Target::DEFAULT };

#[test]
fn a_target_without_execution_says_so() {
    let tool = Tool::gradus().with_targets(&[&COSTS]);
    for command in ["run", "bench", "inspect", "check"] {
        let output = gradus_golden::run(&tool, &[command, &example("digits_cnn.onnx"), "--target", "paper"]);
        let said = "error: target 'paper' has costs only: no pipeline and no executor\n";
        assert_eq!((output.code, output.err.as_str()), (1, said), "{command}");
    }
}

#[test]
fn statistics_are_printed_on_request() {
    let image = format!("image={}", example("digits_test_images.npy"));
    let run = ["run", &example("digits_cnn.onnx"), "--target", "cpu", "--input", &image];
    let (silent, output) = (gradus(&run), gradus(&[&run[..], &["--stats"]].concat()));
    assert_eq!(output.code, 0, "{}", output.err);
    let statistics = output.out.strip_prefix(&silent.out).expect("statistics come last");
    let names: Vec<&str> = statistics.lines().filter_map(|line| line.split("  ").next()).collect();
    assert_eq!(names, ["memory of intermediate results", "needed at once", "without sharing"]);
    assert!(statistics.lines().all(|line| line.ends_with(" MiB")), "{statistics}");
}

/// A machine whose array computes one position at a time gains nothing by a kernel for each channel.
#[test]
fn the_machine_decides_what_is_chosen() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let gate = root().join(GATE).display().to_string();
    let opt = |args: &[&str]| gradus(&[&["opt", &gate, "--saturate=target=npu"], args].concat());
    assert!(opt(&[]).out.contains("graph.qlinear_conv"), "{}", opt(&[]).err);
    let narrow = machine(&folder, "npu", "positions = { value = 4", "positions = { value = 1");
    let chosen = opt(&["--machine", &narrow]);
    assert!(chosen.code == 0 && chosen.out.contains("graph.qlinear_mul"), "{}{}", chosen.out, chosen.err);
}

#[test]
fn a_machine_belongs_to_its_target() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let (npu, model) = (machine(&folder, "npu", "500", "400"), example("digits_cnn.onnx"));
    let of_other = gradus(&["bench", &model, "--target", "cpu", "--machine", &npu]);
    let said = "error: --machine describes 'npu', but the target is 'cpu'\n";
    assert_eq!((of_other.code, of_other.err.as_str()), (2, said));
    let of_none = gradus(&["run", &model, "--machine", &npu]);
    assert_eq!(of_none.err, "error: --machine needs a target: give --target, or a compiled program\n");
    let unknown = machine(&folder, "cpu", "name = \"cpu\"", "name = \"cpo\"");
    let output = gradus(&["bench", &model, "--target", "cpu", "--machine", &unknown]);
    let said = "error: there is no target 'cpo'; did you mean 'cpu'?; there are cpu, a64-ext, nna, npu, cluster\n";
    assert_eq!((output.code, output.err.as_str()), (1, said));
}

/// Numbers of the machine reach the passes.
#[test]
fn the_machine_fills_the_pipeline() {
    let cpu = TARGETS.iter().find(|target| target.cost.name == "cpu").expect("there is one");
    let machine = cpu.cost.machine(&Tool::gradus().context()).expect("it is valid");
    let pipeline = cpu.pipeline(&machine).expect("it has one");
    assert!(pipeline.contains("winograd-strip=524288}"), "{pipeline}");
    assert!(!pipeline.contains('$'), "{pipeline}");
    // A user can paste it.
    let opt = gradus(&["opt", &example("digits_cnn.onnx"), &format!("--pass-pipeline={pipeline}")]);
    assert!(opt.code == 0 && opt.out.contains("addr.indirect_gemm"), "{}", opt.err);
}

/// Only two targets have code for sparse products, so others do not choose them, not even on request.
#[test]
fn what_is_not_implemented_is_not_chosen() {
    let model = example("digits_mlp_sparse90.onnx");
    for target in TARGETS.iter().map(|target| target.cost.name).filter(|name| !["cpu", "a64-ext"].contains(name)) {
        let saturate = format!("--saturate=target={target} rules=sparse");
        let output = gradus(&["opt", &model, &saturate, "--saturate-report=-"]);
        let (program, report) = output.out.split_once("\n// @").expect("there is a report");
        assert!(report.contains("right-unrolled"), "{target}: the rule does not match\n{report}");
        assert!(!program.contains("sparse.matmul"), "{target}\n{report}");
    }
}

#[test]
fn an_unknown_target_is_an_error() {
    let gate = root().join(GATE).display().to_string();
    for pass in ["saturate", "apply-rules"] {
        let output = gradus(&["opt", &gate, &format!("--{pass}=target=npo")]);
        assert_eq!(output.code, 1);
        assert!(
            output.err.contains("there is no target 'npo'; did you mean 'npu'?; there are ops ("),
            "{}",
            output.err
        );
    }
}

/// Measured costs choose among the forms of a product, whatever the estimates are.
#[test]
fn measured_costs_decide() {
    let tool = Tool::gradus();
    let text = "func.func @main(%x: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %a = arith.constant dense<0.0> : tensor<64x64xf32>
  %y = graph.matmul %x, %a : (tensor<16x64xf32>, tensor<64x64xf32>) -> tensor<16x64xf32>
  func.return %y : tensor<16x64xf32>
}";
    for cheap in ["graph.matmul", "sparse.matmul unrolled", "sparse.matmul patterns", "sparse.matmul csr"] {
        let ctx = tool.context();
        measure_with(&ctx, "cpu", move |m, op| {
            let form = m.inherent_attr(op, "form").and_then(|form| m.ctx.as_int(form));
            let name = match (m.name_text(op), form) {
                ("sparse.matmul", Some(0)) => "sparse.matmul unrolled",
                ("sparse.matmul", Some(1)) => "sparse.matmul patterns",
                ("sparse.matmul", _) => "sparse.matmul csr",
                (name, _) => name,
            };
            let is_cheap = name == cheap;
            matches!(OpCost::of(m, op), OpCost::Contract(_)).then_some(if is_cheap { 1 } else { 1 << 30 })
        });
        let mut m = parse_module(&ctx, "", text.to_owned(), ParseOptions::default()).expect("it is a program");
        let mut pipeline = Pipeline::parse("builtin.module(saturate{target=cpu rules=sparse})", &tool.passes).unwrap();
        pipeline.run(&mut m, &RunOptions::default(), &mut Watch::default()).expect("it runs");
        let chosen = m.to_text(PrintOptions::default());
        assert!(chosen.contains(cheap), "not {cheap}\n{chosen}");
    }
}

/// The description that calibration writes is one of the target, and tuned programs have the results of others.
#[test]
fn this_machine_is_measured() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let mine = folder.path().join("mine.toml").display().to_string();
    let output = gradus(&["bench", "--calibrate", "--target", "cpu", "-o", &mine]);
    assert_eq!(output.code, 0, "{}", output.err);
    assert!(output.out.contains("peak: 30 to ") && output.out.contains(" cycles measured, "), "{}", output.out);
    let model = example("digits_mlp_sparse90.onnx");
    let (image, logits) = (example("digits_test_images.npy"), example("digits_mlp_sparse90_logits.npy"));
    let run = ["run", &model, "--target", "cpu", "--input", &image, "--expect", &logits];
    for flags in [&["--machine", &mine][..], &["--tune"]] {
        let output = gradus(&[&run[..], flags].concat());
        assert_eq!(output.code, 0, "{flags:?}: {}{}", output.out, output.err);
    }
}

#[test]
fn a_simulated_target_is_not_measured() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let mine = folder.path().join("mine.toml").display().to_string();
    let model = example("digits_cnn_int8.onnx");
    for args in
        [&["bench", "--calibrate", "--target", "npu", "-o", &mine][..], &["run", &model, "--target", "npu", "--tune"]]
    {
        let output = gradus(args);
        let said = "error: programs of target 'npu' run in a simulator: there is no time to measure\n";
        assert_eq!((output.code, output.err.as_str()), (2, said), "{args:?}");
    }
}

#[test]
fn doc_has_pages_of_targets() {
    let page = gradus(&["doc", "cpu"]).out;
    for part in [
        "## Target `cpu`\n",
        "builtin.module(canonicalize-qdq,quantize-intermediates,convert-qdq-to-integer{products=true},expand-composed-ops,canonicalize,outline-tensor-code,saturate{target=cpu",
        "| `winograd_strip` | 524288 | products held at once | cited: ",
        "`addr.gemm`",
        "Others are evaluated by reference, and priced so.",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    // A target and a dialect of one name.
    let both = gradus(&["doc", "nna"]).out;
    assert!(both.contains("## Target `nna`") && both.contains("# Dialect `nna`"), "{both}");
}

/// The whole network runs on the array, but for the conversions at its border, with the bytes of the integer network.
#[test]
fn a_quantized_network_runs_on_the_npu() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let image = format!("image={}", example("digits_test_images.npy"));
    let model = example("digits_cnn_int8.onnx");
    let integers = ["opt", &model, "--convert-qdq-to-integer", "-o", &path("integers.mlir")];
    assert_eq!(gradus(&integers).code, 0);
    let arrays = [path("npu.npy"), path("reference.npy")];
    let labels = example("digits_test_labels.npy");
    let on_npu = gradus(&[
        "run", &model, "--target", "npu", "--stats", "--input", &image, "--labels", &labels, "--output", &arrays[0],
    ]);
    assert_eq!(on_npu.code, 0, "{}", on_npu.err);
    let by_reference = gradus(&["run", &path("integers.mlir"), "--input", &image, "--output", &arrays[1]]);
    assert_eq!(by_reference.code, 0, "{}", by_reference.err);
    let [npu, reference] = arrays.map(|path| std::fs::read(path).expect("the logits were written"));
    assert!(npu == reference, "the logits differ");
    let host: Vec<&str> = on_npu.out.lines().filter_map(|line| line.strip_prefix("by the host: ")).collect();
    let names: Vec<&str> = host.iter().filter_map(|line| line.split(' ').next()).collect();
    let border = ["graph.dequantize_linear", "graph.pad", "graph.quantize_linear", "layout.pack", "layout.unpack"];
    assert_eq!(names, border, "{}", on_npu.out);
}

#[test]
fn pipelines_end_before_a_pass() {
    let passes = Tool::gradus().passes;
    let text = "builtin.module(cse,func.func(dce,cse),func.func(sccp),dce)";
    let parsed = || Pipeline::parse(text, &passes).expect("the passes exist");
    let ended = |name: &str| {
        let mut pipeline = parsed();
        pipeline.end_before(name).then(|| pipeline.to_string())
    };
    assert_eq!(parsed().first().map(|pass| pass.name), Some("cse"));
    assert_eq!(ended("cse").as_deref(), Some("builtin.module()"));
    assert_eq!(ended("dce").as_deref(), Some("builtin.module(cse)"));
    assert_eq!(ended("sccp").as_deref(), Some("builtin.module(cse,func.func(dce,cse))"));
    assert_eq!(ended("inline"), None);
}
