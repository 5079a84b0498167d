func.func @larger(%x: f32) -> f32 {
  %zero = arith.constant -0.0 : f32
  %r = arith.maximumf %x, %zero : f32
  return %r : f32
}
