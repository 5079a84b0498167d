//! Attention by kernels: with masks, past keys, windows, lengths and shared heads, in one block of keys or several, it equals the
//! reference.

use super::{LAYERS, extents, parse, pick};
use gradus::Tool;
use gradus::interp::Interpreter;
use gradus::ir::eval::{Datum, floats_to_tensor, ints_to_tensor};
use gradus::ir::random::Random;
use gradus::ir::{DType, Module, Tensor};
use gradus::runtime::cpu::CompiledFunction;
use gradus::runtime::workers::Workers;

/// A program of one attention, and its arguments.
struct Case {
    /// The names of the arguments behind the op's name.
    operands: String,
    types: Vec<String>,
    inputs: Vec<Datum>,
}

impl Case {
    /// Adds an operand, behind its keyword.
    fn operand(&mut self, keyword: &str, elem: &str, t: Tensor) {
        let comma = if keyword.is_empty() && !self.types.is_empty() { ", " } else { " " };
        self.operands += &format!("{comma}{keyword} %a{}", self.types.len());
        self.types.push(format!("tensor<{}{elem}>", extents(t.shape())));
        self.inputs.push(Datum::Tensor(t));
    }
}

/// Draws numbers, seldom special ones.
fn floats(random: &mut Random, shape: &[usize], special: &[f64]) -> Tensor {
    let number = |random: &mut Random| match random.below(400) {
        0 if !special.is_empty() => special[random.below(special.len() as u64) as usize],
        _ => (random.below(4001) as f64 - 2000.0) * 1e-3,
    };
    let all = (0..shape.iter().product()).map(|_| number(random)).collect();
    floats_to_tensor(DType::F32, shape, all)
}

/// Draws a mask of extents that fit, of which a third hides keys entirely for some queries.
fn mask(random: &mut Random, [b, h, s, t]: [usize; 4]) -> (&'static str, Tensor) {
    let mut shape: Vec<usize> = [b, h, s].iter().map(|&d| if random.below(2) == 0 { d } else { 1 }).collect();
    shape.push(if random.below(3) == 0 { random.below(t as u64) as usize + 1 } else { t });
    let shape = shape.split_off(random.below(4) as usize);
    let count = shape.iter().product();
    let hides = random.below(3) == 0;
    if random.below(2) == 0 {
        let bools = (0..count).map(|_| u8::from(!hides && random.below(4) > 0)).collect();
        return ("i1", Tensor::from_bools(&shape, bools));
    }
    let number = |random: &mut Random| match random.below(8) {
        _ if hides => f64::NEG_INFINITY,
        0 => f64::NEG_INFINITY,
        1 => -10000.0,
        _ => random.below(9) as f64 * 0.25,
    };
    ("f32", floats_to_tensor(DType::F32, &shape, (0..count).map(|_| number(random)).collect()))
}

/// Draws an attention.
fn draw(random: &mut Random) -> (String, Vec<Datum>) {
    let (b, kv) = (pick(random, &[1, 1, 2]), pick(random, &[1, 2, 3]));
    let h = kv * pick(random, &[1, 1, 2, 3]);
    let s = pick(random, &[1, 2, 7, 33, 97, 200]);
    let new = pick(random, &[1, 5, 16, 64, 200, 513, 700]);
    let [d, width] = [0; 2].map(|_| pick(random, &[1, 3, 8, 16, 33]));
    let special = [&[][..], &[f64::INFINITY, f64::NAN], &[f64::NEG_INFINITY, 1e10]][random.below(8).min(2) as usize];
    let special = if random.below(3) == 0 { special } else { &[] };
    let is_flat = random.below(2) == 0;
    let shape = |h: usize, s: usize, d: usize| if is_flat { vec![b, s, h * d] } else { vec![b, h, s, d] };
    let mut case = Case { operands: String::new(), types: Vec::new(), inputs: Vec::new() };
    for shape in [shape(h, s, d), shape(kv, new, d), shape(kv, new, width)] {
        let t = floats(random, &shape, special);
        case.operand("", "f32", t);
    }
    let past = if random.below(3) == 0 { pick(random, &[1, 9, 100]) } else { 0 };
    let total = past + new;
    if random.below(2) == 0 {
        let (elem, t) = mask(random, [b, h, s, total]);
        case.operand("mask", elem, t);
    }
    if past > 0 {
        case.operand("past_key", "f32", floats(random, &[b, kv, past, d], special));
        case.operand("past_value", "f32", floats(random, &[b, kv, past, width], special));
    }
    if random.below(4) == 0 {
        let lengths: Vec<i64> = (0..b).map(|_| random.below(total as u64 + 3) as i64 - 1).collect();
        case.operand("lengths", "i64", ints_to_tensor(DType::I64, &[b], &lengths));
    }
    let mut attrs = vec![format!("is_causal = {} : i64", random.below(2))];
    if is_flat {
        attrs.push(format!("q_num_heads = {h} : i64, kv_num_heads = {kv} : i64"));
    }
    for (name, some) in [("scale", "0.7"), ("softcap", "1.5")] {
        if random.below(4) == 0 {
            attrs.push(format!("{name} = {some} : f32"));
        }
    }
    for name in ["left_window_size", "right_window_size", "masked_is_nan"] {
        if random.below(4) == 0 {
            let most = if name == "masked_is_nan" { 1 } else { pick(random, &[0, 3, 40]) };
            attrs.push(format!("{name} = {most} : i64"));
        }
    }
    let mut results = vec![format!("tensor<{}f32>", extents(&shape(h, s, width)))];
    let more = random.below(4).min(2) as usize;
    results.extend([d, width][..more].iter().map(|d| format!("tensor<{b}x{kv}x{total}x{d}xf32>")));
    let arguments: Vec<String> = case.types.iter().enumerate().map(|(i, ty)| format!("%a{i}: {ty}")).collect();
    let (types, results) = (case.types.join(", "), results.join(", "));
    let names: Vec<String> = (0..=more).map(|i| format!("%y#{i}")).collect();
    let names = if more == 0 { "%y".to_owned() } else { names.join(", ") };
    let count = if more == 0 { String::new() } else { format!(":{}", more + 1) };
    let text = format!(
        "func.func @main({}) -> ({results}) {{\n  %y{count} = graph.attention{} {{{}}} : ({types}) -> ({results})\n  return {names} : \
         {results}\n}}\n",
        arguments.join(", "),
        case.operands,
        attrs.join(", ")
    );
    (text, case.inputs)
}

/// Runs a program by kernels on a number of threads, and returns the ops without a kernel.
fn by_kernels(m: &Module, inputs: &[Datum], threads: usize) -> (Vec<Datum>, Vec<&'static str>) {
    let main = Interpreter::new(m).function("main").expect("there is a function");
    let mut program = CompiledFunction::new(m, main).on(Workers::new(threads).expect("there are threads"));
    let results = program.call(inputs.to_vec()).unwrap_or_else(|stop| panic!("{stop:?}"));
    (results, program.reference(1).into_iter().map(|(name, _)| name).collect())
}

#[test]
fn attentions_are_what_the_reference_says() {
    let tool = Tool::gradus();
    let ctx = tool.context();
    for number in 0..LAYERS / 6 {
        let (text, inputs) = draw(&mut Random::of(("attention", number)));
        let m = parse(&ctx, &text).unwrap_or_else(|| panic!("it is valid: {text}"));
        let mut interpreter = Interpreter::new(&m);
        let main = interpreter.function("main").expect("there is a function");
        let want = interpreter.call(main, inputs.clone()).unwrap_or_else(|stop| panic!("{stop:?}"));
        for threads in [1, 3] {
            let (have, reference) = by_kernels(&m, &inputs, threads);
            assert!(reference.is_empty(), "{reference:?} have no kernel: {text}");
            for (i, (have, want)) in have.iter().zip(&want).enumerate() {
                let (have, want) = (have.tensor().expect("a tensor"), want.tensor().expect("a tensor"));
                let near =
                    |(a, b): (f64, f64)| a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= 2e-5 * b.abs().max(1.0);
                let pairs = || have.to_f64().into_iter().zip(want.to_f64());
                let worst = pairs().enumerate().find(|&(_, pair)| !near(pair));
                assert!(
                    have.shape() == want.shape() && worst.is_none(),
                    "result {i}: {worst:?}, number {number}: {text}"
                );
            }
        }
    }
}

/// A mask of a wider type than the queries is rounded to theirs, where -1e9 becomes infinite.
#[test]
fn a_mask_of_another_type_is_what_the_reference_says() {
    let tool = Tool::gradus();
    let text = "func.func @main(%x: tensor<1x1x2x4xf16>, %m: tensor<2x2xf32>) -> tensor<1x1x2x4xf16> {\n  \
                %y = graph.attention %x, %x, %x mask %m : (tensor<1x1x2x4xf16>, tensor<1x1x2x4xf16>, tensor<1x1x2x4xf16>, \
                tensor<2x2xf32>) -> tensor<1x1x2x4xf16>\n  return %y : tensor<1x1x2x4xf16>\n}\n";
    let m = parse(&tool.context(), text).expect("it is valid");
    let x = floats_to_tensor(DType::F16, &[1, 1, 2, 4], vec![1.0, -2.0, 0.5, 3.0, 2.0, 1.0, -1.0, 0.25]);
    let mask = floats_to_tensor(DType::F32, &[2, 2], vec![-1e9, -1e9, 0.0, -1e9]);
    let inputs = [x, mask].map(Datum::Tensor);
    let mut interpreter = Interpreter::new(&m);
    let main = interpreter.function("main").expect("there is a function");
    let want = interpreter.call(main, inputs.to_vec()).expect("it is defined");
    let (have, _) = by_kernels(&m, &inputs, 1);
    let [have, want] = [&have, &want].map(|all| all[0].tensor().expect("a tensor").to_f64());
    assert_eq!(have[..4], [0.0; 4]);
    assert_eq!(have, want);
}
