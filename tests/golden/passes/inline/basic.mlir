// RUN: gradus opt %s --inline
// A private function is erased when its last call is inlined.
func.func private @square(%a: i32) -> i32 {
  %0 = arith.muli %a, %a : i32
  return %0 : i32
}
func.func @fourth(%a: i32) -> i32 {
  %0 = call @square(%a) : (i32) -> i32
  %1 = call @square(%0) : (i32) -> i32
  return %1 : i32
}
func.func private @unused() {
  return
}

// -----

// Callees are processed first, so chains are inlined as a whole; each function is canonicalized before it is inlined.
func.func @one() -> i32 {
  %c1 = arith.constant 1 : i32
  return %c1 : i32
}
func.func @two() -> i32 {
  %0 = call @one() : () -> i32
  %1 = call @one() : () -> i32
  %2 = arith.addi %0, %1 : i32
  return %2 : i32
}
func.func @four() -> i32 {
  %0 = call @two() : () -> i32
  %1 = call @two() : () -> i32
  %2 = arith.addi %0, %1 : i32
  return %2 : i32
}
