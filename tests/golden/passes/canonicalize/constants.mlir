// RUN: gradus opt %s --canonicalize

func.func @int() -> (i32, i8, i1, i8) {
  %a = arith.constant 20 : i32
  %b = arith.constant 3 : i32
  %0 = arith.muli %a, %b : i32
  %1 = arith.addi %0, %b : i32
  %2 = arith.trunci %1 : i32 to i8
  %3 = arith.cmpi sgt, %1, %a : i32
  %min = arith.constant -128 : i8
  %one = arith.constant 1 : i8
  %4 = arith.subi %min, %one : i8
  return %1, %2, %3, %4 : i32, i8, i1, i8
}
func.func @float() -> (f32, f64, i32) {
  %a = arith.constant 0.1 : f32
  %b = arith.constant 0.2 : f32
  %0 = arith.addf %a, %b : f32
  %1 = arith.extf %0 : f32 to f64
  %2 = arith.bitcast %0 : f32 to i32
  return %0, %1, %2 : f32, f64, i32
}
func.func @shared(%a: i32) -> i32 {
  %0 = arith.constant 1 : i32
  %1 = arith.addi %a, %0 : i32
  %2 = arith.constant 1 : i32
  %3 = arith.muli %1, %a : i32
  %4 = arith.addi %3, %2 : i32
  return %4 : i32
}
