// RUN: gradus opt %s --canonicalize
// Two negations cancel.
func.func @mulf(%a: f32, %b: f32) -> f32 {
  %0 = arith.negf %a : f32
  %1 = arith.negf %b : f32
  %2 = arith.mulf %0, %1 : f32
  return %2 : f32
}
func.func @divf(%a: f32, %b: f32) -> f32 {
  %0 = arith.negf %a : f32
  %1 = arith.negf %b : f32
  %2 = arith.divf %0, %1 : f32
  return %2 : f32
}
