//! Programs with open extents: `--shape`, and the shapes of inputs.

use crate::support::{Output, gradus, parse};
use gradus::Tool;
use gradus::interp::Interpreter;
use gradus::ir::eval::Datum;
use gradus::ir::{Context, Module, Tensor};
use gradus::npy::write_npy;
use gradus::specialized::SpecializedFunction;
use gradus::targets::Executable;
use std::path::Path;
use std::sync::{Arc, Weak};

const PROGRAM: &str = r#"
func.func @main(%image: tensor<?x3x?x?xf32> {graph.name = "image"}) -> tensor<?x?xf32> {
  %w = graph.constant dense<0.5> : tensor<4x3x3x3xf32>
  %0 = graph.conv %image, %w {pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<?x3x?x?xf32>, tensor<4x3x3x3xf32>) -> tensor<?x4x?x?xf32>
  %1 = graph.relu %0 : tensor<?x4x?x?xf32>
  %to = graph.constant dense<[0, -1]> : tensor<2xi64>
  %2 = graph.reshape %1, %to : (tensor<?x4x?x?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %2 : tensor<?x?xf32>
}
"#;

/// Runs a command on the program, see [`run_all`].
fn on_images(args: &[&str]) -> Output {
    run_all(&[&[&args[..1], &["PROGRAM"], &args[1..]].concat()])
}

/// Runs commands, and returns the output of the last one. `PROGRAM` stands for the file of the program, `IMAGE` for that of two images, `REFERENCE` for
/// that of its result by reference, `COMPILED` for one that commands may write.
fn run_all(commands: &[&[&str]]) -> Output {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("program.mlir"), PROGRAM).expect("a file can be written");
    write_npy(Path::new(&path("image.npy")), &image([2, 9, 7])).expect("a file can be written");
    let files = ["PROGRAM program.mlir", "IMAGE image.npy", "REFERENCE reference.npy", "COMPILED program.gradus"];
    let run = |args: &&[&str]| {
        let named = |arg: &&str| {
            let known = files.iter().filter_map(|file| file.split_once(' ')).find(|known| known.0 == *arg);
            known.map_or_else(|| (*arg).to_owned(), |known| path(known.1))
        };
        gradus(&args.iter().map(named).collect::<Vec<_>>())
    };
    let reference: &[&str] = &["run", "PROGRAM", "--input", "IMAGE", "--output", "REFERENCE"];
    let [before @ .., last] = commands else { panic!("there are no commands") };
    for command in std::iter::once(&reference).chain(before) {
        let made = run(command);
        assert_eq!((made.code, made.err.as_str()), (0, ""), "{command:?}");
    }
    run(last)
}

/// Returns images of a number, height and width.
fn image([n, h, w]: [usize; 3]) -> Tensor {
    Tensor::from_vec(&[n, 3, h, w], (0..n * 3 * h * w).map(|i| (i * 37 % 101) as f32 - 50.0).collect())
}

#[test]
fn a_program_is_compiled_for_the_shapes_of_its_inputs() {
    let output = on_images(&["run", "--target", "cpu", "--input", "IMAGE", "--expect", "REFERENCE", "--stats"]);
    assert_eq!((output.code, output.err.as_str()), (0, ""), "{}", output.out);
    for word in ["interpreted", "by reference", "without steps"] {
        assert!(!output.out.contains(word), "{}", output.out);
    }
    // The images of the batch run one after another.
    let one = ["run", "--target", "cpu", "--shape", "image=1x3x?x7", "--input", "IMAGE", "--expect", "REFERENCE"];
    let output = on_images(&one);
    assert_eq!((output.code, output.err.as_str()), (0, ""), "{}", output.out);
}

#[test]
fn shapes_are_given_or_asked_for() {
    let output = on_images(&["bench", "--target", "cpu", "--repeat", "1"]);
    assert!(output.code != 0 && output.err.contains("'image' (tensor<?x3x?x?xf32>) is open"), "{}", output.err);
    let output = on_images(&["bench", "--target", "cpu", "--repeat", "1", "--shape", "image=1x3x8x8"]);
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    let wrong = [
        ("image=1x3x8", "'image=1x3x8' does not fit parameter 'image' of type 'tensor<?x3x?x?xf32>'"),
        ("image=1x4x8x8", "'image=1x4x8x8' does not fit"),
        ("img=1x3x8x8", "there is no parameter 'img'; there is image"),
        ("image=1x3x8x-1", "a shape is NAME=EXTENTS, such as image=1x3x48x320, not 'image=1x3x8x-1'"),
        ("1x3x8x8", "a shape is NAME=EXTENTS"),
    ];
    for (shape, why) in wrong {
        let output = on_images(&["opt", "--shape", shape]);
        assert!(output.code != 0 && output.err.contains(why), "{shape}: {}", output.err);
    }
}

#[test]
fn files_hold_programs_for_several_shapes() {
    let compile: &[&str] = &["compile", "PROGRAM", "-o", "COMPILED"];
    let run: &[&str] = &["run", "COMPILED", "--input", "IMAGE", "--expect", "REFERENCE", "--stats"];
    let shapes = |shapes: &[&'static str]| {
        let flags = shapes.iter().flat_map(|shapes| ["--shapes", shapes]);
        compile.iter().copied().chain(flags).collect::<Vec<&str>>()
    };
    for shapes in
        [shapes(&[]), shapes(&["image=1x3x4x4", "image=2x3x9x7"]), shapes(&["image=2x3x?x?", "image=1x3x9x7"])]
    {
        let output = run_all(&[&shapes, run]);
        assert_eq!((output.code, output.err.as_str()), (0, ""), "{}", output.out);
        assert!(output.out.contains("compiled at call 1 for image=2x3x9x7"), "{}", output.out);
        assert!(!output.out.contains("by reference") && !output.out.contains("interpreted"), "{}", output.out);
    }
    let output = run_all(&[&shapes(&["image=2x4x9x7"])]);
    assert!(
        output.code == 1 && output.err.contains("'image=2x4x9x7' does not fit parameter 'image'"),
        "{}",
        output.err
    );
}

#[test]
fn programs_of_new_shapes_replace_others() {
    let tool = Tool::gradus();
    let ctx = tool.context();
    let m = parse(&ctx, PROGRAM).expect("the program is right");
    let mut interpreter = Interpreter::new(&m);
    let main = interpreter.function("main").expect("there is main");
    let cpu = tool.targets.iter().find(|target| target.cost.name == "cpu").expect("there is cpu");
    let mut compiled = SpecializedFunction::new(&tool, &m, main, "main", cpu, 1).expect("programs can be kept");
    let count = std::env::var("GRADUS_SHAPES").map_or(60, |count| count.parse().expect("a number"));
    let mut contexts: Vec<Weak<Context>> = Vec::new();
    for i in 0..count {
        // Each third call is of shapes that the call before had.
        let k = i - i % 3 / 2;
        let args = vec![Datum::Tensor(image([1 + k % 3, 1 + k / 7, 1 + k % 11]))];
        let want = interpreter.call(main, args.clone()).expect("it runs");
        let have = compiled.call(args).map_err(|stop| stop.trap.to_string()).expect("it runs");
        let numbers = |all: &[Datum]| all[0].tensor().map(|t| (t.shape().to_vec(), t.to_f64())).expect("a tensor");
        let ((want_shape, want), (have_shape, have)) = (numbers(&want), numbers(&have));
        assert_eq!(want_shape, have_shape, "call {i}");
        assert!(want.iter().zip(&have).all(|(a, b)| (a - b).abs() <= 1e-3), "call {i}");
        let program: Option<&Module> = compiled.module();
        contexts.push(Arc::downgrade(&program.expect("it was reached").ctx));
    }
    let live = contexts
        .iter()
        .filter_map(Weak::upgrade)
        .map(|ctx| Arc::as_ptr(&ctx))
        .collect::<std::collections::HashSet<_>>();
    assert!(live.len() <= 8, "{} programs are kept", live.len());
    let compiled = compiled.statistics().iter().filter(|one| one.name.starts_with("compiled at call")).count();
    assert_eq!(compiled, live.len());
}
