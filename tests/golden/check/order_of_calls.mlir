// RUN: not gradus check %s --pass-pipeline='builtin.module(scf-parallel-loop-tiling{parallel-loop-tile-sizes=2,2})' 2>&1 | FileCheck %s

// The order of the iterations of a parallel loop, and of the calls that they make, is not determined.
// CHECK: inconclusive for 1 of 1 functions
func.func @calls(%m: memref<4x4xi8>, %to: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%c4, %c4) step (%c1, %c1) {
    %0 = memref.load %m[%i, %j] : memref<4x4xi8>
    func.call @use(%0) : (i8) -> ()
    scf.reduce
  }
  return
}
func.func private @use(i8)
