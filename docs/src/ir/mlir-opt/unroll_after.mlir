#map = affine_map<()[s0, s1] -> (s0 + ((-s0 + s1) floordiv 4) * 4)>
module {
  func.func @fill(%arg0: index, %arg1: index, %arg2: memref<1xi32>, %arg3: i32) {
    affine.for %arg4 = %arg0 to #map()[%arg0, %arg1] step 4 {
      affine.store %arg3, %arg2[0] : memref<1xi32>
      affine.store %arg3, %arg2[0] : memref<1xi32>
      affine.store %arg3, %arg2[0] : memref<1xi32>
      affine.store %arg3, %arg2[0] : memref<1xi32>
    }
    affine.for %arg4 = #map()[%arg0, %arg1] to %arg1 {
      affine.store %arg3, %arg2[0] : memref<1xi32>
    }
    return
  }
}

