// RUN: gradus opt %s

func.func @matrix(%m: memref<2x3xi32>, %i: index, %j: index) -> i32 {
  %0 = memref.transpose %m (r, c) -> (c, r) : memref<2x3xi32> to memref<3x2xi32, strided<[1, 3]>>
  %1 = memref.load %0[%j, %i] : memref<3x2xi32, strided<[1, 3]>>
  return %1 : i32
}

// Strided layouts may be written as affine maps.
func.func @cube(%m: memref<?x?x?xf32>, %i: index) -> f32 {
  %0 = memref.transpose %m (d0, d1, d2) -> (d1, d2, d0) {note} : memref<?x?x?xf32> to memref<?x?x?xf32, affine_map<(d0, d1, d2)[s0, s1] -> (d2 * s1 + d0 * s0 + d1)>>
  %1 = memref.load %0[%i, %i, %i] : memref<?x?x?xf32, affine_map<(d0, d1, d2)[s0, s1] -> (d2 * s1 + d0 * s0 + d1)>>
  return %1 : f32
}

func.func @scalar(%m: memref<f32>) -> memref<f32> {
  %0 = memref.transpose %m () -> () : memref<f32> to memref<f32>
  return %0 : memref<f32>
}
