// RUN: gradus opt %s --affine-loop-tile="tile-size=4 separate"

// Full tiles have loops of their own.
func.func @unknown(%m: memref<16x16xindex>, %n: i4, %k: i4) {
  %a = arith.index_castui %n : i4 to index
  %b = arith.index_castui %k : i4 to index
  affine.for %i = 0 to %a {
    affine.for %j = %a to min affine_map<()[s0, s1] -> (s0, s1 * 2)>()[%b, %a] {
      affine.store %i, %m[%i, %j] : memref<16x16xindex>
    }
  }
  return
}

// All tiles full in one dimension, a single tile in another; steps other than 1.
func.func @partly(%m: memref<16x16x16xindex>) {
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 11 step 2 {
      affine.for %k = 1 to 3 {
        affine.store %i, %m[%i, %j, %k] : memref<16x16x16xindex>
      }
    }
  }
  return
}

// All tiles are full, so that there is only one version.
func.func @full(%m: memref<8xindex>) {
  affine.for %i = 0 to 8 {
    affine.store %i, %m[%i] : memref<8xindex>
  }
  return
}

// The body is cloned into both versions.
func.func @body(%m: memref<10x3xindex>) {
  affine.for %i = 0 to 10 {
    affine.for %j = 0 to 3 {
      %0 = affine.load %m[%i, %j] : memref<10x3xindex>
      %1 = arith.addi %0, %i : index
      affine.store %1, %m[%i, %j] : memref<10x3xindex>
    }
    affine.for %j = 0 to 3 {
      affine.store %j, %m[%i, %j] : memref<10x3xindex>
    }
  }
  return
}
