// RUN: gradus opt %s --sccp
// Constants propagate through arguments and results of private functions.
func.func private @sum(%a: i32, %b: i32) -> i32 {
  %0 = arith.addi %a, %b : i32
  return %0 : i32
}
func.func @calls(%x: i32) -> (i32, i32) {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %0 = call @sum(%c1, %c2) : (i32, i32) -> i32
  %1 = arith.addi %x, %0 : i32
  return %0, %1 : i32, i32
}

// -----

// Two calls that differ in one argument: the other one is still constant.
func.func private @scale(%a: i32, %b: i32) -> i32 {
  %0 = arith.muli %a, %b : i32
  return %0 : i32
}
func.func @differ() -> (i32, i32) {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %0 = call @scale(%c1, %c3) : (i32, i32) -> i32
  %1 = call @scale(%c2, %c3) : (i32, i32) -> i32
  return %0, %1 : i32, i32
}

// -----

// Public functions, and functions whose address is taken, have unknown callers.
func.func @public(%a: i32) -> i32 {
  return %a : i32
}
func.func private @taken(%a: i32) -> i32 {
  return %a : i32
}
func.func @unknown_callers() -> (i32, i32, (i32) -> i32) {
  %c1 = arith.constant 1 : i32
  %0 = call @public(%c1) : (i32) -> i32
  %1 = call @taken(%c1) : (i32) -> i32
  %2 = func.constant @taken : (i32) -> i32
  return %0, %1, %2 : i32, i32, (i32) -> i32
}

// -----

// Recursion with a constant argument.
func.func private @spin(%a: i32) -> i32 {
  %0 = call @spin(%a) : (i32) -> i32
  return %a : i32
}
func.func @start() -> i32 {
  %c7 = arith.constant 7 : i32
  %0 = call @spin(%c7) : (i32) -> i32
  return %0 : i32
}
