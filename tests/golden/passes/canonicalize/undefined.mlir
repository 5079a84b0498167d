// RUN: gradus opt %s --canonicalize

// UB is not folded: 1 / 0, MIN / -1, and shifts beyond the width. A violated `nsw` gives poison, so that the wrapped value may be used.
func.func @undefined() -> (i8, i8, i8, i8) {
  %c0 = arith.constant 0 : i8
  %c1 = arith.constant 1 : i8
  %m1 = arith.constant -1 : i8
  %min = arith.constant -128 : i8
  %c9 = arith.constant 9 : i8
  %0 = arith.divsi %c1, %c0 : i8
  %1 = arith.divsi %min, %m1 : i8
  %2 = arith.shli %c1, %c9 : i8
  %3 = arith.addi %min, %m1 overflow<nsw> : i8
  return %0, %1, %2, %3 : i8, i8, i8, i8
}
// An unused division may be erased: removing UB is a refinement.
func.func @unused(%a: i8, %b: i8) -> i8 {
  %0 = arith.divsi %a, %b : i8
  return %a : i8
}
