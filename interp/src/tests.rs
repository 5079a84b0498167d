//! Fuel and memory of executions.

use super::*;
use gradus_ir::{DType, ParseOptions, Tensor, parse_module};
use std::cell::Cell;
use std::rc::Rc;

fn module(text: &str) -> Module {
    parse_module(&gradus_dialects::context(), "test", text.to_owned(), ParseOptions::default()).expect("the test is IR")
}

fn run(m: &Module, fuel: u64, args: &[Datum]) -> (Result<Vec<Datum>, Trap>, u64) {
    let mut interpreter = Interpreter::new(m).fuel(fuel);
    let main = interpreter.function("main").expect("the test has a function");
    let results = interpreter.call(main, args.to_vec()).map_err(|stop| stop.trap);
    (results, interpreter.executed())
}

const LOOP: &str = "func.func @main(%n: index) -> i64 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %x = arith.constant 3 : i64
  %r = scf.for %i = %zero to %n step %one iter_args(%a = %x) -> (i64) {
    %b = arith.addi %a, %x : i64
    scf.yield %b : i64
  }
  return %r : i64
}
";

#[test]
fn ops_are_counted_and_limited() {
    let m = module(LOOP);
    // Three constants, the loop, and one op plus the entry for each iteration.
    assert_eq!(run(&m, 24, &[Datum::Int(10)]), (Ok(vec![Datum::Int(33)]), 24));
    assert!(matches!(run(&m, 23, &[Datum::Int(10)]), (Err(Trap::Limit(_)), 24)));
    assert_eq!(run(&m, 24, &[Datum::Int(-1)]), (Ok(vec![Datum::Int(3)]), 4));
}

#[test]
fn an_interpreter_begins_anew() {
    let m = module(
        "memref.global @g : memref<i64> = dense<5>
func.func @main() -> i64 {
  %one = arith.constant 1 : i64
  %g = memref.get_global @g : memref<i64>
  %v = memref.load %g[] : memref<i64>
  %w = arith.addi %v, %one : i64
  memref.store %w, %g[] : memref<i64>
  return %w : i64
}
",
    );
    let mut interpreter = Interpreter::new(&m).fuel(10);
    let main = interpreter.function("main").expect("the test has a function");
    assert_eq!(interpreter.call(main, vec![]), Ok(vec![Datum::Int(6)]));
    assert_eq!(interpreter.call(main, vec![]), Ok(vec![Datum::Int(7)]));
    interpreter.reset();
    assert_eq!(interpreter.call(main, vec![]), Ok(vec![Datum::Int(6)]));
    assert_eq!(interpreter.executed(), 5);
}

#[test]
fn few_ops_with_many_elements_are_no_long_run() {
    let m = module(
        "func.func @main(%x: i64) -> i64 {
  %a = tensor.splat %x : tensor<20000xi64>
  %b = tensor.splat %x : tensor<20000xi64>
  %y = arith.addi %x, %x : i64
  return %y : i64
}
",
    );
    // 20,000 elements count as 78 ops.
    assert!(matches!(run(&m, 100, &[Datum::Int(1)]).0, Err(Trap::Unknown(_))));
    assert_eq!(run(&m, 200, &[Datum::Int(1)]).0, Ok(vec![Datum::Int(2)]));
}

#[test]
fn tensors_live_until_their_last_use() {
    let m = module(
        "func.func private @outside()
func.func @main(%x: tensor<2xi32>, %c: i1) -> tensor<2xi32> {
  func.call @outside() : () -> ()
  %y = arith.addi %x, %x : tensor<2xi32>
  func.call @outside() : () -> ()
  %z = scf.if %c -> (tensor<2xi32>) {
    scf.yield %y : tensor<2xi32>
  } else {
    scf.yield %y : tensor<2xi32>
  }
  return %z : tensor<2xi32>
}
",
    );
    // `Bytes` has a reference count, unlike a borrowed vector.
    let raw = [1i32, 2].iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    let tensor = Tensor::new(DType::I32, vec![2], raw.into()).expect("two numbers");
    let bytes = tensor.bytes().clone();
    let seen = Rc::new(Cell::new(0));
    let counter = seen.clone();
    let mut interpreter = Interpreter::new(&m).on_external(Box::new(move |_, _, _, _| {
        // The first call precedes the last use, the second one follows it.
        assert_eq!(bytes.is_unique(), counter.get() == 1);
        counter.set(counter.get() + 1);
        Ok(vec![])
    }));
    let main = interpreter.function("main").expect("the test has a function");
    let results = interpreter.call(main, vec![Datum::Tensor(tensor), Datum::Int(-1)]);
    assert_eq!(results, Ok(vec![Datum::Tensor(Tensor::from_vec(&[2], vec![2i32, 4]))]));
    assert_eq!(seen.get(), 2);
}

#[test]
fn deep_recursion_is_given_up() {
    let m = module(
        "func.func @main(%n: i32) -> i32 {
  %r = func.call @main(%n) : (i32) -> i32
  return %r : i32
}
",
    );
    assert!(matches!(run(&m, 10_000, &[Datum::Int(0)]), (Err(Trap::Limit(_)), 256)));
}

#[test]
fn what_is_no_number_is_an_error() {
    let m = module(LOOP);
    assert!(matches!(run(&m, 99, &[Datum::Float(1.0)]), (Err(Trap::Unsupported(_)), _)));
    assert!(matches!(run(&m, 99, &[]), (Err(Trap::Unsupported(_)), 0)));
    assert!(matches!(run(&m, 99, &[Datum::Poison]), (Err(Trap::Ub(_)), _)));
}
