// RUN: gradus opt %s --inline
// Recursive and mutually recursive calls are not inlined.
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

// Calls of functions without a body and of functions marked `no_inline` stay.
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
