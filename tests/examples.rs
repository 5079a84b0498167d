//! The example networks from end to end, by the commands of `examples/README.md`.

use crate::support::{gradus, root};
use gradus::npy::read_npy;

fn example(file: &str) -> String {
    root().join("examples").join(file).display().to_string()
}

/// `gradus run` on the test images; returns what it printed.
fn run(model: &str, more: &[String]) -> String {
    let image = format!("image={}", example("digits_test_images.npy"));
    let args = ["run", model, "--input", &image, "--labels", &example("digits_test_labels.npy")].map(str::to_owned);
    let output = gradus(&[&args[..], more].concat());
    assert_eq!((output.code, output.err.as_str()), (0, ""), "{model}\n{}", output.out);
    output.out
}

/// `--expect` with everything within 1e-4.
fn within_1e4(logits: &str) -> Vec<String> {
    ["--expect", &example(logits), "--atol", "1e-4", "--rtol", "0"].map(str::to_owned).to_vec()
}

/// Returns the percentage that `--labels` prints.
fn accuracy(printed: &str) -> f64 {
    let text = printed.split("accuracy: ").nth(1).and_then(|t| t.split(' ').next());
    text.and_then(|t| t.parse().ok()).unwrap_or_else(|| panic!("no accuracy is printed:\n{printed}"))
}

#[test]
fn the_convolutional_network_reads_digits() {
    for model in ["digits_cnn_batch.onnx", "digits_cnn.onnx"] {
        let printed = run(&example(model), &within_1e4("digits_cnn_logits.npy"));
        assert!(printed.contains("logits: agrees"), "{printed}");
        assert_eq!(accuracy(&printed), 98.8, "{model}");
    }
}

#[test]
fn networks_read_digits_on_this_machine() {
    for (model, logits, want) in [
        ("digits_cnn.onnx", "digits_cnn_logits.npy", 98.8),
        ("digits_mlp_sparse90.onnx", "digits_mlp_sparse90_logits.npy", 98.6),
    ] {
        let on_cpu = ["--target".to_owned(), "cpu".to_owned()];
        let printed = run(&example(model), &[&within_1e4(logits)[..], &on_cpu].concat());
        assert!(printed.contains("logits: agrees"), "{printed}");
        assert_eq!(accuracy(&printed), want, "{model}");
    }
}

#[test]
fn the_sparse_network_reads_digits() {
    for model in ["digits_mlp_sparse90_batch.onnx", "digits_mlp_sparse90.onnx"] {
        let printed = run(&example(model), &within_1e4("digits_mlp_sparse90_logits.npy"));
        assert!(printed.contains("logits: agrees"), "{printed}");
        assert_eq!(accuracy(&printed), 98.6, "{model}");
    }
}

/// Runtimes sum in different orders and round a sum between two quantization steps to either. So nearly all logits are
/// equal, few differ by one step, and none by more than two after all layers. A step is the smallest distance of two
/// logits.
#[test]
fn the_quantized_network_reads_digits() {
    quantized_network(&[]);
}

/// On the cpu it runs as integers, by kernels only.
#[test]
fn the_quantized_network_reads_digits_in_integers() {
    let printed = quantized_network(&["--target", "cpu", "--stats"]);
    assert!(!printed.contains("by reference"), "{printed}");
    let folder = tempfile::tempdir().unwrap();
    let imported = folder.path().join("digits.mlir").display().to_string();
    assert_eq!(gradus(&["import", &example("digits_cnn_int8.onnx"), "-o", &imported]).code, 0);
    let text = gradus(&["opt", &imported, "--convert-qdq-to-integer"]).out;
    assert!(text.contains("graph.qlinear_conv") && text.contains("graph.table"), "{text}");
    assert_eq!(
        [text.matches("= graph.quantize_linear").count(), text.matches("= graph.dequantize_linear").count()],
        [1, 1]
    );
}

/// Runs the quantized network and checks its logits. Returns what the command prints.
fn quantized_network(options: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("logits.npy");
    let mut save = vec!["--output".to_owned(), format!("logits={}", file.display())];
    save.extend(options.iter().map(|&option| option.to_owned()));
    let printed = run(&example("digits_cnn_int8.onnx"), &save);
    assert!((accuracy(&printed) - 98.6).abs() <= 0.4, "{printed}");
    let read = |path: &str| read_npy(path.as_ref()).unwrap().to_f64();
    let (have, want) = (read(&file.display().to_string()), read(&example("digits_cnn_int8_logits.npy")));
    let mut steps = want.clone();
    steps.sort_by(f64::total_cmp);
    let step = steps.windows(2).map(|w| w[1] - w[0]).filter(|d| *d > 1e-6).fold(f64::INFINITY, f64::min);
    assert_eq!(have.len(), want.len());
    let further = |steps: f64| have.iter().zip(&want).filter(|(a, b)| (*a - *b).abs() > (steps + 0.01) * step).count();
    let counts = [further(0.0), further(1.0), further(2.0)];
    assert!(counts[0] <= 10 && counts[1] <= 1 && counts[2] == 0, "{counts:?} of {} are off by steps", have.len());
    printed
}

/// Import, print, transform, parse and run preserve the results.
#[test]
fn text_and_passes_keep_the_meaning() {
    let networks = [
        ("digits_cnn_batch.onnx", "digits_cnn_logits.npy", 98.8),
        ("digits_cnn.onnx", "digits_cnn_logits.npy", 98.8),
        ("digits_mlp_sparse90_batch.onnx", "digits_mlp_sparse90_logits.npy", 98.6),
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    for (model, logits, percent) in networks {
        let succeeds = |args: &[&str]| {
            let output = gradus(args);
            assert_eq!((output.code, output.err.as_str()), (0, ""), "gradus {}", args.join(" "));
        };
        succeeds(&["import", &example(model), "-o", &path("imported.mlir")]);
        let passes = ["--canonicalize", "--cse"];
        succeeds(&[&["opt", &path("imported.mlir"), "-o", &path("smaller.mlir")], &passes[..]].concat());
        let printed = run(&path("smaller.mlir"), &within_1e4(logits));
        assert!(printed.contains("logits: agrees"), "{printed}");
        assert_eq!(accuracy(&printed), percent, "{model}");
    }
}
