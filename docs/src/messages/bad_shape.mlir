func.func @f(%x: memref<4 x 8 x f32>, %y: memref<4, 8, f32>) {
  return
}
