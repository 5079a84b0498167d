// RUN: gradus opt %s --canonicalize

// x + 0 is not x when x is -0, and x - x is not 0 when x is infinite: these stay.
func.func @signs(%a: f32) -> (f32, f32, f32, f32) {
  %p = arith.constant 0.0 : f32
  %n = arith.constant -0.0 : f32
  %0 = arith.addf %a, %p : f32
  %1 = arith.addf %a, %n : f32
  %2 = arith.subf %a, %p : f32
  %3 = arith.subf %a, %a : f32
  return %0, %1, %2, %3 : f32, f32, f32, f32
}
func.func @one(%a: f64) -> (f64, f64, f64) {
  %c = arith.constant 1.0 : f64
  %0 = arith.mulf %a, %c : f64
  %1 = arith.divf %a, %c : f64
  %2 = arith.mulf %c, %a : f64
  return %0, %1, %2 : f64, f64, f64
}
func.func @twice(%a: f16) -> (f16, f16) {
  %0 = arith.negf %a : f16
  %1 = arith.negf %0 : f16
  %2 = arith.maximumf %a, %a : f16
  return %1, %2 : f16, f16
}
