func.func @f(%m: memref<8x8xf32>) -> memref<4x4xf32, strided<[4, 1]>> {
  %0 = memref.subview %m[0, 0] [4, 4] [1, 1] : memref<8x8xf32> to memref<4x4xf32, strided<[4, 1]>>
  return %0 : memref<4x4xf32, strided<[4, 1]>>
}
