func.func @f(%m: memref<10xf32>, %i: index) -> f32 {
  %j = arith.muli %i, %i : index
  %0 = affine.load %m[%j] : memref<10xf32>
  return %0 : f32
}
