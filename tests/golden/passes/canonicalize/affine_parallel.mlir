// RUN: gradus opt %s --canonicalize

// Ops that compute bounds are composed into the bound maps.
func.func @bounds(%n: i4, %m: memref<64xindex>) {
  %c3 = arith.constant 3 : index
  %s = arith.index_castui %n : i4 to index
  %0 = affine.apply affine_map<()[s0] -> (s0 * 2)>()[%s]
  affine.parallel (%i) = (%c3) to (%0 + 5) {
    affine.store %i, %m[%i] : memref<64xindex>
  }
  return
}

// A dimension with trip count 0.
func.func @never(%m: memref<64xindex>) {
  affine.parallel (%i, %j) = (0, 3) to (8, 3) {
    affine.store %i, %m[%j] : memref<64xindex>
  }
  return
}

func.func @never_reduced() -> (i32, f32) {
  %0:2 = affine.parallel (%i) = (5) to (2) reduce ("addi", "mulf") -> (i32, f32) {
    %1 = arith.index_cast %i : index to i32
    %2 = arith.sitofp %1 : i32 to f32
    affine.yield %1, %2 : i32, f32
  }
  return %0#0, %0#1 : i32, f32
}
