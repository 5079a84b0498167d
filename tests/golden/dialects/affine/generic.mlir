// RUN: gradus opt %s --mlir-print-op-generic

func.func @loops(%n: index, %x: index, %m: memref<8x8xindex>) -> index {
  %0 = affine.for %i = max affine_map<()[s0] -> (s0, 0)>()[%n] to 8 step 2 iter_args(%a = %x) -> (index) {
    %1 = affine.load %m[%i, symbol(%n) mod 8] : memref<8x8xindex>
    %2 = affine.min affine_map<(d0)[s0] -> (d0, s0)>(%i)[%n]
    %3 = arith.addi %1, %2 : index
    %4 = arith.addi %3, %a : index
    affine.yield %4 : index
  }
  affine.parallel (%i, %j) = (0, max(0, symbol(%n))) to (8, 8) step (1, 2) {
    affine.if affine_set<(d0, d1) : (d0 - d1 >= 0)>(%i, %j) {
      affine.store %i, %m[%i, %j] : memref<8x8xindex>
    }
  }
  %5:2 = affine.delinearize_index %0 into (3) : index, index
  %6 = affine.linearize_index disjoint [%5#0, %5#1] by (3) : index
  return %6 : index
}
