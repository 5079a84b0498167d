func.func @f(%m: memref<4x4xf32, strided<[4], offset: 0>>) {
  return
}
