// RUN: gradus opt %s --inline
// A function is not put into itself, nor are two that call each other.
func.func @recursive(%a: i32) -> i32 {
  %0 = call @recursive(%a) : (i32) -> i32
  return %0 : i32
}
func.func @user(%a: i32) -> i32 {
  %0 = call @recursive(%a) : (i32) -> i32
  return %0 : i32
}
func.func @ping(%a: i32) -> i32 {
  %0 = call @pong(%a) : (i32) -> i32
  return %0 : i32
}
func.func @pong(%a: i32) -> i32 {
  %0 = call @ping(%a) : (i32) -> i32
  return %0 : i32
}

// -----

// Functions without a body, and what says so, stay calls.
func.func private @external(i32) -> i32
func.func @marked(%a: i32) -> i32 attributes {no_inline} {
  return %a : i32
}
func.func @plain(%a: i32) -> i32 {
  return %a : i32
}
func.func @calls(%a: i32) -> i32 {
  %0 = call @external(%a) : (i32) -> i32
  %1 = call @marked(%0) : (i32) -> i32
  %2 = call @plain(%1) {no_inline} : (i32) -> i32
  return %2 : i32
}
