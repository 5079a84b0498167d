//! Programs with open extents: `--shape`, and the shapes of inputs.

use crate::support::{Output, gradus};
use gradus::ir::Tensor;
use gradus::npy::write_npy;
use std::path::Path;

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

/// Runs a command on the program, with `IMAGE` for the file of an image of two, and `REFERENCE` for its result by reference.
fn on_images(args: &[&str]) -> Output {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let numbers: Vec<f32> = (0..2 * 3 * 9 * 7).map(|i| (i * 37 % 101) as f32 - 50.0).collect();
    std::fs::write(path("program.mlir"), PROGRAM).expect("a file can be written");
    write_npy(Path::new(&path("image.npy")), &Tensor::from_vec(&[2, 3, 9, 7], numbers)).expect("a file can be written");
    let [program, image, reference] = ["program.mlir", "image.npy", "reference.npy"].map(path);
    let made = gradus(&["run", &program, "--input", &image, "--output", &reference]);
    assert_eq!((made.code, made.err.as_str()), (0, ""));
    let args: Vec<String> =
        args.iter().map(|arg| arg.replace("IMAGE", &image).replace("REFERENCE", &reference)).collect();
    let whole = [args[..1].to_vec(), vec![program], args[1..].to_vec()].concat();
    gradus(&whole)
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
