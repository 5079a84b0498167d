func.func @fill(%lb: index, %ub: index, %m: memref<1xi32>, %v: i32) {
  affine.for %i = %lb to %ub {
    affine.store %v, %m[0] : memref<1xi32>
  }
  return
}
