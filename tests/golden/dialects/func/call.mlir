// RUN: gradus opt %s --canonicalize

func.func private @callee(i32, f32) -> (f32, i32)
func.func private @nothing()
func.func @direct(%a: i32, %b: f32) -> f32 {
  %0:2 = call @callee(%a, %b) : (i32, f32) -> (f32, i32)
  func.call @nothing() {x.hint = "cold"} : () -> ()
  return %0#0 : f32
}
func.func @indirect(%a: i32, %b: f32) -> f32 {
  %f = constant @callee : (i32, f32) -> (f32, i32)
  %0:2 = call_indirect %f(%a, %b) : (i32, f32) -> (f32, i32)
  return %0#0 : f32
}
