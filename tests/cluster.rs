//! Networks on clusters, from the command line and as programs: results, sub-devices, what each optimization changes, and dropped
//! synchronization.

use crate::support::{gradus, lowered, read, root};
use gradus::Tool;
use gradus::ir::{Module, OpDecl};
use gradus::machines::cluster::{Program, ProgramOp};
use gradus_simulators::cluster::text::assemble;
use gradus_simulators::cluster::{ClusterProgram, Extent, Record, Simulator};
use std::path::{Path, PathBuf};
use std::process::Command;

fn example(file: &str) -> String {
    root().join("examples").join(file).display().to_string()
}

/// Writes a machine description with a number of clusters.
fn machine(folder: &Path, clusters: u32) -> String {
    let text = read(&root().join("simulators/src/cluster/cluster.toml"));
    let changed = text.replace("clusters = { value = 5,", &format!("clusters = {{ value = {clusters},"));
    assert!(clusters == 5 || changed != text);
    let path = folder.join(format!("{clusters}.toml"));
    std::fs::write(&path, changed).expect("a file can be written");
    path.display().to_string()
}

/// Runs a pipeline on a model, and writes the program.
fn opt(model: &str, pipeline: &str, folder: &Path) -> PathBuf {
    let path = folder.join("lowered.mlir");
    let imported = folder.join("imported.mlir");
    let shown = |path: &Path| path.display().to_string();
    let import = gradus(&["import", &example(model), "-o", &shown(&imported)]);
    assert_eq!(import.code, 0, "{}", import.err);
    let output = gradus(&["opt", &shown(&imported), pipeline, "-o", &shown(&path)]);
    assert_eq!(output.code, 0, "{}", output.err);
    path
}

/// Runs digits on clusters and compares the logits with a file.
fn run_digits(model: &str, clusters: u32, expected: &str, tolerance: &str, folder: &Path) {
    let input = format!("image={}", example("digits_test_images.npy"));
    let machine = machine(folder, clusters);
    let expected = format!("logits={expected}");
    let args = ["run", model, "--target", "cluster", "--machine", &machine, "--input", &input, "--expect", &expected];
    let output = gradus(&[&args[..], &["--rtol", "0", "--atol", tolerance]].concat());
    assert_eq!(output.code, 0, "{clusters} clusters: {}{}", output.out, output.err);
}

#[test]
fn integers_are_exact_on_any_number_of_clusters() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let integers = opt(
        "digits_cnn_int8.onnx",
        "--pass-pipeline=builtin.module(convert-qdq-to-integer,canonicalize)",
        folder.path(),
    );
    let input = format!("image={}", example("digits_test_images.npy"));
    let logits = folder.path().join("logits.npy").display().to_string();
    let reference =
        ["run", &integers.display().to_string(), "--input", &input, "--output", &format!("logits={logits}")];
    let output = gradus(&reference);
    assert_eq!(output.code, 0, "{}", output.err);
    for clusters in [1, 2, 5, 16] {
        run_digits(&example("digits_cnn_int8.onnx"), clusters, &logits, "0", folder.path());
    }
}

#[test]
fn floats_agree_on_any_number_of_clusters() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    for clusters in [1, 2, 5, 16] {
        run_digits(&example("digits_cnn.onnx"), clusters, &example("digits_cnn_logits.npy"), "2e-5", folder.path());
    }
}

/// One rounding to 11 bits per op on values up to 16.
#[test]
fn floats_of_16_bits_agree_with_those_of_32() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let half = opt("digits_cnn.onnx", "--pass-pipeline=builtin.module(canonicalize,convert-f32-to-f16)", folder.path());
    for clusters in [1, 5] {
        let half = half.display().to_string();
        run_digits(&half, clusters, &example("digits_cnn_logits.npy"), "0.05", folder.path());
    }
}

/// The program of a model.
fn program(model: &str, options: &str) -> Program {
    let tool = Tool::gradus();
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = opt(model, "--pass-pipeline=builtin.module(convert-qdq-to-integer,canonicalize)", folder.path());
    let m = crate::support::parse(&tool.context(), &read(&path)).expect("it is a program");
    let m = lowered(&tool, &m, &format!("builtin.module(convert-graph-to-cluster{options})"));
    program_of(&m)
}

fn program_of(m: &Module) -> Program {
    let op = m.ops_under(m.root()).into_iter().find(|&op| ProgramOp::cast(m, op).is_some());
    Program::of(m, op.expect("it has a program")).expect("it is valid")
}

/// The program without a notification, and without its count.
fn without(code: &ClusterProgram, [cluster, index]: [usize; 2], clusters: u32, event: u32) -> ClusterProgram {
    let mut changed = code.clone();
    changed.records[cluster].remove(index);
    let target = &mut changed.records[clusters.trailing_zeros() as usize];
    target.iter_mut().for_each(|record| match record {
        Record::Wait { event: e, count } if *e == event => *count -= 1,
        _ => {}
    });
    target.retain(|record| !matches!(record, Record::Wait { event: e, count: 0 } if *e == event));
    changed
}

/// A program without one of its waits or notifications is refused, whichever it is: none is redundant.
#[test]
fn dropped_synchronization_is_refused() {
    for (model, options) in [("digits_cnn.onnx", ""), ("digits_cnn_int8.onnx", "{without=divisions}")] {
        let Program { machine, code } = program(model, options);
        let simulator = Simulator::new(machine);
        let mut dropped = 0;
        for (cluster, records) in code.records.iter().enumerate() {
            for (index, record) in records.iter().enumerate() {
                let changed = match *record {
                    Record::Wait { .. } => {
                        let mut changed = code.clone();
                        changed.records[cluster].remove(index);
                        changed
                    }
                    Record::Notify { clusters, event } => without(&code, [cluster, index], clusters, event),
                    _ => continue,
                };
                dropped += 1;
                assert!(simulator.time(&changed).is_err(), "{model}: record {index} of cluster {cluster} is redundant");
            }
        }
        assert!(dropped > 60, "{model}: {dropped} records");
    }
}

#[test]
fn a_sub_device_has_fewer_clusters() {
    assert_eq!(program("digits_cnn_int8.onnx", "{clusters=2}").code.records.len(), 2);
    let fails = gradus(&["opt", &example("digits_cnn_int8.onnx"), "--convert-graph-to-cluster=clusters=6"]);
    assert_eq!((fails.code, fails.err.contains("the machine has 1 to 5 clusters")), (1, true), "{}", fails.err);
}

/// Two models at once on disjoint clusters: the results are those of each alone, and both take about as long as the slower one alone or
/// longer. DDR serves in the order of issue, which the other model changes: by a few percent that may be faster.
#[test]
fn two_models_run_at_once() {
    let parts = [program("digits_cnn.onnx", "{clusters=2}"), program("digits_cnn_int8.onnx", "{clusters=3}")];
    let machine = program("digits_cnn_int8.onnx", "").machine;
    let simulator = Simulator::new(machine);
    let both = ClusterProgram::together(&[parts[0].code.clone(), parts[1].code.clone()]).expect("both fit");
    let mut ddr = both.ddr();
    let fill = |ddr: &mut [u8], at: &Extent| {
        let floats = (0..at.bytes / 4).flat_map(|i| ((i * 29 % 17) as f32 / 16.0).to_le_bytes());
        ddr[at.offset as usize..(at.offset + at.bytes) as usize].copy_from_slice(&floats.collect::<Vec<u8>>());
    };
    let result = |ddr: &[u8], at: &Extent| ddr[at.offset as usize..(at.offset + at.bytes) as usize].to_vec();
    both.operands.iter().for_each(|at| fill(&mut ddr, at));
    let together = simulator.run(&both, &mut ddr).expect("it is valid").cycles;
    for (part, at) in parts.iter().zip(&both.results) {
        let mut alone = part.code.ddr();
        fill(&mut alone, &part.code.operands[0]);
        let cycles = simulator.run(&part.code, &mut alone).expect("it is valid").cycles;
        assert_eq!(result(&ddr, at), result(&alone, &part.code.results[0]));
        assert!(cycles * 95 <= together * 100, "{cycles} cycles alone, {together} together");
    }
}

/// Each optimization can be left out; the program means the same, and is not faster, but for 1 percent: not all choices are tried.
#[test]
fn each_optimization_is_measured() {
    let all = program("digits_cnn_int8.onnx", "");
    let operand = all.code.operands[0];
    let run = |program: &Program| {
        let mut ddr = program.code.ddr();
        let image = (0..operand.bytes).map(|i| (i * 37 % 101) as u8);
        let first = program.code.operands[0].offset as usize;
        // Floats from 0 to 1.
        let floats = image.clone().step_by(4).flat_map(|b| (f32::from(b) / 101.0).to_le_bytes());
        ddr[first..first + operand.bytes as usize].copy_from_slice(&floats.collect::<Vec<u8>>());
        let counts = Simulator::new(program.machine.clone()).run(&program.code, &mut ddr).expect("it is valid");
        let result = program.code.results[0];
        (ddr[result.offset as usize..(result.offset + result.bytes) as usize].to_vec(), counts)
    };
    let (expected, best) = run(&all);
    for without in ["fusion", "in-place", "divisions", "prefetch", "multicast", "streaming", "cascades"] {
        let (found, counts) = run(&program("digits_cnn_int8.onnx", &format!("{{without={without}}}")));
        assert_eq!(found, expected, "{without}");
        assert!(
            counts.cycles * 101 >= best.cycles * 100,
            "{without}: {} cycles instead of {}",
            counts.cycles,
            best.cycles
        );
    }
    let unknown = gradus(&["opt", &example("digits_cnn_int8.onnx"), "--convert-graph-to-cluster=without=magic"]);
    assert!(unknown.code != 0 && unknown.err.contains("there is no optimization 'magic'"), "{}", unknown.err);
}

/// The table of a command, its cells by line.
fn table(text: &str) -> Vec<Vec<String>> {
    text.lines()
        .map(|line| line.split("  ").map(|cell| cell.trim().to_owned()).filter(|c| !c.is_empty()).collect())
        .collect()
}

#[test]
fn sweeps_compare_variants_of_machine_and_passes() {
    let option = "form-layers.without=prefetch,divisions";
    let model = example("digits_cnn_int8.onnx");
    let args = [
        "sweep",
        &model,
        "--target",
        "cluster",
        "--set",
        "clusters=1,16",
        "--set",
        "ddr_rate=x0.2",
        "--option",
        option,
    ];
    let output = gradus(&[&args[..], &["--show", "tasks"]].concat());
    assert_eq!(output.code, 0, "{}", output.err);
    let rows = table(&output.out);
    assert_eq!(rows[0], ["cycles with the host", "ratio", "tasks", "results"]);
    let names: Vec<&str> = rows[1..].iter().map(|row| &*row[0]).collect();
    let prefix = "form-layers.without=";
    let expected = ["as it is", "clusters=1", "clusters=16", "ddr_rate=x0.2"].map(str::to_owned).into_iter();
    let expected: Vec<String> = expected.chain(["prefetch", "divisions"].map(|v| format!("{prefix}{v}"))).collect();
    assert_eq!(names, expected);
    let ratio = |row: &Vec<String>| row[2].parse::<f64>().expect("a number");
    assert!(rows[1..].iter().all(|row| row.last().is_some_and(|cell| cell == "equal")), "{}", output.out);
    assert!(ratio(&rows[4]) > 1.05 && ratio(&rows[5]) > 1.2 && ratio(&rows[6]) > 1.05, "{}", output.out);
    for (wrong, why) in [
        (["--set", "banks=2"], "has no number 'banks'"),
        (["--set", "clusters=x0"], "is no number from 1"),
        (["--set", "clusters"], "--set takes KEY=VALUE"),
        (["--option", "unroll.by=2"], "has no pass 'unroll'"),
        (["--option", "cse=2"], "--option takes PASS.NAME=VALUE"),
        (["--show", "speed"], "there is no statistic 'speed'"),
    ] {
        let output = gradus(&["sweep", &model, "--target", "cluster", wrong[0], wrong[1]]);
        assert!(output.code != 0 && output.err.contains(why), "{wrong:?}: {}", output.err);
    }
}

#[test]
fn models_share_the_clusters() {
    let parts =
        [("digits_cnn.onnx", 2), ("digits_cnn_int8.onnx", 3)].map(|(model, n)| format!("{}={n}", example(model)));
    let output = gradus(&["together", &parts[0], &parts[1], "--target", "cluster"]);
    assert_eq!(output.code, 0, "{}", output.err);
    let rows = table(&output.out);
    assert_eq!(rows[0], ["clusters", "alone", "together", "ratio", "results"]);
    assert!(rows[1..].iter().all(|row| row[5] == "equal" && row[2].ends_with("cycles")), "{}", output.out);
    let five = example("digits_cnn.onnx") + "=5";
    for (args, why) in [
        (&[&*five, &*parts[0], "--target", "cluster"][..], "the programs need 7 clusters, but the machine has 5"),
        (&[&*five, "--target", "npu"][..], "programs cannot share the target 'npu'"),
        (&["model.onnx", "--target", "cluster"][..], "a program is given as FILE=N"),
    ] {
        let output = gradus(&[&["together"][..], args].concat());
        assert!(output.code != 0 && output.err.contains(why), "{args:?}: {}", output.err);
    }
}

/// A network that is one program runs from its binary alone, on the machine for which it is made and on inputs of its types.
#[test]
fn binaries_run_by_themselves() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let to = folder.path().join("digits").display().to_string();
    let written = gradus(&["compile", &example("digits_cnn.onnx"), "--target", "cluster", "--emit=binary", "-o", &to]);
    assert_eq!(written.code, 0, "{}", written.err);
    let binary = format!("{to}/cluster0.bin");
    let run = |args: &[&str]| gradus(&[&["run", &binary][..], args].concat());
    let [images, logits] = ["digits_test_images.npy", "digits_cnn_logits.npy"].map(example);
    let ran = run(&["--input", &images, "--expect", &logits, "--rtol", "0", "--atol", "1e-4", "--stats"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("result0: tensor<500x10xf32>") && !ran.out.contains("the host: "), "{}", ran.out);
    let refused = |args: &[&str], why: &str| {
        let output = run(args);
        assert!(output.code != 0 && output.err.contains(why), "{}", output.err);
    };
    refused(&["--input", &logits], "input 'arg0' is tensor<1x1x8x8xf32>, but the file holds shape");
    refused(&["--input", &images, "--machine", &machine(folder.path(), 4)], "a program of another machine");
    refused(&["--input", &images, "--target", "npu"], "is a program of 'cluster', not of 'npu'");
    refused(&[], "input");
}

/// A program in C walks the binaries of networks; its lines are the records that `inspect` lists.
#[test]
fn binaries_of_networks_are_walked_by_a_program_in_c() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let program = folder.path().join("walk_records");
    let source = root().join("simulators/tests/cluster/walk_records.c");
    let compiled = Command::new("cc").args(["-std=c99", "-o"]).args([&program, &source]).status();
    assert!(compiled.expect("this test needs a C compiler, 'cc'").success());
    for model in ["digits_cnn.onnx", "digits_cnn_int8.onnx", "digits_mlp_sparse90.onnx"] {
        let to = folder.path().join(model).display().to_string();
        let written = gradus(&["compile", &example(model), "--target", "cluster", "--emit=binary", "-o", &to]);
        assert_eq!(written.code, 0, "{model}: {}", written.err);
        for entry in std::fs::read_dir(&to).expect("a folder") {
            let path = entry.expect("an entry").path();
            let listed = gradus(&["inspect", &path.display().to_string(), "--disasm"]).out;
            let records = assemble(&listed[listed.find("cluster 0\n").expect("records")..]).expect("a listing");
            let walked = Command::new(&program).arg(&path).arg("0").output().expect("it runs");
            assert!(walked.status.success(), "{model}: {}", String::from_utf8_lossy(&walked.stderr));
            assert_eq!(assemble(&String::from_utf8_lossy(&walked.stdout)).as_ref(), Ok(&records), "{model}");
            assert!(records.len() == 5 && records.iter().map(Vec::len).sum::<usize>() > 40, "{model}");
        }
    }
}
