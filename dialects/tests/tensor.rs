//! Tests of slices of run-time tensors.

use gradus_ir::eval::{Datum, Trap, eval_op};
use gradus_ir::{DType, Module, ParseOptions, Tensor, parse_module};

/// Evaluates the first op of dialect `tensor` in a function.
fn eval(text: &str, inputs: &[Datum]) -> Result<Datum, Trap> {
    let m: Module = parse_module(&gradus_dialects::context(), "test", text.to_owned(), ParseOptions::default())
        .expect("the test is IR");
    let op = m.ops_under(m.root()).into_iter().find(|&op| m.name_text(op).starts_with("tensor.")).expect("an op");
    m.with_args(op, |args| eval_op(args, inputs)).expect("registered").map(|mut results| results.remove(0))
}

/// Evaluates a slice of `[0, 1, 2, 3]`.
fn slice(offset: i64, size: i64, stride: i64) -> Result<Vec<i64>, Trap> {
    let text = "func.func @f(%t: tensor<4xi64>, %offset: index, %size: index, %stride: index) {
  %0 = tensor.extract_slice %t[%offset] [%size] [%stride] : tensor<4xi64> to tensor<?xi64>
  return
}";
    let bytes: Vec<u8> = (0..4_i64).flat_map(i64::to_ne_bytes).collect();
    let tensor = Tensor::new(DType::I64, vec![4], bytes.into()).expect("there are four elements");
    let inputs = [Datum::Tensor(tensor), Datum::Int(offset), Datum::Int(size), Datum::Int(stride)];
    eval(text, &inputs).map(|datum| datum.tensor().expect("a tensor").to_i64().expect("of integers"))
}

#[test]
fn slices_are_inside() {
    assert_eq!(slice(3, 4, -1), Ok(vec![3, 2, 1, 0]));
    assert_eq!(slice(1, 2, 2), Ok(vec![1, 3]));
    assert_eq!(slice(9, 0, 1), Ok(vec![]));
    for (offset, size, stride) in [(1, 4, 1), (-1, 1, 1), (0, 2, 4), (0, 2, -1), (3, 2, i64::MAX), (i64::MIN, 2, 1)] {
        assert!(matches!(slice(offset, size, stride), Err(Trap::Ub(_))), "{offset} {size} {stride}");
    }
}

#[test]
fn sizes_that_no_tensor_has_are_refused() {
    let splat = |sizes: [i64; 2]| {
        let text = "func.func @f(%x: i8, %a: index, %b: index) {
  %0 = tensor.splat %x[%a, %b] : tensor<?x?xi8>
  return
}";
        eval(text, &[Datum::Int(7), Datum::Int(sizes[0]), Datum::Int(sizes[1])])
    };
    assert_eq!(splat([2, 0]).and_then(|datum| Ok(datum.tensor()?.shape().to_vec())), Ok(vec![2, 0]));
    assert!(matches!(splat([2, -1]), Err(Trap::Ub(_))));
    assert!(matches!(splat([i64::MAX, i64::MAX]), Err(Trap::Unknown(_))));
    assert!(matches!(splat([1 << 20, 1 << 20]), Err(Trap::Unknown(_))));
}
