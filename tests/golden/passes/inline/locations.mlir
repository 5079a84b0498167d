// RUN: gradus opt %s --inline --mlir-print-debuginfo
// Inlined ops have call-site locations.
func.func private @neg(%a: i32 loc("a")) -> i32 {
  %c0 = arith.constant 0 : i32 loc("zero")
  %0 = arith.subi %c0, %a : i32 loc("sub")
  return %0 : i32 loc("ret")
} loc("neg")
func.func @f(%a: i32 loc("x")) -> i32 {
  %0 = call @neg(%a) : (i32) -> i32 loc("call")
  return %0 : i32 loc("end")
} loc("f")
