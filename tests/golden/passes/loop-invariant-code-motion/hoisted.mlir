// RUN: gradus opt %s --split-input-file --loop-invariant-code-motion | FileCheck %s
// NOTE: 'gradus update-checks' writes the directives in this file

// Ops move in their order, so an op that uses a moved one moves too. An op that uses the induction variable or a carried value stays.
// CHECK-LABEL: func.func @chain(
// CHECK-SAME:  [[ARG0:%.*]]: i32, [[ARG1:%.*]]: i32, [[ARG2:%.*]]: index) -> i32 {
// CHECK-NEXT:    [[C0:%.*]] = arith.constant 0 : index
// CHECK-NEXT:    [[C1:%.*]] = arith.constant 1 : index
// CHECK-NEXT:    [[C0_I32:%.*]] = arith.constant 0 : i32
// CHECK-NEXT:    [[V0:%.*]] = arith.muli [[ARG0]], [[ARG1]] : i32
// CHECK-NEXT:    [[V1:%.*]] = arith.addi [[V0]], [[ARG0]] : i32
// CHECK-NEXT:    [[V2:%.*]] = scf.for [[ARG3:%.*]] = [[C0]] to [[ARG2]] step [[C1]] iter_args([[ARG4:%.*]] = [[C0_I32]]) -> (i32) {
// CHECK-NEXT:      [[V3:%.*]] = arith.index_cast [[ARG3]] : index to i32
// CHECK-NEXT:      [[V4:%.*]] = arith.addi [[V1]], [[V3]] : i32
// CHECK-NEXT:      [[V5:%.*]] = arith.addi [[ARG4]], [[V4]] : i32
// CHECK-NEXT:      scf.yield [[V5]] : i32
// CHECK-NEXT:    }
// CHECK-NEXT:    return [[V2]] : i32
// CHECK-NEXT:  }
func.func @chain(%x: i32, %y: i32, %n: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (i32) {
    %0 = arith.muli %x, %y : i32
    %1 = arith.addi %0, %x : i32
    %2 = arith.index_cast %i : index to i32
    %3 = arith.addi %1, %2 : i32
    %4 = arith.addi %sum, %3 : i32
    scf.yield %4 : i32
  }
  return %r : i32
}

// -----

// Inner loops come first: the product leaves both loops, the sum with the outer induction variable only the inner one.
// CHECK-LABEL: func.func @nested(
// CHECK-SAME:  [[ARG0:%.*]]: index, [[ARG1:%.*]]: memref<8x8xindex>) {
// CHECK-NEXT:    [[V0:%.*]] = arith.muli [[ARG0]], [[ARG0]] : index
// CHECK-NEXT:    affine.for [[ARG2:%.*]] = 0 to 8 {
// CHECK-NEXT:      [[V1:%.*]] = arith.addi [[V0]], [[ARG2]] : index
// CHECK-NEXT:      affine.for [[ARG3:%.*]] = 0 to 8 {
// CHECK-NEXT:        [[V2:%.*]] = arith.addi [[V1]], [[ARG3]] : index
// CHECK-NEXT:        affine.store [[V2]], [[ARG1]][[[ARG2]], [[ARG3]]] : memref<8x8xindex>
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    return
// CHECK-NEXT:  }
func.func @nested(%x: index, %m: memref<8x8xindex>) {
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 8 {
      %0 = arith.muli %x, %x : index
      %1 = arith.addi %0, %i : index
      %2 = arith.addi %1, %j : index
      affine.store %2, %m[%i, %j] : memref<8x8xindex>
    }
  }
  return
}

// -----

// Both regions of a while loop are its body, and all iterations of a parallel loop share what is hoisted.
// CHECK-LABEL: func.func @other_loops(
// CHECK-SAME:  [[ARG0:%.*]]: i32, [[ARG1:%.*]]: index, [[ARG2:%.*]]: memref<?xi32>) -> i32 {
// CHECK-NEXT:    [[C0:%.*]] = arith.constant 0 : index
// CHECK-NEXT:    [[C1:%.*]] = arith.constant 1 : index
// CHECK-NEXT:    [[V0:%.*]] = arith.muli [[ARG0]], [[ARG0]] : i32
// CHECK-NEXT:    scf.parallel ([[ARG3:%.*]]) = ([[C0]]) to ([[ARG1]]) step ([[C1]]) {
// CHECK-NEXT:      memref.store [[V0]], [[ARG2]][[[ARG3]]] : memref<?xi32>
// CHECK-NEXT:      scf.reduce
// CHECK-NEXT:    }
// CHECK-NEXT:    [[C9_I32:%.*]] = arith.constant 9 : i32
// CHECK-NEXT:    [[C2_I32:%.*]] = arith.constant 2 : i32
// CHECK-NEXT:    [[V1:%.*]] = scf.while ([[ARG3]] = [[ARG0]]) : (i32) -> i32 {
// CHECK-NEXT:      [[V2:%.*]] = arith.cmpi slt, [[ARG3]], [[C9_I32]] : i32
// CHECK-NEXT:      scf.condition([[V2]]) [[ARG3]] : i32
// CHECK-NEXT:    } do {
// CHECK-NEXT:    ^bb0([[ARG3]]: i32):
// CHECK-NEXT:      [[V2:%.*]] = arith.addi [[ARG3]], [[C2_I32]] : i32
// CHECK-NEXT:      scf.yield [[V2]] : i32
// CHECK-NEXT:    }
// CHECK-NEXT:    return [[V1]] : i32
// CHECK-NEXT:  }
func.func @other_loops(%x: i32, %n: index, %m: memref<?xi32>) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %0 = arith.muli %x, %x : i32
    memref.store %0, %m[%i] : memref<?xi32>
    scf.reduce
  }
  %r = scf.while (%a = %x) : (i32) -> i32 {
    %c9 = arith.constant 9 : i32
    %1 = arith.cmpi slt, %a, %c9 : i32
    scf.condition(%1) %a : i32
  } do {
  ^bb0(%b: i32):
    %c2 = arith.constant 2 : i32
    %2 = arith.addi %b, %c2 : i32
    scf.yield %2 : i32
  }
  return %r : i32
}

// -----

// An op moves with its region, if nothing in that comes from the loop. The region of tensor.generate is executed for each element, as a
// loop's body is.
// CHECK-LABEL: func.func @regions(
// CHECK-SAME:  [[ARG0:%.*]]: i32, [[ARG1:%.*]]: i32, [[ARG2:%.*]]: index, [[ARG3:%.*]]: memref<?xi32>) {
// CHECK-NEXT:    [[C0:%.*]] = arith.constant 0 : index
// CHECK-NEXT:    [[C1:%.*]] = arith.constant 1 : index
// CHECK-NEXT:    [[V0:%.*]] = scf.execute_region -> i32 {
// CHECK-NEXT:      [[V2:%.*]] = arith.addi [[ARG0]], [[ARG1]] : i32
// CHECK-NEXT:      scf.yield [[V2]] : i32
// CHECK-NEXT:    }
// CHECK-NEXT:    [[V1:%.*]] = arith.muli [[ARG0]], [[ARG1]] : i32
// CHECK-NEXT:    scf.for [[ARG4:%.*]] = [[C0]] to [[ARG2]] step [[C1]] {
// CHECK-NEXT:      [[GENERATED:%.*]] = tensor.generate  {
// CHECK-NEXT:      ^bb0([[ARG5:%.*]]: index):
// CHECK-NEXT:        [[V3:%.*]] = arith.index_cast [[ARG5]] : index to i32
// CHECK-NEXT:        [[V4:%.*]] = arith.addi [[V1]], [[V3]] : i32
// CHECK-NEXT:        tensor.yield [[V4]] : i32
// CHECK-NEXT:      } : tensor<4xi32>
// CHECK-NEXT:      [[EXTRACTED:%.*]] = tensor.extract [[GENERATED]][[[ARG4]]] : tensor<4xi32>
// CHECK-NEXT:      [[V2:%.*]] = arith.addi [[V0]], [[EXTRACTED]] : i32
// CHECK-NEXT:      memref.store [[V2]], [[ARG3]][[[ARG4]]] : memref<?xi32>
// CHECK-NEXT:    }
// CHECK-NEXT:    return
// CHECK-NEXT:  }
func.func @regions(%x: i32, %y: i32, %n: index, %m: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %0 = scf.execute_region -> i32 {
      %1 = arith.addi %x, %y : i32
      scf.yield %1 : i32
    }
    %2 = tensor.generate {
    ^bb0(%j: index):
      %3 = arith.muli %x, %y : i32
      %4 = arith.index_cast %j : index to i32
      %5 = arith.addi %3, %4 : i32
      tensor.yield %5 : i32
    } : tensor<4xi32>
    %6 = tensor.extract %2[%i] : tensor<4xi32>
    %7 = arith.addi %0, %6 : i32
    memref.store %7, %m[%i] : memref<?xi32>
  }
  return
}
