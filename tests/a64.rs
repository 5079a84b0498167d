//! Code of AArch64 for products with sparse constants: simulated, and as bytes under an emulator, against sums in the same order.

use crate::support::{lowered, parse};
use gradus::Tool;
use gradus::interp::Interpreter;
use gradus::ir::eval::Datum;
use gradus::ir::random::Random;
use gradus::ir::{DType, Module, Op, OpDecl, Tensor};
use gradus::machines::a64::{CallOp, CodeOp, Panels};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// A random product with a sparse constant.
struct Product {
    /// Extents `[M, K, N]`.
    shape: [usize; 3],
    /// The constant: `[M, K]`, or `[K, N]` if the right operand is sparse.
    sparse: Vec<f64>,
    dense: Vec<f64>,
    is_right: bool,
    dtype: DType,
    text: String,
}

fn extent(random: &mut Random, most: u64) -> usize {
    1 + if random.percent(70) { random.below(40.min(most)) } else { random.below(most) } as usize
}

/// A tensor of f32, f64 or i32.
fn tensor(dtype: DType, shape: &[usize], values: &[f64]) -> Tensor {
    match dtype {
        DType::F64 => Tensor::from_vec(shape, values.to_vec()),
        DType::F32 => Tensor::from_vec(shape, values.iter().map(|&x| x as f32).collect()),
        _ => Tensor::from_vec(shape, values.iter().map(|&x| x as i32).collect()),
    }
}

impl Product {
    fn draw(random: &mut Random, most: u64) -> Product {
        let shape: [usize; 3] = std::array::from_fn(|_| extent(random, most));
        let [m, k, n] = shape;
        let (is_right, dtype) = (random.percent(30), random.pick(&[DType::I32, DType::I32, DType::F32, DType::F64]));
        let (zeros, palette) = (random.below(101), random.below(5));
        let mut value = || match palette {
            _ if random.percent(zeros) => 0.0,
            0 => random.below(1 << 20) as f64 - 500_000.0,
            1 => random.below(3) as f64 - 1.0,
            2 => (random.below(1 << 32) as u32).cast_signed().into(),
            3 => [1.0, -1.0][random.below(2) as usize] * (1u64 << random.below(31)) as f64,
            _ => random.below(301) as f64 - 150.0,
        };
        let mut sparse: Vec<f64> = (0..if is_right { k * n } else { m * k }).map(|_| value()).collect();
        let count = if is_right { m * k } else { k * n };
        let mut dense: Vec<f64> = (0..count).map(|_| random.below(1 << 16) as f64 - 32768.0).collect();
        if dtype != DType::I32 {
            dense.iter_mut().for_each(|x| *x = f64::from((*x / 4096.0) as f32));
            sparse.iter_mut().for_each(|x| *x = f64::from((*x / 64.0) as f32));
        }
        let ty = dtype.name();
        let (a, b) = (format!("tensor<{m}x{k}x{ty}>"), format!("tensor<{k}x{n}x{ty}>"));
        let (constant, operand, right, operands) =
            if is_right { (&b, &a, "right ", "%x, %c") } else { (&a, &b, "", "%c, %x") };
        let hex: String =
            tensor(dtype, &[sparse.len()], &sparse).bytes().iter().map(|byte| format!("{byte:02X}")).collect();
        let text = format!(
            "func.func @main(%x: {operand}) -> tensor<{m}x{n}x{ty}> {{
  %c = arith.constant dense<\"0x{hex}\"> : {constant}
  %y = sparse.matmul unrolled {right}{operands} : ({a}, {b}) -> tensor<{m}x{n}x{ty}>
  return %y : tensor<{m}x{n}x{ty}>
}}"
        );
        Product { shape, sparse, dense, is_right, dtype, text }
    }

    /// The sums in the order of the summed index, of floats by fused multiply-adds.
    fn expected(&self) -> Vec<f64> {
        let [m, k, n] = self.shape;
        let (a, b) = if self.is_right { (&self.dense, &self.sparse) } else { (&self.sparse, &self.dense) };
        let mut out = vec![0.0; m * n];
        for (i, out) in out.chunks_exact_mut(n).enumerate() {
            for (l, j) in (0..k).flat_map(|l| (0..n).map(move |j| (l, j))) {
                let (x, y) = (a[i * k + l], b[l * n + j]);
                if (if self.is_right { y } else { x }) != 0.0 {
                    out[j] = match self.dtype {
                        DType::F64 => x.mul_add(y, out[j]),
                        DType::F32 => f64::from((x as f32).mul_add(y as f32, out[j] as f32)),
                        _ => f64::from((out[j] as i32).wrapping_add((x as i32).wrapping_mul(y as i32))),
                    };
                }
            }
        }
        out
    }

    fn input(&self) -> Vec<Datum> {
        let [m, k, n] = self.shape;
        let shape = if self.is_right { [m, k] } else { [k, n] };
        vec![Datum::Tensor(tensor(self.dtype, &shape, &self.dense))]
    }
}

fn numbers(tensor: &Tensor) -> Vec<f64> {
    match tensor.dtype() {
        DType::F64 => tensor.as_slice::<f64>().into_owned(),
        DType::F32 => tensor.as_slice::<f32>().iter().map(|&x| f64::from(x)).collect(),
        _ => tensor.as_slice::<i32>().iter().map(|&x| f64::from(x)).collect(),
    }
}

fn main_of(m: &Module) -> Op {
    m.block_ops(m.entry(m.regions(m.root())[0]).expect("it has a block")).next().expect("it has a function")
}

/// The results of a program by its reference semantics, in which calls of code are simulated.
fn simulated(m: &Module, product: &Product) -> Vec<f64> {
    let result = Interpreter::new(m).call(main_of(m), product.input());
    let result = result.unwrap_or_else(|e| panic!("{:?}: {}", product.shape, e.trap));
    numbers(result[0].tensor().expect("it is a tensor"))
}

/// Products of all sizes, types and sparsities, with all instructions and schedules.
#[test]
fn generated_code_computes_products() {
    let (tool, mut random, mut count) = (Tool::new("gradus"), Random::of("a64"), 0);
    for case in 0..240 {
        let product = Product::draw(&mut random, if case % 8 == 0 { 300 } else { 40 });
        let m = parse(&tool.context(), &product.text).expect("it is a program");
        let isa = random.pick(&["base", "madd-imm", "ldr-sc-acc"]);
        let [vectors, shifts, bundles] = [0; 3].map(|_| random.percent(60));
        let (rows, size) = (random.below(6), 64 << random.below(10));
        let code = lowered(
            &tool,
            &m,
            &format!(
                "builtin.module(convert-sparse-to-a64{{isa={isa} vectors={vectors} shifts={shifts} bundles={bundles} rows={rows} code-size={size}}})"
            ),
        );
        count += usize::from(code.to_text(Default::default()).contains("a64.call"));
        assert_eq!(simulated(&code, &product), product.expected(), "{:?} {isa}\n{}", product.shape, product.text);
        let again = parse(&tool.context(), &code.to_text(Default::default())).expect("it is printed and parsed");
        assert_eq!(again.to_text(Default::default()), code.to_text(Default::default()));
    }
    assert_eq!(count, 240);
}

/// Products by one function per pattern of nonzeros, simulated.
#[test]
fn dispatch_by_patterns_computes_products() {
    let (tool, mut random) = (Tool::new("gradus"), Random::of("a64 patterns"));
    for _ in 0..120 {
        let product = Product::draw(&mut random, 40);
        let m = parse(&tool.context(), &product.text.replace("unrolled", "patterns")).expect("it is a program");
        let (vectors, bits) = (random.percent(60), 1 + random.below(8));
        let code =
            lowered(&tool, &m, &format!("builtin.module(convert-sparse-to-a64{{vectors={vectors} bits={bits}}})"));
        assert!(code.to_text(Default::default()).contains("a64.dispatch"));
        assert_eq!(simulated(&code, &product), product.expected(), "{:?} {bits}\n{}", product.shape, product.text);
    }
}

/// A call of bytes: the function, its panels, and the operands.
struct Call {
    code: Vec<u8>,
    pool: Vec<u8>,
    panels: Panels,
    product: Product,
}

impl Call {
    /// The only call of a lowered program, whose operand is the program's and whose result is returned.
    fn of(m: &Module, product: Product) -> Option<Call> {
        let ops = m.ops_under(m.root());
        let mut calls = ops.iter().copied().filter(|&op| CallOp::cast(m, op).is_some());
        let (call, None) = (calls.next()?, calls.next()) else { return None };
        let value = ops.iter().find_map(|&op| CodeOp::cast(m, op)?.value(m))?;
        let pool = CallOp(call).pool(m).and_then(|pool| m.ctx.dense_tensor(m.constant(pool)?));
        let pool = pool.map_or(vec![0; 16], |pool| pool.bytes().to_vec());
        let panels = m.with_args(call, Panels::of)?.ok()?;
        Some(Call { code: m.ctx.dense_tensor(value)?.bytes().to_vec(), pool, panels, product })
    }

    /// Bytes of the result.
    fn len(&self) -> usize {
        self.product.shape[0] * self.product.shape[2] * self.panels.element
    }
}

/// A program that makes all calls and writes their results to its standard output.
fn assembly(calls: &[Call], folder: &Path) -> String {
    let (mut text, mut data, mut at) = (".globl _start\n_start:\n".to_owned(), String::new(), 0);
    for (i, call) in calls.iter().enumerate() {
        let operand = call.product.input()[0].tensor().expect("it is a tensor").bytes().to_vec();
        for (name, bytes) in [("code", &call.code), ("pool", &call.pool), ("b", &operand)] {
            let path = folder.join(format!("{name}{i}"));
            std::fs::write(&path, bytes).expect("a file can be written");
            let section = if name == "code" { ".text" } else { ".data" };
            writeln!(data, "{section}\n.balign 16\n{name}{i}: .incbin \"{}\"", path.display()).expect("it grows");
        }
        for offset in call.panels.offsets() {
            for (register, symbol, offset) in
                [(0, format!("b{i}"), offset), (4, "out".into(), at + offset), (5, format!("pool{i}"), 0)]
            {
                let place = format!("{symbol}+{offset}");
                writeln!(text, "adrp x{register}, {place}\nadd x{register}, x{register}, :lo12:{place}")
                    .expect("it grows");
            }
            writeln!(text, "bl code{i}").expect("it grows");
        }
        at += call.len();
    }
    format!(
        "{text}mov x0, #1\nadrp x1, out\nadd x1, x1, :lo12:out\nldr x2, =size\nldr x2, [x2]\nmov x8, #64\nsvc #0
mov x0, #0\nmov x8, #93\nsvc #0\n.ltorg\n.data\nsize: .quad {at}\n{data}\n.bss\n.balign 16\nout: .skip {at}\n"
    )
}

/// Runs a tool in a folder; `None` without it.
fn run(folder: &Path, tool: &str, args: &[&str]) -> Option<Vec<u8>> {
    let output = Command::new(tool).args(args).current_dir(folder).output().ok()?;
    assert!(output.status.success(), "{tool}: {}", String::from_utf8_lossy(&output.stderr));
    Some(output.stdout)
}

/// The bytes of the same products, run by an emulator of AArch64, and disassembled by another disassembler.
#[test]
#[expect(clippy::print_stderr, reason = "a skipped comparison says so")]
fn bytes_compute_products_under_an_emulator() {
    let (tool, mut random) = (Tool::new("gradus"), Random::of("qemu"));
    let mut calls = Vec::new();
    for case in 0..120 {
        let mut product = Product::draw(&mut random, if case % 8 == 0 { 300 } else { 40 });
        while product.is_right {
            product = Product::draw(&mut random, 40);
        }
        let m = parse(&tool.context(), &product.text).expect("it is a program");
        let (vectors, rows) = (random.percent(70), random.below(6));
        let pass = format!("convert-sparse-to-a64{{code=bytes vectors={vectors} rows={rows} code-size=100000000}}");
        let code = lowered(&tool, &m, &format!("builtin.module({pass})"));
        assert_eq!(simulated(&code, &product), product.expected(), "{}", product.text);
        calls.extend(Call::of(&code, product));
    }
    assert_eq!(calls.len(), 120);
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path();
    std::fs::write(path.join("in.s"), assembly(&calls, path)).expect("a file can be written");
    let results = run(path, "aarch64-linux-gnu-as", &["-o", "out.o", "in.s"])
        .and_then(|_| run(path, "aarch64-linux-gnu-ld", &["-o", "out", "out.o"]))
        .and_then(|_| run(path, "qemu-aarch64", &["./out"]));
    let Some(results) = results else {
        eprintln!(
            "skipped: it needs qemu-aarch64 and aarch64-linux-gnu-as (apt-get install qemu-user binutils-aarch64-linux-gnu)"
        );
        return;
    };
    let mut at = 0;
    for (i, call) in calls.iter().enumerate() {
        let [rows, _, columns] = call.product.shape;
        let bytes = results[at..at + call.len()].to_vec();
        let result = Tensor::new(call.product.dtype, vec![rows, columns], bytes.into()).expect("it has its size");
        assert_eq!(numbers(&result), call.product.expected(), "{}", call.product.text);
        at += call.len();
        let file = format!("code{i}");
        let listing = run(path, "aarch64-linux-gnu-objdump", &["-D", "-b", "binary", "-m", "aarch64", &file]);
        let listing = String::from_utf8(listing.expect("it comes with the assembler")).expect("it is text");
        assert!(!listing.contains("undefined") && !listing.contains(".inst"), "{listing}");
    }
}

/// Runs generated code of a row in the simulator. Returns the statistics as printed.
fn statistics(row: &[i32], columns: usize, options: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let k = row.len();
    let text = format!(
        "func.func @main(%b: tensor<{k}x{columns}xi32>) -> tensor<1x{columns}xi32> {{
  %a = arith.constant dense<[{row:?}]> : tensor<1x{k}xi32>
  %c = sparse.matmul unrolled %a, %b : (tensor<1x{k}xi32>, tensor<{k}x{columns}xi32>) -> tensor<1x{columns}xi32>
  return %c : tensor<1x{columns}xi32>
}}"
    );
    std::fs::write(path("row.mlir"), text).expect("a file can be written");
    let b: Vec<i32> = (0..(k * columns) as i32).collect();
    gradus::npy::write_npy(Path::new(&path("b.npy")), &Tensor::from_vec(&[k, columns], b))
        .expect("a file can be written");
    let pass = format!("--convert-sparse-to-a64={options}");
    let pass = pass.trim_end_matches('=').to_owned();
    let lowered = crate::support::gradus(&["opt", &path("row.mlir"), &pass, "-o", &path("code.mlir")]);
    assert_eq!(lowered.code, 0, "{}", lowered.err);
    let input = format!("arg0={}", path("b.npy"));
    let run = crate::support::gradus(&["run", &path("code.mlir"), "--target", "a64-ext", "--stats", "--input", &input]);
    assert_eq!(run.code, 0, "{}", run.err);
    run.out
}

/// Whether a statistic has a value.
fn has(statistics: &str, name: &str, value: &str) -> bool {
    statistics.lines().any(|line| {
        let rest = line.strip_prefix(name);
        rest.is_some_and(|rest| rest.split_whitespace().next() == Some(value))
    })
}

/// The figures of the seed on compiled sparse matrices: three, two and one instruction per multiply-add in place of four, six
/// vector instructions in place of ten, and four cycles in place of nine.
#[test]
fn figures_are_those_of_the_source() {
    let figures = [
        (vec![1, 0, 0, 2], 1, "shifts=false", "6", "6", "8", "25"),
        (vec![1, 0, 0, 2], 1, "isa=madd-imm shifts=false", "4", "4", "8", "50"),
        (vec![1, 0, 0, 2], 1, "isa=ldr-sc-acc shifts=false", "2", "2", "8", "75"),
        (vec![1, 0, 0, 2], 4, "shifts=false", "6", "6", "10", "40"),
        (vec![1, 0, 0, 2], 1, "", "4", "4", "8", "50"),
        (vec![1, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 7], 1, "shifts=false", "9", "9", "12", "25"),
        (vec![1, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 7], 1, "shifts=false bundles=true", "9", "4", "12", "25"),
    ];
    for (row, columns, options, instructions, cycles, conventional, fewer) in figures {
        let printed = statistics(&row, columns, options);
        let is = [
            ("code of products", instructions),
            ("cycles of products", cycles),
            ("conventional code", conventional),
            ("fewer than conventional", fewer),
        ];
        for (name, value) in is {
            assert!(has(&printed, name, value), "{row:?} {options}: {name} is not {value} in\n{printed}");
        }
    }
}

/// A network with sparse layers runs in the simulator, its other ops by reference.
#[test]
fn a_network_runs_in_the_simulator() {
    let example = |file: &str| crate::support::root().join("examples").join(file).display().to_string();
    let (model, input) = (example("digits_mlp_sparse90.onnx"), format!("image={}", example("digits_test_images.npy")));
    let expected = example("digits_mlp_sparse90_logits.npy");
    let run = ["run", &model, "--target", "a64-ext", "--stats", "--input", &input, "--expect", &expected];
    let output = crate::support::gradus(&[&run[..], &["--atol", "1e-4", "--rtol", "0"]].concat());
    assert_eq!(output.code, 0, "{}{}", output.out, output.err);
    for (name, value) in [("multiply-adds", "10753"), ("conventional code", "43012"), ("by reference: graph.relu", "2")]
    {
        assert!(has(&output.out, name, value), "{name} is not {value} in\n{}", output.out);
    }
}

/// An option of a sweep overrides that of the target's pipeline: each extension needs fewer instructions than the one before.
#[test]
fn sweeps_override_options_of_the_pipeline() {
    let mut random = Random::of(5);
    let mut value = |_| if random.percent(85) { 0 } else { 1 + random.below(8) };
    let rows: Vec<String> = (0..16).map(|_| format!("{:?}", (0..64).map(&mut value).collect::<Vec<_>>())).collect();
    let text = format!(
        "func.func @main(%b: tensor<64x8xi32>) -> tensor<16x8xi32> {{
  %a = graph.constant dense<[{}]> : tensor<16x64xi32>
  %c = graph.matmul %a, %b : (tensor<16x64xi32>, tensor<64x8xi32>) -> tensor<16x8xi32>
  return %c : tensor<16x8xi32>
}}
",
        rows.join(", ")
    );
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("sparse.mlir").display().to_string();
    std::fs::write(&path, text).expect("a file can be written");
    let swept = |option: &str| crate::support::gradus(&["sweep", &path, "--target", "a64-ext", "--option", option]);
    let output = swept("convert-sparse-to-a64.isa=base,madd-imm,ldr-sc-acc");
    assert_eq!(output.code, 0, "{}", output.err);
    let counts: Vec<u64> =
        output.out.lines().skip(2).filter_map(|line| line.split_whitespace().nth(1)?.parse().ok()).collect();
    assert!(counts.len() == 3 && counts[0] > counts[1] && counts[1] > counts[2], "{}", output.out);
    for (option, why) in [
        ("convert-sparse-to-a64.isaa=base", "no such option isaa; did you mean 'isa'?"),
        ("convert-sparse-to-x64.isa=avx2", "has no pass 'convert-sparse-to-x64'"),
    ] {
        let output = swept(option);
        assert!(output.code != 0 && output.err.contains(why), "{option}: {}", output.err);
    }
}
