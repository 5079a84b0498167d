//! Products whose results are blocks of columns, on floats and bytes, with and without a residual, equal the reference.

use super::types::constant;
use super::{LAYERS, extents, parse, pick, run, run_by_kernels};
use gradus::Tool;
use gradus::ir::eval::{Datum, floats_to_tensor, ints_to_tensor};
use gradus::ir::random::Random;
use gradus::ir::{DType, Tensor};

/// Draws small integers of a type.
fn small(random: &mut Random, dtype: DType, shape: &[usize]) -> Tensor {
    let all: Vec<i64> = (0..shape.iter().product::<usize>()).map(|_| random.below(9) as i64 - 4).collect();
    match dtype.is_float() {
        true => floats_to_tensor(dtype, shape, all.into_iter().map(|x| x as f64).collect()),
        false => ints_to_tensor(dtype, shape, &all),
    }
}

/// Draws a program of one product, and its argument.
fn draw(random: &mut Random) -> (String, Tensor) {
    let types = [("f32", DType::F32), ("bf16", DType::BF16), ("i8", DType::I8), ("f64", DType::F64)];
    let (elem, dtype) = types[random.below(4) as usize];
    let (sums, kind) = if elem == "i8" { ("i32", DType::I32) } else { (elem, dtype) };
    let [rows, depth, blocks] = [&[1, 3, 17, 300][..], &[1, 4, 9, 64], &[1, 2, 5, 33]].map(|from| pick(random, from));
    let block = pick(random, &[1, 2, 8, 16]);
    let result = format!("tensor<{blocks}x{rows}x{block}x{sums}>");
    let b = small(random, dtype, &[blocks * block, depth]);
    let base: Vec<i64> = (0..rows).map(|row| (row * depth) as i64).collect();
    let relative: Vec<i64> = (0..depth as i64).collect();
    let of = |size: usize, elem: &str| format!("tensor<{size}x{elem}>");
    let mut types = [of(rows * depth, elem), of(rows, "i32"), of(depth, "i32")].join(", ");
    types += &format!(", tensor<{}{elem}>", extents(b.shape()));
    let mut text = constant("base", "i32", &ints_to_tensor(DType::I32, &[rows], &base));
    text += &constant("relative", "i32", &ints_to_tensor(DType::I32, &[depth], &relative));
    text += &constant("b", elem, &b);
    let mut plus = String::new();
    if random.below(2) == 0 {
        text += &constant("add", sums, &small(random, kind, &[blocks, rows, block]));
        (plus, types) = (" plus %add".into(), format!("{types}, {result}"));
    }
    let text = format!(
        "func.func @main(%x: {0}) -> {result} {{\n{text}  %y = addr.gemm %x[%base + %relative], %b{plus} {{block = {block} : i64}} : \
         ({types}) -> {result}\n  return %y : {result}\n}}\n",
        of(rows * depth, elem)
    );
    (text, small(random, dtype, &[rows * depth]))
}

#[test]
fn blocks_of_columns_are_what_the_reference_says() {
    let tool = Tool::gradus();
    let ctx = tool.context();
    for number in 0..LAYERS / 4 {
        let (text, input) = draw(&mut Random::of(("blocks", number)));
        let m = parse(&ctx, &text).unwrap_or_else(|| panic!("it is valid: {text}"));
        let input = Datum::Tensor(input);
        let (want, (have, reference)) = (run(&m, &input), run_by_kernels(&m, &input));
        let (have, want) = (have.tensor().expect("a tensor"), want.tensor().expect("a tensor"));
        assert!(have.shape() == want.shape() && have.to_f64() == want.to_f64(), "{text}\n{have:?}\n{want:?}");
        assert!(reference.is_empty(), "{reference:?} have no kernel: {text}");
    }
}
