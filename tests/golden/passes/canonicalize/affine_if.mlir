// RUN: gradus opt %s --canonicalize

// Constant conditions.
func.func @known(%x: index, %y: index) -> (index, index) {
  %c3 = arith.constant 3 : index
  %0 = affine.if affine_set<(d0) : (d0 - 2 >= 0)>(%c3) -> index {
    affine.yield %x : index
  } else {
    affine.yield %y : index
  }
  %1 = affine.if affine_set<() : (1 == 0)>() -> index {
    affine.yield %x : index
  } else {
    affine.yield %y : index
  }
  return %0, %1 : index, index
}

func.func @no_else(%m: memref<2xindex>, %x: index) {
  affine.if affine_set<() : (0 == 0)>() {
    affine.store %x, %m[0] : memref<2xindex>
  }
  affine.if affine_set<() : (-1 >= 0)>() {
    affine.store %x, %m[1] : memref<2xindex>
  }
  return
}

// An empty else region is erased; ops that compute operands are composed into the integer set.
func.func @simple(%m: memref<2xindex>, %x: index) {
  %0 = affine.apply affine_map<(d0) -> (d0 * 2 + 1)>(%x)
  affine.if affine_set<(d0, d1) : (d0 - 9 >= 0, d0 == 0)>(%0, %x) {
    affine.store %x, %m[0] : memref<2xindex>
  } else {
  }
  return
}

func.func @does_nothing(%x: index) {
  affine.if affine_set<(d0) : (d0 >= 0)>(%x) {
  }
  return
}
