#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0) -> (d0 + 2, 4)>
#map2 = affine_map<(d0) -> (d0 + 2, 3)>
module {
  func.func @shift(%arg0: memref<4x4xi8>, %arg1: memref<4x4xi8>) {
    affine.for %arg2 = 1 to 4 step 2 {
      affine.for %arg3 = 0 to 3 step 2 {
        affine.for %arg4 = #map(%arg2) to min #map1(%arg2) {
          affine.for %arg5 = #map(%arg3) to min #map2(%arg3) {
            %0 = affine.load %arg0[%arg4 - 1, %arg5 + 1] : memref<4x4xi8>
            affine.store %0, %arg1[%arg4, %arg5] : memref<4x4xi8>
          }
        }
      }
    }
    return
  }
}

