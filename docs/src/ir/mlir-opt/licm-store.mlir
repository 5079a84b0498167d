func.func @fill(%n: index, %m: memref<1xi8>, %v: i8) {
  affine.for %i = 0 to %n {
    affine.store %v, %m[0] : memref<1xi8>
  }
  return
}
