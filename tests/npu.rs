//! Programs of the npu from the command line, against the target `cpu`, bit by bit.

mod support;

use gradus::ir::Tensor;
use std::fmt::Write;
use std::path::Path;
use support::{gradus, read, root};

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
    let signature = text.split_once("@main(").and_then(|(_, rest)| rest.split_once(") ->")).expect("it has operands").0;
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
    let wanted = [0, 1].map(|i| format!("result{i}={}", shown(&format!("result{i}.npy"))));
    run(&[&program, "--target", "cpu", "--output", &wanted[0], "--output", &wanted[1]]);
    let exactly = ["--expect", &wanted[0], "--expect", &wanted[1], "--rtol", "0", "--atol", "0"];
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
