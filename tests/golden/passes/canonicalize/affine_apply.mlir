// RUN: gradus opt %s --canonicalize

// Constant maps and identity maps.
func.func @folds(%a: index) -> (index, index, index, index) {
  %c5 = arith.constant 5 : index
  %0 = affine.apply affine_map<(d0) -> (d0 * 2 + 1)>(%c5)
  %1 = affine.apply affine_map<(d0)[s0] -> (s0)>(%a)[%a]
  %2 = affine.apply affine_map<() -> (7)>()
  %3 = affine.apply affine_map<(d0) -> (d0 - d0)>(%a)
  return %0, %1, %2, %3 : index, index, index, index
}

// Chains of `affine.apply` are composed, constants are moved into the map, and duplicate operands are merged.
func.func @composes(%a: index, %b: index) -> (index, index, index) {
  %c4 = arith.constant 4 : index
  %0 = affine.apply affine_map<(d0)[s0] -> (d0 * 8 + s0)>(%a)[%b]
  %1 = affine.apply affine_map<(d0) -> (d0 floordiv 2)>(%0)
  %2 = affine.apply affine_map<(d0, d1, d2) -> (d0 + d1 + d2 * 3)>(%a, %a, %b)
  %3 = affine.apply affine_map<(d0)[s0] -> (d0 mod s0 + s0)>(%a)[%c4]
  return %1, %2, %3 : index, index, index
}

// Simplification by the ranges of induction variables.
func.func @ranges(%m: memref<64xindex>) {
  affine.for %i = 0 to 16 {
    affine.for %j = 0 to 64 step 4 {
      %0 = affine.apply affine_map<(d0) -> (d0 mod 16)>(%i)
      %1 = affine.apply affine_map<(d0) -> (d0 floordiv 16)>(%i)
      %2 = affine.apply affine_map<(d0) -> (d0 ceildiv 16)>(%i)
      %3 = affine.apply affine_map<(d0) -> (d0 mod 4)>(%j)
      %4 = affine.apply affine_map<(d0, d1) -> ((d0 * 16 + d1) floordiv 16)>(%j, %i)
      %5 = affine.apply affine_map<(d0, d1) -> ((d0 * 16 + d1) mod 16)>(%j, %i)
      affine.store %0, %m[%1] : memref<64xindex>
      affine.store %2, %m[%3] : memref<64xindex>
      affine.store %4, %m[%5] : memref<64xindex>
    }
  }
  return
}

// Division by zero or by a negative number is UB and stays.
func.func @undefined(%a: index) -> index {
  %c0 = arith.constant 0 : index
  %0 = affine.apply affine_map<(d0)[s0] -> (d0 mod s0)>(%a)[%c0]
  return %0 : index
}
