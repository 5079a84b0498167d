//! Machine code for products with sparse constants, executed, against sums in the same order.

mod bytes;
use crate::support::{lowered, parse};
use gradus::Tool;
use gradus::interp::Interpreter;
use gradus::ir::eval::{Datum, Trap, floats_to_tensor};
use gradus::ir::random::Random;
use gradus::ir::{DType, Module, OpDecl, Tensor};
use gradus::machines::x64::{Abi, CallOp, CodeOp, FuncOp, assemble, decode_all};
use gradus::runtime::code::verify;
use gradus::runtime::cpu::CompiledFunction;
use gradus::runtime::workers::Workers;

/// A random product with a sparse constant.
struct Product {
    /// Extents `[M, K, N]`.
    shape: [usize; 3],
    /// The constant: `[M, K]`, or `[K, N]` if the right operand is sparse.
    sparse: Vec<f64>,
    dense: Vec<f64>,
    is_right: bool,
    /// Element type: f32, f64 or bf16.
    dtype: DType,
    /// Numbers that are added to the rows, or columns if the right operand is sparse; empty without a bias.
    bias: Vec<f64>,
    /// Whether the result is clamped to 0.
    is_clamped: bool,
    text: String,
}

/// Dense elements that are multiplied by nonzeros only: the products with zeros would not be zero.
const SPECIAL: [f64; 4] = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e-40];

/// Whether numbers differ from others by a share of those, or of 1; infinities and NaNs do not.
fn are_close(numbers: &[f64], expected: &[f64], tolerance: f64) -> bool {
    let is_close = |(a, b): (&f64, &f64)| {
        a == b || a.is_nan() && b.is_nan() || b.is_finite() && (a - b).abs() <= tolerance * (1.0 + b.abs())
    };
    numbers.len() == expected.len() && numbers.iter().zip(expected).all(is_close)
}

fn extent(random: &mut Random, most: u64) -> usize {
    1 + if random.percent(70) { random.below(40.min(most)) } else { random.below(most) } as usize
}

impl Product {
    fn draw(random: &mut Random, most: u64) -> Product {
        let mut shape: [usize; 3] = std::array::from_fn(|_| extent(random, most));
        let (is_right, dtype) = (random.percent(30), random.pick(&[DType::F32, DType::F64, DType::BF16]));
        if random.percent(20) {
            shape[if is_right { 0 } else { 2 }] = 1;
        }
        let [m, k, n] = shape;
        let (zeros, palette) = (random.below(101), random.below(3));
        let mut value = || match palette {
            _ if random.percent(zeros) => 0.0,
            0 => random.below(1 << 20) as f64 / 65536.0 - 8.0,
            1 => random.below(3) as f64 - 1.0,
            _ => random.below(21) as f64 / 4.0 - 2.5,
        };
        let sparse: Vec<f64> = (0..if is_right { k * n } else { m * k }).map(|_| value()).collect();
        let count = if is_right { m * k } else { k * n };
        let specials = random.pick(&[0, 0, 1, 4]);
        let mut value = || match random.percent(specials) {
            true => random.pick(&SPECIAL),
            false => random.below(1 << 16) as f64 / 4096.0 - 8.0,
        };
        let dense: Vec<f64> = (0..count).map(|_| value()).collect();
        // A result of bf16 is rounded before a bias is added, to few bits.
        let has_bias = dtype != DType::BF16 && random.percent(40);
        let bias = (0..if is_right { n } else { m }).filter(|_| has_bias);
        let bias: Vec<f64> = bias.map(|_| random.below(1 << 10) as f64 / 64.0 - 8.0).collect();
        let is_clamped = random.percent(30);
        let [sparse, dense, bias] = [sparse, dense, bias].map(|all| floats_to_tensor(dtype, &[all.len()], all));
        let hex = |tensor: &Tensor| tensor.bytes().iter().map(|byte| format!("{byte:02X}")).collect::<String>();
        let (bytes, bias_bytes) = (hex(&sparse), hex(&bias));
        let (sparse, dense, bias, ty) = (sparse.to_f64(), dense.to_f64(), bias.to_f64(), dtype.to_string());
        let (a, b) = (format!("tensor<{m}x{k}x{ty}>"), format!("tensor<{k}x{n}x{ty}>"));
        let (constant, operand, right, operands) =
            if is_right { (&b, &a, "right ", "%x, %c") } else { (&a, &b, "", "%c, %x") };
        let (mut epilogue, mut last, y) = (String::new(), "%y", format!("tensor<{m}x{n}x{ty}>"));
        if has_bias {
            let of_rows = if is_right { format!("tensor<{n}x{ty}>") } else { format!("tensor<{m}x1x{ty}>") };
            epilogue += &format!("  %b = arith.constant dense<\"0x{bias_bytes}\"> : {of_rows}\n");
            epilogue += &format!("  %s = graph.add %y, %b : ({y}, {of_rows}) -> {y}\n");
            last = "%s";
        }
        if is_clamped {
            epilogue += &format!("  %r = graph.relu {last} : {y}\n");
            last = "%r";
        }
        let text = format!(
            "func.func @main(%x: {operand}) -> {y} {{
  %c = arith.constant dense<\"0x{bytes}\"> : {constant}
  %y = sparse.matmul unrolled {right}{operands} : ({a}, {b}) -> {y}
{epilogue}  return {last} : {y}
}}"
        );
        Product { shape, sparse, dense, is_right, dtype, bias, is_clamped, text }
    }

    /// The sums in the order of the summed index, which begin with the bias, by fused multiply-adds of f64 or f32, rounded to the element
    /// type.
    fn expected(&self) -> Vec<f64> {
        let [m, k, n] = self.shape;
        let (a, b) = if self.is_right { (&self.dense, &self.sparse) } else { (&self.sparse, &self.dense) };
        let bias = |i: usize, j: usize| self.bias.get(if self.is_right { j } else { i }).copied().unwrap_or(0.0);
        let mut out = vec![0.0; m * n];
        for (i, out) in out.chunks_exact_mut(n).enumerate() {
            out.iter_mut().enumerate().for_each(|(j, sum)| *sum = bias(i, j));
            for l in 0..k {
                for (j, sum) in out.iter_mut().enumerate() {
                    let (x, y) = (a[i * k + l], b[l * n + j]);
                    if (if self.is_right { y } else { x }) != 0.0 {
                        *sum = match self.dtype {
                            DType::F64 => x.mul_add(y, *sum),
                            _ => f64::from((x as f32).mul_add(y as f32, *sum as f32)),
                        };
                    }
                }
            }
        }
        let clamp = |x: f64| if self.is_clamped && x <= 0.0 { 0.0 } else { x };
        floats_to_tensor(self.dtype, &[m, n], out.into_iter().map(clamp).collect()).to_f64()
    }

    /// The share by which sums in another order may differ.
    fn tolerance(&self) -> f64 {
        if self.dtype == DType::BF16 { 1e-2 } else { 1e-3 }
    }

    fn input(&self) -> Vec<Datum> {
        let [m, k, n] = self.shape;
        let shape = if self.is_right { [m, k] } else { [k, n] };
        vec![Datum::Tensor(floats_to_tensor(self.dtype, &shape, self.dense.clone()))]
    }
}

fn floats(result: &[Datum]) -> Vec<f32> {
    result[0].tensor().expect("it is a tensor").as_slice::<f32>().into_owned()
}

fn numbers(result: &[Datum]) -> Vec<f64> {
    result[0].tensor().expect("it is a tensor").to_f64()
}

fn main_of(m: &Module) -> gradus::ir::Op {
    m.block_ops(m.entry(m.regions(m.root())[0]).expect("it has a block")).next().expect("it has a function")
}

/// Whether this machine runs code for an extension.
fn has(isa: &str) -> bool {
    #[cfg(target_arch = "x86_64")]
    return match isa {
        "avx512" => is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq"),
        "vnni" => has("avx512") && is_x86_feature_detected!("avx512vnni"),
        _ => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
    };
    #[cfg(not(target_arch = "x86_64"))]
    return isa.is_empty();
}

/// Products of all sizes and sparsities run as generated code and equal the same sums bit by bit; without code, compressed
/// rows give them up to rounding.
#[test]
fn generated_code_computes_products() {
    let (tool, mut random, mut native) = (Tool::new("gradus"), Random::of("x64"), [0; 2]);
    for case in 0..300 {
        let product = Product::draw(&mut random, 600);
        let m = parse(&tool.context(), &product.text).expect("it is a program");
        let isa = if has("avx512") { random.pick(&["avx512", "avx2"]) } else { "avx2" };
        let pipeline =
            format!("builtin.module(convert-sparse-to-x64{{isa={isa}}},canonicalize,form-steps,plan-memory)");
        let code = lowered(&tool, &m, &pipeline);
        if !has(isa) {
            continue;
        }
        let is_lowered = code.to_text(Default::default()).contains("x64.call");
        let mut program =
            CompiledFunction::new(&code, main_of(&code)).on(Workers::new(1 + case % 2).expect("there are threads"));
        let result =
            numbers(&program.call(product.input()).unwrap_or_else(|e| panic!("{:?}: {}", product.shape, e.trap)));
        // The kernel of compressed rows is of f32 and f64.
        let is_reference = !program.reference(1).is_empty();
        assert!(!is_reference || product.dtype == DType::BF16 && !is_lowered, "{:?}", product.shape);
        let tolerance = if is_lowered { 0.0 } else { product.tolerance() };
        let what = (product.shape, product.dtype, isa, product.is_right);
        assert!(are_close(&result, &product.expected(), tolerance), "{what:?} as code: {is_lowered}");
        native[usize::from(product.dtype == DType::BF16)] += usize::from(is_lowered);
    }
    assert!(native[0] > 100 && native[1] > 50 || !has("avx2"), "{native:?} as code, the latter of bf16");
}

/// Products of f32 and f64 by compressed rows have a kernel in both forms, whatever the threads.
#[test]
fn compressed_rows_compute_products() {
    let (tool, mut random) = (Tool::new("gradus"), Random::of("csr"));
    for case in 0..150 {
        let product = Product::draw(&mut random, 400);
        if product.dtype == DType::BF16 {
            continue;
        }
        let text = product.text.replace("unrolled", "csr");
        let m = parse(&tool.context(), &text).expect("it is a program");
        let isa = random.pick(&["native", "avx2"]);
        let lowering =
            format!("builtin.module(convert-sparse-to-x64{{isa={isa}}},canonicalize,form-steps,plan-memory)");
        let steps = lowered(&tool, &m, &lowering);
        let workers = Workers::new(1 + case % 2).expect("there are threads");
        let mut program = CompiledFunction::new(&steps, main_of(&steps)).on(workers);
        let result = program.call(product.input()).unwrap_or_else(|e| panic!("{:?}: {}", product.shape, e.trap));
        assert!(program.reference(1).is_empty(), "{:?}", product.shape);
        let what = (product.shape, product.is_right);
        assert!(are_close(&numbers(&result), &product.expected(), product.tolerance()), "{what:?}");
    }
}

/// The meaning of a product, and that of a call, the simulation of its instructions, equal the sums; the same function as ops assembles to the same
/// bytes, and is printed and parsed.
#[test]
fn simulation_and_ops_agree_with_code() {
    let (tool, mut random) = (Tool::new("gradus"), Random::of("ops"));
    for _ in 0..60 {
        let product = Product::draw(&mut random, 24);
        let ctx = tool.context();
        let m = parse(&ctx, &product.text).expect("it is a program");
        let isa = random.pick(&["avx512", "avx2"]);
        let [bytes, ops] = ["bytes", "ops"].map(|level| {
            lowered(&tool, &m, &format!("builtin.module(convert-sparse-to-x64{{isa={isa} code={level}}})"))
        });
        for m in [&m, &bytes, &ops] {
            let result = Interpreter::new(m).call(main_of(m), product.input());
            let result = numbers(&result.unwrap_or_else(|e| panic!("{:?}: {}", product.shape, e.trap)));
            assert!(are_close(&result, &product.expected(), product.tolerance()), "{:?}", product.shape);
        }
        let text = ops.to_text(Default::default());
        let again = parse(&ctx, &text).unwrap_or_else(|| panic!("{text}"));
        let functions = |m: &Module| m.ops_under(m.root());
        let code = functions(&bytes).into_iter().find_map(|op| CodeOp::cast(&bytes, op)?.value(&bytes));
        let code = code.and_then(|value| bytes.ctx.dense_tensor(value));
        let assembled = functions(&again).into_iter().find_map(|op| FuncOp::cast(&again, op));
        let assembled = assembled.map(|func| assemble(&again, func.body(&again)).expect("it was assembled before"));
        assert_eq!(code.as_ref().map(|code| code.bytes().to_vec()), assembled);
        if let Some(code) = code {
            assert_eq!(code.dtype(), DType::U8);
            assert!(decode_all(code.bytes()).is_ok());
        }
    }
}

/// A random convolution with sparse filters and an epilogue, and inputs. Sums of `is_exact` ones do not round.
struct Convolution {
    text: String,
    inputs: Vec<Datum>,
    is_exact: bool,
    /// Shapes of the input, the filters and the output.
    shapes: [Vec<usize>; 3],
    strides: Vec<usize>,
    dilations: Vec<usize>,
    pads: Vec<usize>,
    weights: Vec<f32>,
    bias: Vec<f32>,
    adds: bool,
    /// Bounds of the clamp.
    bounds: [f32; 2],
}

/// Joins numbers.
fn list(of: &[usize]) -> String {
    of.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}

fn tensor_type(of: &[usize]) -> String {
    format!("tensor<{}xf32>", of.iter().map(usize::to_string).collect::<Vec<_>>().join("x"))
}

impl Convolution {
    fn draw(random: &mut Random, most: u64) -> Convolution {
        let rank = 1 + random.below(if most < 10 { 2 } else { 3 }) as usize;
        let mut axis = |most: u64| -> Vec<usize> { (0..rank).map(|_| random.below(most) as usize).collect() };
        let (kernel, strides, dilations) = (axis(4), axis(3), axis(2));
        let (begins, ends, extents) = (axis(3), axis(3), axis(if rank == 3 { 6 } else { most }));
        let is_pointwise = random.percent(30);
        let plus_one = |of: &[usize]| of.iter().map(|n| n + 1).collect::<Vec<_>>();
        let (kernel, strides, dilations) = match is_pointwise {
            true => {
                (vec![1; rank], plus_one(&strides).iter().map(|s| if *s == 3 { 2 } else { 1 }).collect(), vec![1; rank])
            }
            false => (plus_one(&kernel), plus_one(&strides), plus_one(&dilations)),
        };
        let pads = if is_pointwise { vec![0; 2 * rank] } else { [begins, ends].concat() };
        let reach = |i: usize| (kernel[i] - 1) * dilations[i];
        let input: Vec<usize> = (0..rank).map(|i| extents[i] + 1 + reach(i)).collect();
        let output: Vec<usize> =
            (0..rank).map(|i| (input[i] + pads[i] + pads[rank + i] - reach(i) - 1) / strides[i] + 1).collect();
        let group = 1 + random.below(3) as usize;
        let [channels, filters] = [0; 2].map(|_| group * extent(random, 12.min(most)));
        let (x, y) = ([&[1, channels], &input[..]].concat(), [&[1, filters], &output[..]].concat());
        let w = [&[filters, channels / group], &kernel[..]].concat();
        let (is_exact, zeros) = (random.percent(60), 50 + random.below(51));
        let mut tensor = |shape: &[usize], zeros: u64| -> Vec<f32> {
            let value = |random: &mut Random| match is_exact {
                _ if random.percent(zeros) => 0.0,
                true => random.below(33) as f32 / 4.0 - 4.0,
                false => random.below(1 << 20) as f32 / 65536.0 - 8.0,
            };
            (0..shape.iter().product()).map(|_| value(random)).collect()
        };
        let (image, residual) = (tensor(&x, 5), tensor(&y, 5));
        let (weights, bias) = (tensor(&w, zeros), tensor(&[filters], 30));
        let hex =
            |of: &[f32]| of.iter().flat_map(|v| v.to_le_bytes()).map(|byte| format!("{byte:02X}")).collect::<String>();
        let attributes = format!(
            "{{strides = array<i64: {}>, dilations = array<i64: {}>, pads = array<i64: {}>, group = {group} : i64}}",
            list(&strides),
            list(&dilations),
            list(&pads)
        );
        let [xt, yt, wt, bt] = [&x[..], &y, &w, &[filters]].map(tensor_type);
        let has_bias = random.percent(50);
        let (b, b_type) = if has_bias { (", %b", format!(", {bt}")) } else { ("", String::new()) };
        let mut ops = vec![format!("sparse.conv %x, %w{b} {attributes} : ({xt}, {wt}{b_type}) -> {yt}")];
        let adds = random.percent(50);
        if adds {
            ops.push(format!("graph.add {} : ({yt}, {yt}) -> {yt}", random.pick(&["%0, %r", "%r, %0"])));
        }
        let at = ops.len() - 1;
        let clamp = random.below(3);
        match clamp {
            0 => ops.push(format!("graph.relu %{at} : {yt}")),
            1 => ops.push(format!("graph.clip %{at} min %low max %high : ({yt}, tensor<f32>, tensor<f32>) -> {yt}")),
            _ => {}
        }
        let body: String = ops.iter().enumerate().map(|(i, line)| format!("  %{i} = {line}\n")).collect();
        let last = ops.len() - 1;
        let text = format!(
            "func.func @main(%x: {xt}, %r: {yt}) -> {yt} {{
  %low = arith.constant dense<-2.0> : tensor<f32>
  %high = arith.constant dense<6.0> : tensor<f32>
  %w = arith.constant dense<\"0x{}\"> : {wt}
  %b = arith.constant dense<\"0x{}\"> : {bt}
{body}  return %{last} : {yt}
}}",
            hex(&weights),
            hex(&bias)
        );
        let inputs = vec![Datum::Tensor(Tensor::from_vec(&x, image)), Datum::Tensor(Tensor::from_vec(&y, residual))];
        let bounds = match clamp {
            0 => [0.0, f32::INFINITY],
            1 => [-2.0, 6.0],
            _ => [f32::NEG_INFINITY, f32::INFINITY],
        };
        let bias = if has_bias { bias } else { vec![0.0; filters] };
        let shapes = [x, w, y];
        Convolution { text, inputs, is_exact, shapes, strides, dilations, pads, weights, bias, adds, bounds }
    }

    /// The sums in the order of channels and taps, which begin with the bias: by fused multiply-adds, and with rounded products, by which
    /// compressed rows of few columns are computed.
    fn expected_in_order(&self) -> Vec<[f32; 2]> {
        let [x, w, y] = &self.shapes;
        let [image, residual] = [0, 1].map(|i| floats(&self.inputs[i..]));
        let (kernel, window): (_, usize) = (&w[2..], w[2..].iter().product());
        let (per_filter, positions) = (w[1] * window, y[2..].iter().product::<usize>());
        let groups = x[1] / w[1];
        (0..y[1] * positions)
            .map(|at| {
                let (filter, position) = (at / positions, at % positions);
                let mut sums = [self.bias[filter]; 2];
                for i in (0..per_filter).filter(|i| self.weights[filter * per_filter + i] != 0.0) {
                    let channel = filter / (y[1] / groups) * w[1] + i / window;
                    let read = self.element(kernel, i % window, position);
                    let read = read.map_or(0.0, |at| image[channel * x[2..].iter().product::<usize>() + at]);
                    let weight = self.weights[filter * per_filter + i];
                    sums = [weight.mul_add(read, sums[0]), weight * read + sums[1]];
                }
                let added = if self.adds { residual[at] } else { -0.0 };
                sums.map(|sum| (sum + added).clamp(self.bounds[0], self.bounds[1]))
            })
            .collect()
    }

    /// The element of a channel that a tap reads for an output position; `None` in the padding.
    fn element(&self, kernel: &[usize], mut tap: usize, mut position: usize) -> Option<usize> {
        let (extents, output) = (&self.shapes[0][2..], &self.shapes[2][2..]);
        let (mut at, mut pitch) = (0, 1);
        for axis in (0..kernel.len()).rev() {
            let place = position % output[axis] * self.strides[axis] + tap % kernel[axis] * self.dilations[axis];
            (position, tap) = (position / output[axis], tap / kernel[axis]);
            at += place.checked_sub(self.pads[axis]).filter(|&place| place < extents[axis])? * pitch;
            pitch *= extents[axis];
        }
        Some(at)
    }

    /// Checks that results are within 4 units in the last place of sums in the same order.
    fn check_order(&self, result: &[f32]) {
        let is_near = |(a, sums): (&f32, [f32; 2])| {
            sums.into_iter().any(|b| *a == b || (a - b).abs() <= 4.0 * f32::EPSILON * b.abs())
        };
        let expected = self.expected_in_order();
        assert!(result.len() == expected.len() && result.iter().zip(expected).all(is_near), "{}", self.text);
    }

    /// Whether a result is that of the reference: exactly, if sums do not round.
    fn check(&self, result: &[f32], expected: &[f32], what: &str) {
        let is_close = |(a, b): (&f32, &f32)| a == b || !self.is_exact && (a - b).abs() <= 1e-3 * (1.0 + b.abs());
        assert!(result.len() == expected.len() && result.iter().zip(expected).all(is_close), "{what}\n{}", self.text);
    }
}

/// Convolutions of all windows and epilogues run as generated code or by compressed rows, and by simulation, and give what the reference gives.
#[test]
fn code_and_rows_compute_convolutions() {
    let (tool, mut random, mut native) = (Tool::new("gradus"), Random::of("convolutions"), [0; 2]);
    for case in 0..400 {
        let conv = Convolution::draw(&mut random, if case % 4 == 0 { 6 } else { 30 });
        let m = parse(&tool.context(), &conv.text).unwrap_or_else(|| panic!("{}", conv.text));
        let result = Interpreter::new(&m).call(main_of(&m), conv.inputs.clone());
        let expected = floats(&result.unwrap_or_else(|e| panic!("{}\n{}", e.trap, conv.text)));
        let isa = random.pick(&["avx512", "avx2"]);
        let form = random.pick(&["code", "code", "rows", "cheaper"]);
        let options = format!("isa={isa} convs={form}");
        let code = lowered(&tool, &m, &format!("builtin.module(convert-sparse-to-x64{{{options}}},canonicalize)"));
        let [is_code, is_rows] =
            ["x64.call", "addr.sparse_gemm"].map(|op| code.to_text(Default::default()).contains(op));
        if case % 4 == 0 {
            let result = Interpreter::new(&code).call(main_of(&code), conv.inputs.clone());
            conv.check(
                &floats(&result.unwrap_or_else(|e| panic!("{}\n{}", e.trap, conv.text))),
                &expected,
                "simulated",
            );
        }
        if is_code && !has(isa) || !is_code && !is_rows {
            continue;
        }
        let code = lowered(&tool, &code, "builtin.module(form-steps,plan-memory)");
        let mut program =
            CompiledFunction::new(&code, main_of(&code)).on(Workers::new(1 + case % 2).expect("there are threads"));
        let result = program.call(conv.inputs.clone()).unwrap_or_else(|e| panic!("{}\n{}", e.trap, conv.text));
        assert_eq!(program.reference(1), [], "{} runs by reference", conv.text);
        conv.check(&floats(&result), &expected, isa);
        conv.check_order(&floats(&result));
        native[usize::from(is_rows)] += 1;
    }
    let enough = if has("avx512") { 200 } else { 60 };
    assert!(native[0] > enough || !has("avx2"), "{native:?} as code and by rows");
    assert!(native[1] > 90, "{native:?} as code and by rows");
}

/// Mutants of generated code with a changed bit or byte, of products, also of bytes, and convolutions of all forms: by simulation over checked memory,
/// those that the verifier of machine code accepts access their operands only.
#[test]
fn accepted_mutants_of_generated_code_stay_inside() {
    let (tool, mut random) = (Tool::new("gradus"), Random::of("mutants"));
    let (mut accepted, mut refused) = (0, 0);
    for case in 0..250 {
        let (text, inputs) = match case % 5 {
            0 | 2 => {
                let conv = Convolution::draw(&mut random, 6);
                (conv.text, conv.inputs)
            }
            1 | 3 => {
                let product = Product::draw(&mut random, 24);
                (product.text.clone(), product.input())
            }
            _ => {
                let product = bytes::Product::draw(&mut random, 24);
                (product.text, product.inputs)
            }
        };
        let m = parse(&tool.context(), &text).unwrap_or_else(|| panic!("{text}"));
        let isa = random.pick(&["vnni", "avx512", "avx2"]);
        let mut m = lowered(&tool, &m, &format!("builtin.module(convert-sparse-to-x64{{isa={isa}}})"));
        let ops = m.ops_under(m.root());
        let found = |is: fn(&Module, gradus::ir::Op) -> bool| ops.iter().copied().find(|&op| is(&m, op));
        let call = found(|m, op| CallOp::cast(m, op).is_some());
        let Some((call, code)) = call.zip(found(|m, op| CodeOp::cast(m, op).is_some())) else { continue };
        let abi = m.with_args(call, Abi::of).expect("it is declared").expect("it is valid");
        let value = CodeOp(code).value(&m).expect("it has bytes");
        let (ty, bytes) = (m.ctx.attr_type(value), m.ctx.dense_tensor(value).expect("it has bytes"));
        for _ in 0..40 {
            let mut mutant = bytes.bytes().to_vec();
            let at = random.below(mutant.len() as u64) as usize;
            mutant[at] = if random.percent(50) { mutant[at] ^ 1 << random.below(8) } else { random.below(256) as u8 };
            if verify(&mutant, &abi).is_err() {
                refused += 1;
                continue;
            }
            accepted += 1;
            let tensor = Tensor::new(DType::U8, vec![mutant.len()], mutant.into()).expect("it has its size");
            let value = m.ctx.dense_attr(ty.expect("it is typed"), &tensor);
            m.set_attr(code, "value", Some(value));
            let result = Interpreter::new(&m).call(main_of(&m), inputs.clone());
            assert!(!matches!(result.map_err(|e| e.trap), Err(Trap::Ub(_))), "byte {at} of\n{text}");
        }
    }
    assert!(accepted > 500 && refused > 3000, "{accepted} accepted, {refused} refused");
}

/// Products by one function per pattern of nonzeros, as verified code and by simulation, equal the same sums bit by bit.
#[test]
fn dispatch_by_patterns_computes_products() {
    let (tool, mut random, mut native) = (Tool::new("gradus"), Random::of("patterns"), 0);
    for case in 0..200 {
        let product = Product::draw(&mut random, if case % 4 == 0 { 24 } else { 300 });
        let m = parse(&tool.context(), &product.text.replace("unrolled", "patterns")).expect("it is a program");
        let (isa, bits) = (random.pick(&["avx512", "avx2"]), 1 + random.below(8));
        let code =
            lowered(&tool, &m, &format!("builtin.module(convert-sparse-to-x64{{isa={isa} bits={bits}}},canonicalize)"));
        let is_lowered = code.to_text(Default::default()).contains("x64.dispatch");
        assert!(is_lowered || isa == "avx2");
        if !is_lowered {
            continue;
        }
        // The bias is added after the sum.
        let tolerance = if product.bias.is_empty() { 0.0 } else { product.tolerance() };
        if case % 4 == 0 {
            let result = Interpreter::new(&code).call(main_of(&code), product.input());
            let result = numbers(&result.unwrap_or_else(|e| panic!("{:?}: {}", product.shape, e.trap)));
            assert!(are_close(&result, &product.expected(), tolerance), "simulated {:?} {bits}", product.shape);
        }
        if !has(isa) {
            continue;
        }
        let code = lowered(&tool, &code, "builtin.module(form-steps,plan-memory)");
        let mut program = CompiledFunction::new(&code, main_of(&code));
        let result =
            numbers(&program.call(product.input()).unwrap_or_else(|e| panic!("{:?}: {}", product.shape, e.trap)));
        assert_eq!(program.reference(1), [], "{:?}", product.shape);
        assert!(are_close(&result, &product.expected(), tolerance), "{:?} {isa} {bits}", product.shape);
        native += 1;
    }
    let enough = if has("avx512") { 60 } else { 10 };
    assert!(native > enough || !has("avx2"), "{native} as code");
}

/// A sparse constant becomes code like a dense one; of a constant whose elements are elsewhere, the message says so.
#[test]
fn sparse_constants_are_operands() {
    let tool = Tool::new("gradus");
    let text = |constant: &str| {
        format!(
            "func.func @main(%x: tensor<2x20xf32>) -> tensor<3x20xf32> {{
  %w = arith.constant {constant} : tensor<3x2xf32>
  %y = sparse.matmul unrolled %w, %x : (tensor<3x2xf32>, tensor<2x20xf32>) -> tensor<3x20xf32>
  return %y : tensor<3x20xf32>
}}"
        )
    };
    let run = |constant: &str| {
        let m = parse(&tool.context(), &text(constant)).expect("it is a program");
        let code = lowered(&tool, &m, "builtin.module(convert-sparse-to-x64,canonicalize,form-steps,plan-memory)");
        let x: Vec<f32> = (0..40).map(|i| i as f32).collect();
        let result =
            CompiledFunction::new(&code, main_of(&code)).call(vec![Datum::Tensor(Tensor::from_vec(&[2, 20], x))]);
        (code.to_text(Default::default()).contains("x64.call"), result.map(|y| floats(&y)).map_err(|e| e.trap))
    };
    let (is_code, result) = run("sparse<[[0, 0], [2, 1], [2, 0]], [2.0, -1.5, 0.25]>");
    let want = (0..60).map(|i| match i / 20 {
        0 => 2.0 * i as f32,
        1 => 0.0,
        _ => 0.25 * (i - 40) as f32 - 1.5 * (i - 20) as f32,
    });
    assert_eq!((is_code, result.expect("it runs")), (has("avx2"), want.collect::<Vec<f32>>()));
    let (_, refused) = run("dense_resource<w>");
    assert!(format!("{refused:?}").contains("a constant operand of this kind"), "{refused:?}");
}
