module {
  func.func @fill(%arg0: index, %arg1: memref<1xi8>, %arg2: i8) {
    affine.store %arg2, %arg1[0] : memref<1xi8>
    affine.for %arg3 = 0 to %arg0 {
    }
    return
  }
}

