// RUN: gradus opt %s --scf-parallel-loop-tiling=parallel-loop-tile-sizes=4 | FileCheck %s

// COM: A tile has one iteration where the extent of four would be too large.
// CHECK-LABEL: func.func @step
// CHECK:         [[EXTENT:%.*]] = arith.muli %arg2, %c4 : index
// CHECK:         [[FITS:%.*]] = arith.cmpi ule, %arg2, %c576460752303423488
// CHECK:         [[STEP:%.*]] = arith.select [[FITS]], [[EXTENT]], %arg2 : index
// CHECK:         scf.parallel (%{{.*}}) = (%arg0) to (%arg1) step ([[STEP]])
func.func @step(%a: index, %b: index, %s: index, %m: memref<8xi32>) {
  %c8 = arith.constant 8 : index
  %one = arith.constant 1 : i32
  scf.parallel (%i) = (%a) to (%b) step (%s) {
    %k = arith.remui %i, %c8 : index
    memref.store %one, %m[%k] : memref<8xi32>
  }
  return
}

// COM: Here it always is: the loop stays.
// CHECK-LABEL:   func.func @constant
// CHECK-COUNT-1:   scf.parallel
// CHECK-NOT:       scf.parallel
func.func @constant(%a: index, %b: index, %m: memref<8xi32>) {
  %c8 = arith.constant 8 : index
  %one = arith.constant 1 : i32
  %s = arith.constant 576460752303423489 : index
  scf.parallel (%i) = (%a) to (%b) step (%s) {
    %k = arith.remui %i, %c8 : index
    memref.store %one, %m[%k] : memref<8xi32>
  }
  return
}

// COM: The largest step of four iterations.
// CHECK-LABEL:   func.func @largest
// CHECK-COUNT-2:   scf.parallel
func.func @largest(%a: index, %b: index, %m: memref<8xi32>) {
  %c8 = arith.constant 8 : index
  %one = arith.constant 1 : i32
  %s = arith.constant 576460752303423488 : index
  scf.parallel (%i) = (%a) to (%b) step (%s) {
    %k = arith.remui %i, %c8 : index
    memref.store %one, %m[%k] : memref<8xi32>
  }
  return
}
