// RUN: gradus opt %s

func.func @empty() {
  return
}
func.func @two(%a: i32, %b: f32) -> (f32, i32) {
  return %b, %a : f32, i32
}
func.func private @declared(i32, memref<4xf32>) -> tensor<2xi8>
func.func nested @visible()
func.func @"quoted name"() {
  return
}
func.func @attributes() -> i32 attributes {x.cost = 3 : i64, no_inline} {
  %c = arith.constant 1 : i32
  return %c : i32
}
