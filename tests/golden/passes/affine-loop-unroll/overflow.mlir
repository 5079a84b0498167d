// RUN: gradus opt %s --affine-loop-unroll | FileCheck %s

// COM: The split bound would divide -s0 + s1 mod 4, whose dividend overflows where the bounds do not: the loop stays.
// CHECK-LABEL: func.func @remainders
// CHECK-COUNT-1: affine.for
// CHECK-NOT:     affine.for
func.func @remainders(%a: index, %b: index, %x: i8) -> i8 {
  %0 = affine.for %i = affine_map<()[s0] -> (s0 mod 4 + 1)>()[%a] to affine_map<()[s0] -> (s0 mod 4 + 1)>()[%b] iter_args(%y = %x) -> i8 {
    %1 = arith.addi %y, %x : i8
    affine.yield %1 : i8
  }
  return %0 : i8
}

// COM: So it does through an affine.apply.
// CHECK-LABEL: func.func @applied
// CHECK-COUNT-1: affine.for
// CHECK-NOT:     affine.for
func.func @applied(%a: index, %b: index, %x: i8) -> i8 {
  %first = affine.apply affine_map<()[s0] -> (s0 mod 4)>()[%a]
  %end = affine.apply affine_map<()[s0] -> (s0 mod 4)>()[%b]
  %0 = affine.for %i = %first to %end iter_args(%y = %x) -> i8 {
    %1 = arith.addi %y, %x : i8
    affine.yield %1 : i8
  }
  return %0 : i8
}

// COM: The dividends are s1 mod 6 and the distance of the bounds.
// CHECK-LABEL: func.func @remainder
// CHECK-COUNT-2: affine.for
func.func @remainder(%b: index, %x: i8) -> i8 {
  %0 = affine.for %i = 0 to affine_map<()[s0] -> (s0 mod 6)>()[%b] iter_args(%y = %x) -> i8 {
    %1 = arith.addi %y, %x : i8
    affine.yield %1 : i8
  }
  return %0 : i8
}

// CHECK-LABEL: func.func @distance
// CHECK-COUNT-2: affine.for
func.func @distance(%a: index, %b: index, %x: i8) -> i8 {
  %0 = affine.for %i = affine_map<()[s0] -> (s0 * 2)>()[%a] to affine_map<()[s0] -> (s0 + 5)>()[%b] step 3 iter_args(%y = %x) -> i8 {
    %1 = arith.addi %y, %x : i8
    affine.yield %1 : i8
  }
  return %0 : i8
}
