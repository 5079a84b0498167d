func.func @f(%x: f32) -> f32 {
  %0 = arith.addi %x, %x : f32
  return %0 : f32
}
