// RUN: gradus opt %s --lower-affine

func.func @bounds(%n: i4, %m: memref<64xindex>) {
  %s = arith.index_cast %n : i4 to index
  affine.for %i = 2 to 11 step 3 {
    affine.store %i, %m[%i] : memref<64xindex>
  }
  affine.for %i = max affine_map<()[s0] -> (s0, 0)>()[%s] to min affine_map<()[s0] -> (s0 * 2, 12)>()[%s] {
    affine.store %i, %m[%i + 1] : memref<64xindex>
  }
  affine.for %i = 0 to 4 {
    affine.for %j = affine_map<(d0) -> (d0)>(%i) to affine_map<(d0) -> (d0 + 4)>(%i) {
      affine.store %j, %m[%i * 8 + %j] : memref<64xindex>
    }
  }
  return
}

func.func @carried(%x: index, %y: index) -> (index, index) {
  %0:2 = affine.for %i = 0 to 5 iter_args(%a = %x, %b = %y) -> (index, index) {
    %1 = arith.addi %a, %i : index
    affine.yield %b, %1 : index, index
  }
  return %0#0, %0#1 : index, index
}

func.func @never(%x: index) -> index {
  %0 = affine.for %i = 5 to 5 iter_args(%a = %x) -> (index) {
    %1 = arith.addi %a, %i : index
    affine.yield %1 : index
  }
  return %0 : index
}
