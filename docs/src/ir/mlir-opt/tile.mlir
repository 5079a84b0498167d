func.func @shift(%a: memref<4x4xi8>, %b: memref<4x4xi8>) {
  affine.for %i = 1 to 4 {
    affine.for %j = 0 to 3 {
      %v = affine.load %a[%i - 1, %j + 1] : memref<4x4xi8>
      affine.store %v, %b[%i, %j] : memref<4x4xi8>
    }
  }
  return
}
