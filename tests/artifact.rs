//! Compiled programs as files: they round-trip, and invalid files are rejected with a reason.

#![allow(clippy::print_stdout, reason = "counts, which the harness shows with --nocapture or a failure")]

use crate::support::{ENTRY, HEADER, gradus, parse, root, seal};
use gradus::Tool;
use gradus::interp::Interpreter;
use gradus::ir::eval::{Datum, floats_to_tensor};
use gradus::ir::random::Random;
use gradus::ir::{Context, DType, Diagnostic, Module};
use gradus::runtime::artifact::{Artifact, CompiledFor, write};
use gradus::runtime::cpu::CompiledFunction;
use std::sync::Arc;

fn example(file: &str) -> String {
    root().join("examples").join(file).display().to_string()
}

/// A table-driven product and a padded pool, with a constant large enough for a section of its own.
const PROGRAM: &str = "func.func @main(%a: tensor<1x4x4x1xf32>) -> tensor<4x2xf32> {
  %base = arith.constant dense<[0, 1, 4, 5]> : tensor<4xi32>
  %relative = arith.constant dense<[0, 1, 2, 4, 5, 6, 8, 9, 10]> : tensor<9xi32>
  %b = arith.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0], [9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0]]> : tensor<2x9xf32>
  %c = addr.gemm %a[%base + %relative], %b : (tensor<1x4x4x1xf32>, tensor<4xi32>, tensor<9xi32>, tensor<2x9xf32>) -> tensor<4x2xf32>
  %bases = arith.constant dense<[[0, -1, 2, 4, 5, 6, 8, 9, 10], [1, 2, 3, 5, 6, 7, 9, 10, -1]]> : tensor<2x9xi32>
  %d = addr.indirect_gemm %a[%bases] run 1, %b : (tensor<1x4x4x1xf32>, tensor<2x9xi32>, tensor<2x9xf32>) -> tensor<2x2xf32>
  %e = graph.concat %c, %d {axis = 0 : i64} : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<6x2xf32>
  %starts = arith.constant dense<[2, 0]> : tensor<2xi64>
  %ends = arith.constant dense<[6, 2]> : tensor<2xi64>
  %f = graph.slice %e, %starts, %ends : (tensor<6x2xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<4x2xf32>
  return %f : tensor<4x2xf32>
}
";

fn written(m: Module) -> Vec<u8> {
    let header = CompiledFor { target: "cpu".to_owned(), version: 1, machine: 0x1234 };
    let mut bytes = Vec::new();
    write(m, &header, &mut bytes).expect("a vector can be written");
    bytes
}

fn read(ctx: &Arc<Context>, bytes: Vec<u8>) -> Result<Module, Vec<Diagnostic>> {
    Artifact::open("model.gradus", bytes.into())?.read(ctx)
}

/// Returns the error of reading a file.
fn refused(bytes: Vec<u8>) -> Option<String> {
    let ctx = Tool::gradus().context();
    let diagnostics = read(&ctx, bytes).err()?;
    Some(diagnostics.iter().map(|d| d.render(&ctx)).collect())
}

fn compiled(ctx: &Arc<Context>, text: &str) -> Vec<u8> {
    written(parse(ctx, text).expect("it is valid"))
}

#[test]
fn a_network_is_what_was_compiled() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let [model, out] = ["model.gradus", "logits.npy"].map(|name| folder.path().join(name).display().to_string());
    for name in ["digits_cnn", "digits_mlp_sparse90"] {
        let source = example(&format!("{name}.onnx"));
        let output = gradus(&["compile", &source, "--target", "cpu", "-o", &model]);
        assert_eq!((output.code, output.err.as_str(), output.out.as_str()), (0, "", ""));
        let image = format!("image={}", example("digits_test_images.npy"));
        let ran = gradus(&["run", &source, "--target", "cpu", "--input", &image, "--output", &format!("logits={out}")]);
        let same = ["run", &model, "--input", &image, "--expect", &out, "--rtol", "0", "--atol", "0"];
        let again = gradus(&same);
        assert_eq!((ran.code, again.code, again.err.as_str()), (0, 0, ""), "{}", again.out);
        assert!(again.out.contains("logits: agrees"), "{}", again.out);
        assert!(gradus(&["inspect", &model]).out.contains("addr.gemm"));
        assert!(gradus(&["opt", &model, "--mlir-elide-elementsattrs-if-larger=8"]).out.contains("addr.gemm"));
        let timed = gradus(&["bench", &model, "--repeat", "1"]).out;
        assert!(timed.contains("median") && !timed.contains("by reference"), "{timed}");
    }
}

#[test]
fn dumps_show_what_each_pass_decided() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let model = folder.path().join("model.gradus").display().to_string();
    let flags = ["--mlir-print-ir-after-all", "--mlir-elide-elementsattrs-if-larger=4"];
    let output = gradus(&[&["compile", &example("digits_cnn.onnx"), "-o", &model], &flags[..]].concat());
    let dumps: Vec<&str> = output.err.split("// -----// IR Dump After ").collect();
    let after = |pass: &str| *dumps.iter().find(|dump| dump.starts_with(pass)).unwrap_or_else(|| panic!("{pass}"));
    assert!(after("FuseEpilogues").contains("low = 0.000000e+00"));
    assert!(after("FormSteps").contains("sched.step ") && !after("FormSteps").contains("sched.buffer %host["));
    assert!(after("PlanMemory").contains("sched.buffer %host["));
}

#[test]
fn what_is_cut_off_or_changed_is_refused() {
    let bytes = compiled(&Tool::gradus().context(), PROGRAM);
    assert_eq!(refused(bytes.clone()), None);
    for len in 0..bytes.len() {
        let said = refused(bytes[..len].to_vec()).unwrap_or_default();
        assert!(said.contains("is not a compiled program: byte"), "{len} bytes: {said}");
    }
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1 << (at % 8);
        let said = refused(changed).unwrap_or_default();
        assert!(said.contains("is not a compiled program: byte"), "byte {at}: {said}");
    }
    let said = refused([&bytes[..], &[0]].concat()).unwrap_or_default();
    assert!(said.contains("byte 16: the file should have"), "{said}");
}

#[test]
fn addresses_outside_are_refused() {
    let ctx = Tool::gradus().context();
    for (change, to, reason) in [
        ("dense<[0, 1, 4, 5]>", "dense<[0, 1, 4, 6]>", "'addr.gemm' address 16 is outside a buffer of 16 elements"),
        ("dense<[0, 1, 4, 5]>", "dense<[0, 1, -1, 5]>", "'addr.gemm' address -1 is outside a buffer of 16 elements"),
        ("[[0, -1, 2,", "[[0, -2, 2,", "'addr.indirect_gemm' address -2 is outside a buffer of 16 elements"),
        ("[[0, -1, 2,", "[[0, 2147483647, 2,", "address 2147483647 is outside a buffer of 16 elements"),
    ] {
        let said = refused(compiled(&ctx, &PROGRAM.replace(change, to))).unwrap_or_default();
        assert!(said.contains(reason), "{said}");
    }
    let unknown = PROGRAM.replace("(%a: tensor<1x4x4x1xf32>)", "(%a: tensor<1x4x4x1xf32>, %base: tensor<4xi32>)");
    let unknown = unknown.replacen("  %base = arith.constant dense<[0, 1, 4, 5]> : tensor<4xi32>\n", "", 1);
    let said = refused(compiled(&ctx, &unknown)).unwrap_or_default();
    assert!(said.contains("its tables are not constant"), "{said}");
}

/// A schedule in which a buffer takes the place of one that is no longer read.
const SCHEDULE: &str = "func.func @main(%a: tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> {
  %host = sched.arena \"host\" : memref<128xi8>
  %in = sched.to_buffer %a : tensor<1x4x4x1xf32> to memref<1x4x4x1xf32>
  %b = sched.buffer %host[0] : memref<128xi8> to memref<1x4x4x1xf32>
  sched.step \"first\" reads(%in : memref<1x4x4x1xf32>) writes(%b : memref<1x4x4x1xf32>) {
  ^bb0(%x: tensor<1x4x4x1xf32>):
    %0 = graph.relu %x : tensor<1x4x4x1xf32>
    sched.yield %0 : tensor<1x4x4x1xf32>
  }
  %c = sched.buffer %host[64] : memref<128xi8> to memref<1x4x4x1xf32>
  sched.step \"second\" reads(%b : memref<1x4x4x1xf32>) writes(%c : memref<1x4x4x1xf32>) {
  ^bb0(%x: tensor<1x4x4x1xf32>):
    %0 = graph.transpose %x {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32>
    sched.yield %0 : tensor<1x4x4x1xf32>
  }
  %d = memref.alloc() : memref<1x4x4x1xf32>
  sched.step \"third\" reads(%b, %c : memref<1x4x4x1xf32>, memref<1x4x4x1xf32>) writes(%d : memref<1x4x4x1xf32>) {
  ^bb0(%x: tensor<1x4x4x1xf32>, %y: tensor<1x4x4x1xf32>):
    %0 = graph.add %x, %y : (tensor<1x4x4x1xf32>, tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32>
    sched.yield %0 : tensor<1x4x4x1xf32>
  }
  %r = sched.to_tensor %d : memref<1x4x4x1xf32> to tensor<1x4x4x1xf32>
  return %r : tensor<1x4x4x1xf32>
}
";

#[test]
fn offsets_that_are_outside_or_overlap_are_refused() {
    let ctx = Tool::gradus().context();
    assert_eq!(refused(compiled(&ctx, SCHEDULE)), None);
    for (to, reason) in [
        ("%host[68]", "'sched.buffer' op ends at byte 132 of an arena of 128 bytes"),
        ("%host[9223372036854775804]", "'sched.buffer' op ends at"),
        ("%host[60]", "step 'second' reads bytes 0 to 64 of the arena and overwrites them, writing bytes 60 to 124"),
    ] {
        let said = refused(compiled(&ctx, &SCHEDULE.replace("%host[64]", to))).unwrap_or_default();
        assert!(said.contains(reason), "{said}");
    }
}

/// The header says for which target and machine a program is, before anything of the program is read.
#[test]
fn programs_for_others_are_refused() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let model = folder.path().join("model.gradus").display().to_string();
    assert_eq!(gradus(&["compile", &example("digits_cnn.onnx"), "-o", &model]).err, "");
    let bytes = std::fs::read(&model).expect("it was written");
    let header = Artifact::open(&model, bytes.clone().into()).expect("it is valid").compiled_for().clone();
    let machine = header.machine;
    assert_eq!(header, CompiledFor { target: "cpu".to_owned(), version: 1, machine });
    for (at, value, reason) in [
        (28, &b"\x02"[..], "compiled for version 2 of target 'cpu', but this tool has version 1".to_owned()),
        (
            32,
            &[machine as u8 ^ 1],
            format!("with hash {:016x}, not for this one with hash {machine:016x}", machine ^ 1),
        ),
        (40, b"cpv", "was compiled for 'cpv': there is no target 'cpv'; did you mean 'cpu'?".to_owned()),
        (40, b"nna", "with hash".to_owned()),
        (40, b"\0", "is not a compiled program: byte 40: the target has no name".to_owned()),
    ] {
        let mut changed = bytes.clone();
        changed[at..at + value.len()].copy_from_slice(value);
        // The text would be refused, too, but is not looked at.
        changed[HEADER + ENTRY * 64..].fill(0xff);
        seal(&mut changed);
        std::fs::write(&model, changed).expect("the folder is ours");
        let output = gradus(&["bench", &model]);
        assert!(output.code != 0 && output.err.contains(&reason), "{}", output.err);
    }
    let long = CompiledFor { target: "x".repeat(33), version: 1, machine };
    let program = parse(&Tool::gradus().context(), PROGRAM).expect("it is valid");
    let error = write(program, &long, &mut Vec::new()).expect_err("the name is too long");
    assert!(error.to_string().contains("does not have 1 to 32 bytes"), "{error}");
}

/// Hostile files, half of them with valid checksums, are rejected, or run without accesses out of bounds. The variable
/// `GRADUS_TRIALS` sets their number.
#[test]
fn hostile_files_do_no_harm() {
    let trials = std::env::var("GRADUS_TRIALS").ok().and_then(|trials| trials.parse().ok());
    let trials = trials.unwrap_or(if cfg!(debug_assertions) { 600 } else { 12_000 });
    let ctx = Tool::gradus().context();
    let input = Datum::Tensor(floats_to_tensor(DType::F32, &[1, 4, 4, 1], (0..16).map(f64::from).collect()));
    let (mut random, mut opened, mut accepted, mut ran) = (Random::of("artifacts"), 0, 0, 0);
    let files = [PROGRAM, SCHEDULE].map(|program| compiled(&ctx, program));
    for i in 0..trials {
        let mut changed = files[i % files.len()].clone();
        for _ in 0..1 + random.below(3) {
            let at = random.below(changed.len() as u64) as usize;
            changed[at] = match random.below(3) {
                0 => random.below(256) as u8,
                1 => b"0123456789-<>x,"[random.below(15) as usize],
                _ => changed[at] ^ 1 << random.below(8),
            };
        }
        if i / files.len() % 2 == 0 {
            seal(&mut changed);
        }
        let ctx = Tool::gradus().context();
        let Ok(artifact) = Artifact::open("model.gradus", changed.into()) else { continue };
        opened += 1;
        let Ok(m) = artifact.read(&ctx) else { continue };
        accepted += 1;
        let Some(main) = Interpreter::new(&m).function("main") else { continue };
        ran += u32::from(CompiledFunction::new(&m, main).call(vec![input.clone()]).is_ok());
    }
    println!("{trials} files: {opened} with a valid header, {accepted} valid, {ran} ran without a trap");
    assert!(ran > 0, "nothing that was changed ran");
}
