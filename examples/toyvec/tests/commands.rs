//! All commands on a target from outside.

use gradus_golden::{Output, run};
use std::path::Path;

/// The program of these tests: (a * x + y)².
const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/axpy.mlir");

fn toyvec(args: &[&str]) -> Output {
    run(&toyvec::tool(), args)
}

/// Writes 20 numbers `start`, `start + 1`, ... to a file.
fn numbers(folder: &Path, name: &str, start: usize) -> String {
    let path = folder.join(name);
    let values: Vec<f32> = (start..start + 20).map(|i| i as f32).collect();
    gradus::npy::write_npy(&path, &gradus::ir::Tensor::from_vec(&[20], values)).expect("a file can be written");
    path.display().to_string()
}

#[test]
fn run_simulates() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let inputs = [("a", 0), ("x", 3), ("y", 5)].map(|(name, start)| numbers(folder.path(), name, start));
    let args: Vec<String> = inputs.iter().enumerate().map(|(i, path)| format!("--input=arg{i}={path}")).collect();
    let mut line = vec!["run", PROGRAM];
    line.extend(args.iter().map(String::as_str));
    let by_reference = toyvec(&line);
    assert_eq!((by_reference.code, by_reference.err.as_str()), (0, ""));
    line.extend(["--target=toyvec", "--stats"]);
    let simulated = toyvec(&line);
    // Two instructions on three vectors of eight elements each, with 4 cycles to start.
    let statistics = "simulated time  14 cycles\nexecuted        2 instructions\n";
    assert_eq!((simulated.err.as_str(), simulated.out), ("", by_reference.out + statistics));
}

#[test]
fn a_machine_description_replaces_the_embedded_one() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("wide.toml").display().to_string();
    let machine = include_str!("../toyvec.toml").replace("value = 8", "value = 32");
    std::fs::write(&file, &machine).expect("a file can be written");
    let bench = |args: &[&str]| toyvec(&[&["bench", PROGRAM, "--target=toyvec", "--repeat=1", "--ops"], args].concat());
    assert!(bench(&[]).out.contains("\nsimulated time  14 cycles\n"), "{}", bench(&[]).out);
    let wide = bench(&["--machine", &file]);
    assert!(wide.out.contains("\nsimulated time  10 cycles\n"), "{}{}", wide.out, wide.err);
    assert!(wide.out.contains(" 5.000 cycles  50.0 %  toyvec.mac: "), "{}", wide.out);
    std::fs::write(&file, machine.replace("start", "stat")).expect("a file can be written");
    let wrong = bench(&["--machine", &file]);
    let said = format!("{file}:4:1: error: unknown number 'stat' of 'toyvec'; did you mean 'start'?\n");
    let errors: String =
        wrong.err.lines().filter(|line| line.contains("error:")).map(|line| line.to_owned() + "\n").collect();
    assert_eq!((wrong.code, errors), (1, said));
}

#[test]
fn compiled_programs_run_and_name_their_target() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("axpy.gradus").display().to_string();
    let compiled = toyvec(&["compile", PROGRAM, "--target=toyvec", "-o", &file]);
    assert_eq!((compiled.code, compiled.err.as_str()), (0, ""));
    assert!(toyvec(&["bench", &file, "--repeat=1"]).out.contains("\nsimulated time  14 cycles\n"));
    assert_eq!(toyvec(&["inspect", &file]).out, "v3 = mac v0, v1, v2\nv4 = mul v3, v3\n");
    // Gradus itself does not know the target, nor its instructions.
    let other = run(&gradus::Tool::gradus(), &["run", &file]);
    assert!(other.code == 1 && other.err.contains("toyvec"), "{}", other.err);
    let asked = toyvec(&["run", &file, "--target=cpu"]);
    assert_eq!((asked.code, asked.err), (2, format!("error: '{file}' was compiled for 'toyvec', not for 'cpu'\n")));
    // Another machine, for which it was not compiled.
    let machine = folder.path().join("wide.toml").display().to_string();
    let text = include_str!("../toyvec.toml").replace("value = 8", "value = 32");
    std::fs::write(&machine, text).expect("a file can be written");
    let refused = toyvec(&["bench", &file, "--repeat=1", "--machine", &machine]);
    let reason = "was compiled for the machine description of 'toyvec' with hash ";
    assert!(refused.code != 0 && refused.err.contains(reason), "{}", refused.err);
}

#[test]
fn inspect_check_list_and_doc_know_it() {
    assert_eq!(toyvec(&["inspect", PROGRAM, "--target=toyvec"]).out, "v3 = mac v0, v1, v2\nv4 = mul v3, v3\n");
    let checked = toyvec(&["check", PROGRAM, "--target=toyvec"]);
    assert_eq!((checked.code, checked.err.as_str()), (0, ""));
    assert!(checked.out.starts_with("@main: no difference on 200 inputs"), "{}", checked.out);
    let listed = toyvec(&["list", "targets"]).out;
    assert!(listed.ends_with("toyvec   a vector machine with three instructions; costs in cycles\n"), "{listed}");
    let page = toyvec(&["doc", "toyvec"]).out;
    assert!(page.contains("| `lanes` | 8 | elements per cycle | assumed |"), "{page}");
    let report = toyvec(&["opt", PROGRAM, "--saturate=target=toyvec", "--saturate-report=-"]).out;
    assert!(report.contains("cost (toyvec): 21 before, 14 chosen"), "{report}");
}

/// A program that the simulator cannot decode is an error, not a panic.
#[test]
fn other_programs_are_refused() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("program.mlir").display().to_string();
    let programs = [
        (
            "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
           %0 = graph.relu %x : tensor<4xf32>
           return %0 : tensor<4xf32>
         }",
            "'graph.relu' is no instruction of toyvec",
        ),
        (
            "func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> { return %x : tensor<2x2xf32> }",
            "'tensor<2x2xf32>' is no vector of toyvec",
        ),
        ("func.func private @main(tensor<4xf32>) -> tensor<4xf32>", "a toyvec program is straight-line code"),
    ];
    for (program, message) in programs {
        std::fs::write(&file, program).expect("a file can be written");
        let output = toyvec(&["bench", &file, "--target=toyvec", "--repeat=1"]);
        assert_eq!((output.code, output.err), (1, format!("error: {message}\n")));
    }
}

#[test]
fn the_declarations_are_right() {
    let mistakes: Vec<String> = toyvec::tool().check_declarations().iter().map(ToString::to_string).collect();
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
}
