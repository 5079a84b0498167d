//! Machine code for products with sparse constants, executed, against sums in the same order.

mod support;

use gradus::Tool;
use gradus::dialects::x64::{CodeOp, FuncOp, assemble, decode_all};
use gradus::interp::Interpreter;
use gradus::ir::eval::Datum;
use gradus::ir::pass::{Pipeline, RunOptions, Watch};
use gradus::ir::random::Random;
use gradus::ir::{DType, Module, OpDecl, Tensor, verify};
use gradus::runtime::cpu::Program;
use gradus::runtime::workers::Workers;
use support::parse;

/// A random product with a sparse constant.
struct Product {
    /// Extents `[M, K, N]`.
    shape: [usize; 3],
    /// The constant: `[M, K]`, or `[K, N]` if the right operand is sparse.
    sparse: Vec<f32>,
    dense: Vec<f32>,
    is_right: bool,
    text: String,
}

fn extent(random: &mut Random, most: u64) -> usize {
    1 + if random.percent(70) { random.below(40.min(most)) } else { random.below(most) } as usize
}

impl Product {
    fn draw(random: &mut Random, most: u64) -> Product {
        let shape: [usize; 3] = std::array::from_fn(|_| extent(random, most));
        let [m, k, n] = shape;
        let is_right = random.percent(30);
        let (zeros, palette) = (random.below(101), random.below(3));
        let mut value = || match palette {
            _ if random.percent(zeros) => 0.0,
            0 => random.below(1 << 20) as f32 / 65536.0 - 8.0,
            1 => random.below(3) as f32 - 1.0,
            _ => random.below(21) as f32 / 4.0 - 2.5,
        };
        let sparse: Vec<f32> = (0..if is_right { k * n } else { m * k }).map(|_| value()).collect();
        let count = if is_right { m * k } else { k * n };
        let dense: Vec<f32> = (0..count).map(|_| random.below(1 << 16) as f32 / 4096.0 - 8.0).collect();
        let bytes: String =
            sparse.iter().flat_map(|value| value.to_le_bytes()).map(|byte| format!("{byte:02X}")).collect();
        let (a, b) = (format!("tensor<{m}x{k}xf32>"), format!("tensor<{k}x{n}xf32>"));
        let (constant, operand, right, operands) =
            if is_right { (&b, &a, "right ", "%x, %c") } else { (&a, &b, "", "%c, %x") };
        let text = format!(
            "func.func @main(%x: {operand}) -> tensor<{m}x{n}xf32> {{
  %c = arith.constant dense<\"0x{bytes}\"> : {constant}
  %y = sparse.matmul unrolled {right}{operands} : ({a}, {b}) -> tensor<{m}x{n}xf32>
  return %y : tensor<{m}x{n}xf32>
}}"
        );
        Product { shape, sparse, dense, is_right, text }
    }

    /// The sums in the order of the summed index, by fused multiply-adds.
    fn expected(&self) -> Vec<f32> {
        let [m, k, n] = self.shape;
        let (a, b) = if self.is_right { (&self.dense, &self.sparse) } else { (&self.sparse, &self.dense) };
        let mut out = vec![0f32; m * n];
        for (i, out) in out.chunks_exact_mut(n).enumerate() {
            for l in 0..k {
                for (j, sum) in out.iter_mut().enumerate() {
                    let (x, y) = (a[i * k + l], b[l * n + j]);
                    if (if self.is_right { y } else { x }) != 0.0 {
                        *sum = x.mul_add(y, *sum);
                    }
                }
            }
        }
        out
    }

    fn input(&self) -> Vec<Datum> {
        let [m, k, n] = self.shape;
        let shape = if self.is_right { [m, k] } else { [k, n] };
        vec![Datum::Tensor(Tensor::from_vec(&shape, self.dense.clone()))]
    }
}

/// Lowers a program by a pipeline.
fn lowered(tool: &Tool, m: &Module, pipeline: &str) -> Module {
    let mut m = m.clone();
    let mut pipeline = Pipeline::parse(pipeline, &tool.passes).expect("it is a pipeline");
    let run = pipeline.run(&mut m, &RunOptions::default(), &mut Watch::new(|_| {}));
    assert!(run.is_ok(), "{}", m.to_text(Default::default()));
    if let Err(errors) = verify(&m) {
        panic!("{}\n{}", errors[0].render(&m.ctx), m.to_text(Default::default()));
    }
    m
}

fn floats(result: &[Datum]) -> Vec<f32> {
    result[0].tensor().expect("it is a tensor").as_slice::<f32>().into_owned()
}

fn main_of(m: &Module) -> gradus::ir::Op {
    m.block_ops(m.entry(m.regions(m.root())[0]).expect("it has a block")).next().expect("it has a function")
}

/// Whether this machine runs code for an extension.
fn has(isa: &str) -> bool {
    #[cfg(target_arch = "x86_64")]
    return match isa {
        "avx512" => is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq"),
        _ => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
    };
    #[cfg(not(target_arch = "x86_64"))]
    return isa.is_empty();
}

/// Products of all sizes and sparsities run as generated code and equal the same sums bit by bit; without code, the loop over
/// compressed rows gives them up to rounding.
#[test]
fn generated_code_computes_products() {
    let (tool, mut random, mut native) = (Tool::new("gradus"), Random::of("x64"), 0);
    for case in 0..300 {
        let product = Product::draw(&mut random, 600);
        let m = parse(&tool.context(), &product.text).expect("it is a program");
        let isa = random.pick(&["avx512", "avx2"]);
        let pipeline =
            format!("builtin.module(convert-sparse-to-x64{{isa={isa}}},canonicalize,form-steps,plan-memory)");
        let code = lowered(&tool, &m, &pipeline);
        if !has(isa) {
            continue;
        }
        let is_lowered = code.to_text(Default::default()).contains("x64.call");
        let mut program =
            Program::new(&code, main_of(&code)).on(Workers::new(1 + case % 2).expect("there are threads"));
        let result =
            floats(&program.call(product.input()).unwrap_or_else(|e| panic!("{:?}: {}", product.shape, e.trap)));
        assert_eq!(program.reference(1), [], "{:?} runs by reference", product.shape);
        if is_lowered {
            assert_eq!(result, product.expected(), "{:?} {isa} right {}", product.shape, product.is_right);
            native += 1;
        } else {
            let is_close = |(a, b): (&f32, f32)| (a - b).abs() <= 1e-3 * (1.0 + b.abs());
            assert!(result.iter().zip(product.expected()).all(is_close), "{:?}", product.shape);
        }
    }
    assert!(native > 100 || !has("avx2"), "{native} as code");
}

/// The meaning of a call, the simulation of its instructions, equals the sums; the same function as ops assembles to the same
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
        for m in [&bytes, &ops] {
            let result = Interpreter::new(m).call(main_of(m), product.input());
            let result = floats(&result.unwrap_or_else(|e| panic!("{:?}: {}", product.shape, e.trap)));
            let is_close = |(a, b): (&f32, f32)| (a - b).abs() <= 1e-3 * (1.0 + b.abs());
            assert!(result.iter().zip(product.expected()).all(is_close), "{:?}", product.shape);
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
