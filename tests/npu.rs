//! Programs of the npu from the command line, against the target `cpu`, bit by bit.

use crate::support::{gradus, read, root};
use gradus::ir::Tensor;
use std::fmt::Write;
use std::path::Path;

/// Bytes of a generator (a linear congruence).
fn bytes(seed: u64, count: usize) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..count).map(|_| next()).collect()
}

/// The extents in a type such as `tensor<1x20x16xui8>`.
fn extents(ty: &str) -> Vec<usize> {
    ty.split('x').map_while(|part| part.parse().ok()).collect()
}

/// The program with random bytes as its weights, the constants of two axes or more.
fn with_weights(text: &str) -> String {
    let mut out = String::new();
    for (i, line) in text.lines().enumerate() {
        let parts = line.split_once("graph.constant dense<").zip(line.rsplit_once("> : tensor<"));
        let parts = parts.filter(|(_, (_, ty))| ty.ends_with("xi8>") && extents(ty).len() > 1);
        let Some(((name, _), (_, ty))) = parts else {
            out += line;
            out.push('\n');
            continue;
        };
        out += name;
        out += "graph.constant dense<\"0x";
        bytes(i as u64, extents(ty).iter().product())
            .iter()
            .for_each(|byte| write!(out, "{byte:02X}").expect("it is text"));
        writeln!(out, "\"> : tensor<{ty}").expect("it is text");
    }
    out
}

/// Runs a program on both targets. Returns what the npu's run printed.
fn compare(file: &str, pipeline: &str, folder: &Path) -> String {
    let text = with_weights(&read(&root().join("tests/npu").join(file)));
    let signature = text.split_once("@main(").and_then(|(_, rest)| rest.split_once(") ->")).expect("it has operands");
    let (signature, results) = (signature.0, signature.1.split('{').next().unwrap_or_default());
    let shown = |name: &str| folder.join(name).display().to_string();
    let program = shown("program.mlir");
    std::fs::write(&program, &text).expect("a file can be written");
    let mut inputs = Vec::new();
    for (i, ty) in signature.split("tensor<").skip(1).enumerate() {
        let extents = extents(ty);
        let tensor = Tensor::from_vec(&extents, bytes(i as u64 + 77, extents.iter().product()));
        let path = shown(&format!("{i}.npy"));
        gradus::npy::write_npy(Path::new(&path), &tensor).expect("a file can be written");
        inputs.extend(["--input".to_owned(), format!("arg{i}={path}")]);
    }
    let run = |more: &[&str]| {
        let more: Vec<String> = more.iter().map(|&text| text.to_owned()).collect();
        let output = gradus(&[&["run".to_owned()][..], &more, &inputs].concat());
        assert_eq!(output.code, 0, "{file} {pipeline}: {}{}", output.out, output.err);
        output.out
    };
    let count = results.matches("tensor<").count();
    let wanted: Vec<String> = (0..count).map(|i| format!("result{i}={}", shown(&format!("result{i}.npy")))).collect();
    let each = |flag: &'static str| wanted.iter().flat_map(move |of| [flag, of]).collect::<Vec<&str>>();
    run(&[&[&*program, "--target", "cpu"][..], &each("--output")].concat());
    let exactly = [&each("--expect")[..], &["--rtol", "0", "--atol", "0"]].concat();
    if pipeline.is_empty() {
        return run(&[&[&*program, "--target", "npu", "--stats"][..], &exactly].concat());
    }
    let lowered = shown("lowered.mlir");
    let pipeline = format!("--pass-pipeline=builtin.module({pipeline})");
    let output = gradus(&["opt", &program, &pipeline, "-o", &lowered]);
    assert_eq!(output.code, 0, "{file} {pipeline}: {}", output.err);
    run(&[&[&*lowered][..], &exactly].concat())
}

#[test]
fn attention_is_exact_and_on_the_machine() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let printed = compare("attention.mlir", "", folder.path());
    for op in ["qlinear_matmul", "qlinear_add", "qlinear_mul"] {
        assert!(!printed.contains(op), "the host computes {op}:\n{printed}");
    }
    for weights in ["left", "right"] {
        compare("attention.mlir", &format!("convert-graph-to-npu{{weights={weights}}}"), folder.path());
    }
}

#[test]
fn groups_and_products_in_all_modes_are_exact() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let printed = compare("groups.mlir", "", folder.path());
    assert!(!printed.contains("qlinear"), "the host computes:\n{printed}");
    for mode in ["8c", "4c", "1c", "4w4c", "8w4c-by-columns"] {
        compare("groups.mlir", &format!("convert-graph-to-npu{{mode={mode}}}"), folder.path());
    }
}

/// A number of `--stats`, of `values` of a line that begins with a name.
fn number(printed: &str, name: &str) -> f64 {
    let line = printed.lines().find_map(|line| line.strip_prefix(name)?.trim_start().split(' ').next()?.parse().ok());
    line.unwrap_or_else(|| panic!("no {name}:\n{printed}"))
}

/// Bands of a concatenation are pooled when they have been computed, so that it does not go to DDR.
#[test]
fn large_images_are_pooled_by_bands() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let printed = compare("bands.mlir", "", folder.path());
    assert!(!printed.contains("by reference: graph.max_pool"), "the host computes:\n{printed}");
    assert_eq!(number(&printed, "written to memory "), 32.0 * 50.0 * 50.0, "{printed}");
}

/// A multiply on the machine, and on the host with its traffic; rows with and without padding in SRAM.
#[test]
fn techniques_that_are_left_out_change_no_byte() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    for without in ["nothing", "multiplies", "skewed-rows"] {
        let pipeline = format!("convert-graph-to-npu{{without={without}}}");
        ["gate.mlir", "groups.mlir"].iter().for_each(|file| drop(compare(file, &pipeline, folder.path())));
    }
    let printed = compare("gate.mlir", "", folder.path());
    assert!(!printed.contains("qlinear"), "the host computes:\n{printed}");
    let of = |name: &str| number(&printed, name);
    // Only the result leaves SRAM, neither the factors nor the product.
    assert_eq!(of("constants read again "), 0.0, "{printed}");
    assert!(of("written to memory ") == 32.0 * 28.0 * 28.0, "{printed}");
    assert!(of("bound ") <= of("bound with the size of SRAM "), "{printed}");
    assert!(of("bound with the size of SRAM ") <= of("cycles "), "{printed}");
    assert!(of("cycles ") < of("cycles without ping-pong "), "{printed}");
    assert_eq!(of("cycles "), of("cycles with the host "), "{printed}");
    let at = |path: &str| root().join("tests/npu").join(path).display().to_string();
    let option = "form-layers.without=multiplies";
    let show = ["--show", "cycles with the host"];
    let swept = gradus(&[&["sweep", &at("gate.mlir"), "--target", "npu", "--option", option][..], &show].concat());
    assert_eq!(swept.code, 0, "{}", swept.err);
    let totals: Vec<f64> =
        swept.out.lines().skip(1).filter_map(|line| line.split_whitespace().rev().nth(1)?.parse().ok()).collect();
    assert!(matches!(totals[..], [machine, host] if machine * 1.3 < host), "{}", swept.out);
}
