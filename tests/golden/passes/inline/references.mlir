// RUN: gradus opt %s --inline
// A private function with other references stays.
func.func private @kept(%a: i32) -> i32 {
  return %a : i32
}
func.func @value() -> ((i32) -> i32) {
  %0 = func.constant @kept : (i32) -> i32
  return %0 : (i32) -> i32
}
func.func @call(%a: i32) -> i32 {
  %0 = call @kept(%a) : (i32) -> i32
  return %0 : i32
}
