// RUN: gradus opt %s --lower-affine

func.func @conditions(%i: index, %n: index, %m: memref<4xindex>) -> index {
  affine.if affine_set<(d0)[s0] : (d0 >= 0, s0 - d0 - 1 >= 0, d0 mod 2 == 0)>(%i)[%n] {
    affine.store %i, %m[0] : memref<4xindex>
  }
  affine.if affine_set<(d0) : (d0 - 3 == 0)>(%i) {
    affine.store %i, %m[1] : memref<4xindex>
  } else {
    affine.store %n, %m[2] : memref<4xindex>
  }
  %0 = affine.if affine_set<()[s0] : (s0 >= 0)>()[%n] -> index {
    affine.yield %i : index
  } else {
    %1 = affine.apply affine_map<()[s0] -> (-s0)>()[%n]
    affine.yield %1 : index
  }
  return %0 : index
}

func.func @inside(%m: memref<8xindex>) {
  affine.for %i = 0 to 8 {
    affine.if affine_set<(d0) : (d0 - 4 >= 0)>(%i) {
      affine.store %i, %m[%i] : memref<8xindex>
    }
  }
  return
}
