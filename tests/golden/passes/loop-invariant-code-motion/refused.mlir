// RUN: gradus opt %s --split-input-file --loop-invariant-code-motion | FileCheck %s
// NOTE: 'gradus update-checks' writes the directives in this file

// A loop may not run at all, so an op that may be undefined stays: a division by an unknown divisor does, one by a constant does not.
// CHECK-LABEL: func.func @divisions(
// CHECK-SAME:  [[ARG0:%.*]]: i32, [[ARG1:%.*]]: i32, [[ARG2:%.*]]: index, [[ARG3:%.*]]: memref<?xi32>) {
// CHECK-NEXT:    [[C0:%.*]] = arith.constant 0 : index
// CHECK-NEXT:    [[C1:%.*]] = arith.constant 1 : index
// CHECK-NEXT:    [[C3_I32:%.*]] = arith.constant 3 : i32
// CHECK-NEXT:    [[V0:%.*]] = arith.divui [[ARG0]], [[C3_I32]] : i32
// CHECK-NEXT:    scf.for [[ARG4:%.*]] = [[C0]] to [[ARG2]] step [[C1]] {
// CHECK-NEXT:      [[V1:%.*]] = arith.divui [[ARG0]], [[ARG1]] : i32
// CHECK-NEXT:      [[V2:%.*]] = arith.addi [[V1]], [[V0]] : i32
// CHECK-NEXT:      memref.store [[V2]], [[ARG3]][[[ARG4]]] : memref<?xi32>
// CHECK-NEXT:    }
// CHECK-NEXT:    return
// CHECK-NEXT:  }
func.func @divisions(%x: i32, %y: i32, %n: index, %m: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : i32
  scf.for %i = %c0 to %n step %c1 {
    %0 = arith.divui %x, %y : i32
    %1 = arith.divui %x, %c3 : i32
    %2 = arith.addi %0, %1 : i32
    memref.store %2, %m[%i] : memref<?xi32>
  }
  return
}

// -----

// Memory effects stay: a load may read what the loop stores, and each allocation is another buffer.
// CHECK-LABEL: func.func @effects(
// CHECK-SAME:  [[ARG0:%.*]]: index, [[ARG1:%.*]]: memref<?xi32>, [[ARG2:%.*]]: memref<i32>) {
// CHECK-NEXT:    [[C0:%.*]] = arith.constant 0 : index
// CHECK-NEXT:    [[C1:%.*]] = arith.constant 1 : index
// CHECK-NEXT:    scf.for [[ARG3:%.*]] = [[C0]] to [[ARG0]] step [[C1]] {
// CHECK-NEXT:      [[V0:%.*]] = memref.load [[ARG2]][] : memref<i32>
// CHECK-NEXT:      [[ALLOC:%.*]] = memref.alloc() : memref<i32>
// CHECK-NEXT:      memref.store [[V0]], [[ALLOC]][] : memref<i32>
// CHECK-NEXT:      [[V1:%.*]] = memref.load [[ALLOC]][] : memref<i32>
// CHECK-NEXT:      memref.store [[V1]], [[ARG1]][[[ARG3]]] : memref<?xi32>
// CHECK-NEXT:      memref.dealloc [[ALLOC]] : memref<i32>
// CHECK-NEXT:    }
// CHECK-NEXT:    return
// CHECK-NEXT:  }
func.func @effects(%n: index, %m: memref<?xi32>, %k: memref<i32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %0 = memref.load %k[] : memref<i32>
    %1 = memref.alloc() : memref<i32>
    memref.store %0, %1[] : memref<i32>
    %2 = memref.load %1[] : memref<i32>
    memref.store %2, %m[%i] : memref<?xi32>
    memref.dealloc %1 : memref<i32>
  }
  return
}

// -----

// An op whose region has an effect stays as a whole; what is invariant within it is not looked for. So does an op that branches: a branch
// on poison is undefined behavior, and the loop may not run.
// CHECK-LABEL: func.func @regions(
// CHECK-SAME:  [[ARG0:%.*]]: i1, [[ARG1:%.*]]: i32, [[ARG2:%.*]]: i32, [[ARG3:%.*]]: index, [[ARG4:%.*]]: memref<?xi32>) {
// CHECK-NEXT:    [[C0:%.*]] = arith.constant 0 : index
// CHECK-NEXT:    [[C1:%.*]] = arith.constant 1 : index
// CHECK-NEXT:    scf.for [[ARG5:%.*]] = [[C0]] to [[ARG3]] step [[C1]] {
// CHECK-NEXT:      scf.execute_region {
// CHECK-NEXT:        [[V1:%.*]] = arith.muli [[ARG1]], [[ARG1]] : i32
// CHECK-NEXT:        memref.store [[V1]], [[ARG4]][[[ARG5]]] : memref<?xi32>
// CHECK-NEXT:        scf.yield
// CHECK-NEXT:      }
// CHECK-NEXT:      [[V0:%.*]] = scf.if [[ARG0]] -> (i32) {
// CHECK-NEXT:        scf.yield [[ARG1]] : i32
// CHECK-NEXT:      } else {
// CHECK-NEXT:        scf.yield [[ARG2]] : i32
// CHECK-NEXT:      }
// CHECK-NEXT:      memref.store [[V0]], [[ARG4]][[[ARG5]]] : memref<?xi32>
// CHECK-NEXT:    }
// CHECK-NEXT:    return
// CHECK-NEXT:  }
func.func @regions(%c: i1, %x: i32, %y: i32, %n: index, %m: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.execute_region {
      %0 = arith.muli %x, %x : i32
      memref.store %0, %m[%i] : memref<?xi32>
      scf.yield
    }
    %1 = scf.if %c -> (i32) {
      scf.yield %x : i32
    } else {
      scf.yield %y : i32
    }
    memref.store %1, %m[%i] : memref<?xi32>
  }
  return
}

// -----

// A loop of branches is not a loop op: its blocks are not looked at.
// CHECK-LABEL: func.func @branches(
// CHECK-SAME:  [[ARG0:%.*]]: i32, [[ARG1:%.*]]: i32) -> i32 {
// CHECK-NEXT:    cf.br ^bb1([[ARG0]] : i32)
// CHECK-NEXT:  ^bb1([[V0:%.*]]: i32):  // 2 preds: ^bb0, ^bb1
// CHECK-NEXT:    [[V1:%.*]] = arith.muli [[ARG0]], [[ARG0]] : i32
// CHECK-NEXT:    [[V2:%.*]] = arith.addi [[V0]], [[V1]] : i32
// CHECK-NEXT:    [[V3:%.*]] = arith.cmpi slt, [[V2]], [[ARG1]] : i32
// CHECK-NEXT:    cf.cond_br [[V3]], ^bb1([[V2]] : i32), ^bb2
// CHECK-NEXT:  ^bb2:  // pred: ^bb1
// CHECK-NEXT:    return [[V0]] : i32
// CHECK-NEXT:  }
func.func @branches(%x: i32, %n: i32) -> i32 {
  cf.br ^head(%x : i32)
^head(%a: i32):
  %0 = arith.muli %x, %x : i32
  %1 = arith.addi %a, %0 : i32
  %2 = arith.cmpi slt, %1, %n : i32
  cf.cond_br %2, ^head(%1 : i32), ^exit
^exit:
  return %a : i32
}
