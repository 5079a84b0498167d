#map = affine_map<()[s0] -> (s0)>
#map1 = affine_map<(d0)[s0] -> (d0 * s0)>
#map2 = affine_map<(d0)[s0] -> (d0 mod s0)>
#map3 = affine_map<(d0)[s0] -> (d0 floordiv s0)>
module {
  func.func @count(%arg0: index, %arg1: index, %arg2: memref<1xi32>) {
    %c1_i32 = arith.constant 1 : i32
    %0 = affine.apply #map()[%arg0]
    %1 = affine.apply #map()[%arg1]
    %2 = affine.apply #map1(%0)[%1]
    affine.for %arg3 = 0 to %2 {
      %3 = affine.apply #map2(%arg3)[%1]
      %4 = affine.apply #map3(%arg3)[%1]
      %5 = affine.load %arg2[0] : memref<1xi32>
      %6 = arith.addi %5, %c1_i32 : i32
      affine.store %6, %arg2[0] : memref<1xi32>
    }
    return
  }
}

