// RUN: gradus opt %s | FileCheck %s --check-prefixes=BOTH,BEFORE
// RUN: gradus opt %s --cse | FileCheck %s --check-prefixes=BOTH,AFTER --implicit-check-not=arith.divsi

// One file for two runs: common lines, and the ops that cse removes.

// BOTH-LABEL: func.func @products(
// BOTH-SAME:    [[A:%.*]]: i32, [[B:%.*]]: i32)
// BEFORE-COUNT-2: arith.muli [[A]], [[B]]
// AFTER:          [[P:%.*]] = arith.muli [[A]], [[B]]
// AFTER-NOT:      arith.muli
// AFTER:          arith.addi [[P]], [[P]]
// BOTH:           return
func.func @products(%a: i32, %b: i32) -> i32 {
  %0 = arith.muli %a, %b : i32
  %1 = arith.muli %a, %b : i32
  %2 = arith.addi %0, %1 : i32
  return %2 : i32
}

// The order of independent ops does not matter.
// BOTH-LABEL: func.func @unordered(
// BOTH-SAME:    [[A:%.*]]: i32)
// BOTH-DAG:     [[NEG:%.*]] = arith.subi {{.*}}, [[A]]
// BOTH-DAG:     [[SQUARE:%.*]] = arith.muli [[A]], [[A]]
// BOTH:         return [[SQUARE]], [[NEG]]
func.func @unordered(%a: i32) -> (i32, i32) {
  %c0 = arith.constant 0 : i32
  %square = arith.muli %a, %a : i32
  %neg = arith.subi %c0, %a : i32
  return %square, %neg : i32, i32
}
