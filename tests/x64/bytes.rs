//! Products of bytes with sparse constants: generated code, its simulation and the loop over compressed rows give exactly the sums.

use super::{has, main_of};
use crate::support::{lowered, parse};
use gradus::Tool;
use gradus::interp::Interpreter;
use gradus::ir::eval::Datum;
use gradus::ir::random::Random;
use gradus::ir::{Module, Tensor};
use gradus::runtime::cpu::CompiledFunction;
use gradus::runtime::workers::Workers;

/// A random product with a sparse constant.
pub(crate) struct Product {
    /// Extents `[M, K, N]`.
    shape: [usize; 3],
    /// Elements of both operands.
    operands: [Vec<i32>; 2],
    /// Zero point of the dense operand.
    zero: Option<i32>,
    is_right: bool,
    pub inputs: Vec<Datum>,
    pub text: String,
}

/// Elements as bytes of a type.
fn tensor(shape: &[usize], elements: &[i32], signed: bool) -> Tensor {
    match signed {
        true => Tensor::from_vec(shape, elements.iter().map(|&x| x as i8).collect()),
        false => Tensor::from_vec(shape, elements.iter().map(|&x| x as u8).collect()),
    }
}

impl Product {
    pub fn draw(random: &mut Random, most: u64) -> Product {
        let shape: [usize; 3] = std::array::from_fn(|_| super::extent(random, most));
        let [m, k, n] = shape;
        let (is_right, zeros, is_small) = (random.percent(50), random.below(101), random.percent(20));
        // Of the dense and of the sparse operand; unsigned ones that exceed signed bytes need 16 bits.
        let signed = [random.percent(50), random.percent(60)];
        let extreme = random.percent(20);
        let mut element = |signed: bool, zeros: u64| match signed {
            _ if random.percent(zeros) => 0,
            true if extreme => -128,
            false if extreme => 255,
            _ if is_small => random.below(3) as i32,
            true => random.below(256) as i32 - 128,
            false => random.below(256) as i32,
        };
        let dense: Vec<i32> = (0..if is_right { m * k } else { k * n }).map(|_| element(signed[0], 3)).collect();
        let sparse: Vec<i32> = (0..if is_right { k * n } else { m * k }).map(|_| element(signed[1], zeros)).collect();
        let zero = element(signed[0], 40);
        let (zero, is_constant) = (random.percent(70).then_some(zero), random.percent(50));
        let ty = |signed: bool| if signed { "i8" } else { "ui8" };
        let [dense_type, sparse_type] = signed.map(ty);
        let (a, b) = if is_right { (dense_type, sparse_type) } else { (sparse_type, dense_type) };
        let (a, b) = (format!("tensor<{m}x{k}x{a}>"), format!("tensor<{k}x{n}x{b}>"));
        let (x, c) = if is_right { (&a, &b) } else { (&b, &a) };
        let bytes: String = sparse.iter().map(|&x| format!("{:02X}", x as u8)).collect();
        let own_zero = zero.is_some() && !is_right || random.percent(30);
        let scalar = |signed: bool| format!("tensor<{}>", ty(signed));
        let groups = [("a_zero", !is_right), ("b_zero", is_right)].map(|(name, is_sparse)| match is_sparse {
            true if own_zero => Some((name, "%o", scalar(signed[1]))),
            false if zero.is_some() => Some((name, "%z", scalar(signed[0]))),
            _ => None,
        });
        let given: String = groups.iter().flatten().map(|(name, value, _)| format!(" {name} {value}")).collect();
        let types: String = groups.iter().flatten().map(|(.., ty)| format!(", {ty}")).collect();
        let known = match zero {
            Some(zero) if is_constant => {
                format!("  %z = graph.constant dense<{zero}> : {}\n", scalar(signed[0]))
            }
            _ => String::new(),
        };
        let argument = if known.is_empty() { format!(", %z: {}", scalar(signed[0])) } else { String::new() };
        let (right, operands) = if is_right { ("right ", "%x, %c") } else { ("", "%c, %x") };
        let text = format!(
            "func.func @main(%x: {x}{argument}) -> tensor<{m}x{n}xi32> {{
  %c = graph.constant dense<\"0x{bytes}\"> : {c}
  %o = graph.constant dense<0> : {}
{known}  %y = sparse.matmul_integer {right}{operands}{given} : ({a}, {b}{types}) -> tensor<{m}x{n}xi32>
  return %y : tensor<{m}x{n}xi32>
}}",
            scalar(signed[1])
        );
        let mut inputs = vec![Datum::Tensor(tensor(&if is_right { [m, k] } else { [k, n] }, &dense, signed[0]))];
        if !argument.is_empty() {
            inputs.push(Datum::Tensor(tensor(&[], &[zero.unwrap_or(0)], signed[0])));
        }
        let operands = if is_right { [dense, sparse] } else { [sparse, dense] };
        Product { shape, operands, zero, is_right, inputs, text }
    }

    fn expected(&self) -> Vec<i32> {
        let ([m, k, n], [a, b], zero) = (self.shape, &self.operands, self.zero.unwrap_or(0));
        let (a_zero, b_zero) = if self.is_right { (zero, 0) } else { (0, zero) };
        let mut out = vec![0; m * n];
        for (i, out) in out.chunks_exact_mut(n).enumerate() {
            for (l, row) in b.chunks_exact(n).enumerate() {
                let x = a[i * k + l] - a_zero;
                out.iter_mut().zip(row).for_each(|(sum, y)| *sum += x * (y - b_zero));
            }
        }
        out
    }

    fn call(&self, program: &mut CompiledFunction<&Module>) -> Vec<i32> {
        let result = program.call(self.inputs.clone());
        integers(&result.unwrap_or_else(|e| panic!("{}\n{}", e.trap, self.text)))
    }
}

fn integers(result: &[Datum]) -> Vec<i32> {
    result[0].tensor().expect("it is a tensor").as_slice::<i32>().into_owned()
}

fn executable(tool: &Tool, m: &Module) -> Module {
    lowered(tool, m, "builtin.module(form-steps,plan-memory)")
}

#[test]
fn products_of_bytes_are_exact() {
    let (tool, mut random, mut native) = (Tool::new("gradus"), Random::of("bytes"), [0, 0]);
    for case in 0..300 {
        let product = Product::draw(&mut random, if case % 4 == 0 { 24 } else { 600 });
        let m = parse(&tool.context(), &product.text).unwrap_or_else(|| panic!("{}", product.text));
        let expected = product.expected();
        let isa = random.pick(&["vnni", "avx512", "avx2"]);
        let code = lowered(&tool, &m, &format!("builtin.module(convert-sparse-to-x64{{isa={isa}}},canonicalize)"));
        if case % 4 == 0 {
            for m in [&m, &code] {
                let result = Interpreter::new(m).call(main_of(m), product.inputs.clone());
                let result = integers(&result.unwrap_or_else(|e| panic!("{}\n{}", e.trap, product.text)));
                assert_eq!(result, expected, "by reference {:?} {isa}\n{}", product.shape, product.text);
            }
        }
        let rows = executable(&tool, &m);
        let mut program = CompiledFunction::new(&rows, main_of(&rows));
        assert_eq!(product.call(&mut program), expected, "by rows {:?}", product.shape);
        assert_eq!(program.reference(1), [], "{:?}", product.shape);
        if !has(isa) || !code.to_text(Default::default()).contains("x64.call") {
            continue;
        }
        let ran = executable(&tool, &code);
        let mut program =
            CompiledFunction::new(&ran, main_of(&ran)).on(Workers::new(1 + case % 2).expect("there are threads"));
        assert_eq!(product.call(&mut program), expected, "{:?} {isa} right {}", product.shape, product.is_right);
        native[usize::from(code.to_text(Default::default()).contains("quads"))] += 1;
    }
    assert!(native[0] > 80 || !has("avx2"), "{native:?} as code of pairs");
    assert!(native[1] > 30 || !has("vnni"), "{native:?} as code of quads");
}
