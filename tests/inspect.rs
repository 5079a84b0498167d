//! `gradus inspect`: tables, constants, pictures, and programs that it cannot show.

use crate::support::{Output, gradus, root};

/// Inspects a program.
fn inspect(program: &str, flags: &[&str]) -> Output {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("program.mlir").display().to_string();
    std::fs::write(&path, program).expect("a file can be written");
    gradus(&[&["inspect", &path], flags].concat())
}

/// Returns a table-driven product.
fn product(buffer: &str, base: &str, relative: &str) -> String {
    let [rows, depth] = [base, relative].map(|list| list.split(',').count());
    format!(
        "func.func @f(%a: tensor<{buffer}xf32>, %b: tensor<2x{depth}xf32>) -> tensor<{rows}x2xf32> {{
  %base = arith.constant dense<[{base}]> : tensor<{rows}xi32>
  %relative = arith.constant dense<[{relative}]> : tensor<{depth}xi32>
  %c = addr.gemm %a[%base + %relative], %b : (tensor<{buffer}xf32>, tensor<{rows}xi32>, tensor<{depth}xi32>, tensor<2x{depth}xf32>) -> tensor<{rows}x2xf32>
  return %c : tensor<{rows}x2xf32>
}}
"
    )
}

#[test]
fn a_network() {
    let model = root().join("examples/digits_cnn.onnx").display().to_string();
    let lowered = gradus(&["opt", &model, "--convert-graph-to-addr", "--canonicalize", "--cse"]).out;
    let output = inspect(&lowered, &[]);
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    let compiled = gradus(&["inspect", &model, "--target", "cpu"]);
    assert!(compiled.out.contains("addr.gemm") && !compiled.out.contains("OUTSIDE"), "{}", compiled.out);
    let first = "  0   addr.gemm           64 rows x 3 runs x 3   of tensor<1x10x10x1xf32> in NHWC  addresses 0 to 99 of 100: inside     2 tables, 292 bytes";
    assert_eq!(output.out.lines().nth(1), Some(first));
    let last = "constants: 14 tables, 6792 bytes; 34 weights, 108624 bytes; 7 others, 256 bytes";
    assert_eq!(output.out.lines().last(), Some(last));
    assert!(!output.out.contains("OUTSIDE"), "{}", output.out);
}

#[test]
fn tables_and_rows() {
    let program = product("16", "0, 1, 4, 5", "0, 1, 2, 4, 5, 6, 8, 9, 10");
    let output = inspect(&program, &["--op", "addr.gemm", "--row", "3"]);
    let shown = "op 0: addr.gemm, 4 rows x 3 runs x 3 of tensor<16xf32>, addresses 0 to 15 of 16: inside
base      0 1 4 5
relative  0 1 2 4 5 6 8 9 10
running   0 1 1 2 1 1 2 1 1
row 3 reads 5 6 7 9 10 11 13 14 15
";
    assert_eq!((output.out.as_str(), output.err.as_str()), (shown, ""));
    let long = (0..100).map(|i| (2 * i).to_string()).collect::<Vec<_>>().join(", ");
    let output = inspect(&product("200", "0", &long), &["--op", "0"]);
    assert!(output.out.contains(" 124 126 ... (36 more)\n"), "{}", output.out);
}

#[test]
fn what_cannot_be_shown() {
    let program = product("16", "0, 1, 4, 5", "0, 1, 2");
    for (flags, message) in [
        (&["--op", "1"][..], "there is no op '1' among the 1 that read by tables; --target compiles them"),
        (&["--op", "addr.pool"], "there is no op 'addr.pool' among the 1 that read by tables; --target compiles them"),
        (&["--row", "4"], "row 4 is out of range: op 0 has 4 rows"),
    ] {
        let output = inspect(&program, flags);
        assert_eq!((output.code, output.err), (1, format!("error: {message}\n")), "{flags:?}");
    }
    // Non-constant tables, and buffers of dynamic size.
    let unknown = "func.func @f(%a: tensor<?xf32>, %t: tensor<3xi32>, %b: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %c = addr.gemm %a[%t + %t], %b : (tensor<?xf32>, tensor<3xi32>, tensor<3xi32>, tensor<2x3xf32>) -> tensor<3x2xf32>
  return %c : tensor<3x2xf32>
}
";
    assert!(inspect(unknown, &[]).out.contains("non-constant tables"));
    let output = inspect(unknown, &["--op", "0"]);
    assert_eq!((output.code, output.err.as_str()), (1, "error: the tables of op 0, 'addr.gemm', are not constant\n"));
    let output = inspect(&product("?", "0", "0, 1"), &["--svg", "-"]);
    assert!(output.err.contains("the extents of the buffer are not known"), "{}", output.err);
    assert!(inspect("func.func private @f()", &[]).out.starts_with("no op reads by tables"));
}

/// Addresses outside the buffer are reported and not drawn.
#[test]
fn outside() {
    for (base, relative, message) in [
        ("0, 14", "0, 2", "address 16"),
        ("0", "-3, 0", "address -3"),
        ("2147483647", "2147483647", "address 4294967294"),
    ] {
        let program = product("16", base, relative);
        assert!(inspect(&program, &[]).out.contains(": OUTSIDE"), "{base}");
        let output = inspect(&program, &["--svg", "-"]);
        assert_eq!(output.code, 1);
        assert!(output.err.contains(&format!("{message} is outside a buffer of 16 elements")), "{}", output.err);
    }
}

/// Pictures of large buffers are cropped.
#[test]
fn large_buffers_are_cropped() {
    let program = product("1x64x512x512", "70000", "0, 1, 2, 512, 513, 514, 262144, 262145, 16000000");
    let output = inspect(&program, &["--svg", "-"]);
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    assert!(output.out.contains("640 of 16777216 cells are drawn, around those that are read"), "{}", output.out);
    assert!(output.out.len() < 30_000);
    let scattered = (0..500).map(|i| (i * 3000).to_string()).collect::<Vec<_>>().join(", ");
    let output = inspect(&product("1500x1000", "0", &scattered), &["--svg", "-"]);
    assert!(output.out.len() < 200_000 && output.out.contains("3072 of 1500000 cells"), "{}", output.out);
}

#[test]
fn machine_code() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("product.mlir").display().to_string();
    let product = "func.func @main(%b: tensor<2x16xf32>) -> tensor<1x16xf32> {
  %a = arith.constant dense<[[0.0, 2.0]]> : tensor<1x2xf32>
  %c = sparse.matmul unrolled %a, %b : (tensor<1x2xf32>, tensor<2x16xf32>) -> tensor<1x16xf32>
  return %c : tensor<1x16xf32>
}
";
    std::fs::write(&path, product).expect("a file can be written");
    let code = gradus(&["opt", &path, "--convert-sparse-to-x64=isa=avx512"]).out;
    let output = inspect(&code, &["--disasm"]);
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    assert!(output.out.starts_with("x64.func @sparse0 {") && output.out.contains("x64.vfmadd231ps"), "{}", output.out);
    let output = inspect(product, &["--disasm"]);
    assert!(output.code == 1 && output.err.contains("there is no machine code"), "{}", output.err);
}

/// The programs of a device as files: what `compile` writes `inspect` lists, and no damaged file is taken.
#[test]
fn binaries_of_devices_are_written_and_listed() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let product = "func.func @main(%a: tensor<4x18xi8>, %b: tensor<18x64xi8>) -> tensor<4x64xi32> {\n\
                   %0 = graph.matmul_integer %a, %b : (tensor<4x18xi8>, tensor<18x64xi8>) -> tensor<4x64xi32>\n\
                   return %0 : tensor<4x64xi32>\n}\n";
    let file = folder.path().join("product.mlir");
    std::fs::write(&file, product).expect("a file can be written");
    let model = root().join("examples/digits_cnn_int8.onnx").display().to_string();
    let product = file.display().to_string();
    for (target, file, lines) in [
        ("npu", &model, ["machine npu, hash ", "constants: ", "\nconv "]),
        ("cluster", &model, ["machine cluster, hash ", "records of cluster 4: ", "\nfetch "]),
        ("nna", &product, ["machine nna, hash ", "code: ", "\nnnmacg "]),
    ] {
        let to = folder.path().join(target);
        let written = gradus(&["compile", file, "--target", target, "--emit=binary", "-o", &to.display().to_string()]);
        assert_eq!(written.code, 0, "{target}: {}", written.err);
        let path = to.join(format!("{target}0.bin"));
        let bytes = std::fs::read(&path).expect("it is there");
        let listed = gradus(&["inspect", &path.display().to_string(), "--disasm"]);
        assert_eq!(listed.code, 0, "{target}: {}", listed.err);
        assert!(lines.iter().all(|line| listed.out.contains(line)), "{target}: {}", listed.out);
        for at in (0..bytes.len()).step_by(bytes.len() / 40 + 1) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x11;
            std::fs::write(&path, damaged).expect("a file can be written");
            let refused = gradus(&["inspect", &path.display().to_string(), "--disasm"]);
            assert!(refused.code == 1 && refused.err.contains(".bin'"), "{target}, byte {at}: {}", refused.err);
        }
    }
    let to = folder.path().join("cpu").display().to_string();
    let none = gradus(&["compile", &model, "--target", "cpu", "--emit=binary", "-o", &to]);
    assert!(none.code != 0 && none.err.contains("target 'cpu' has no device with binaries"), "{}", none.err);
}
