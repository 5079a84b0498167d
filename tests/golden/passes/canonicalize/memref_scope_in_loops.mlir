// RUN: gradus opt %s --canonicalize

// An iteration of a loop is a scope: an alloca is not hoisted out of the loop, where iterations would share it.
func.func @shared(%v: i8) -> (i8, i8) {
  %0:2 = affine.parallel (%i) = (1) to (5) reduce ("addi", "ori") -> (i8, i8) {
    %c0 = arith.constant 0 : index
    %1 = memref.alloca_scope -> (i8) {
      %own = memref.alloca() : memref<1xi8>
      memref.store %v, %own[%c0] : memref<1xi8>
      %2 = memref.load %own[%c0] : memref<1xi8>
      memref.alloca_scope.return %2 : i8
    }
    affine.yield %1, %v : i8, i8
  }
  return %0#0, %0#1 : i8, i8
}
