// RUN: gradus opt %s --saturate

rewrite.rule @common_factor {
  %x = value
  %y = value
  %z = value
  %a = op "arith.muli"(%x, %y)
  %b = op "arith.muli"(%x, %z)
  %sum = op "arith.addi"(%a, %b)
  match %sum
  %inner = op "arith.addi"(%y, %z)
  %product = op "arith.muli"(%x, %inner)
  replace %product
}

// Sums of the same operands in any order are one class.
func.func @order(%a: i32, %b: i32, %c: i32, %d: i32, %e: i32) -> (i32, i32) {
  %0 = arith.addi %a, %b : i32
  %1 = arith.addi %0, %c : i32
  %2 = arith.addi %1, %d : i32
  %3 = arith.addi %2, %e : i32
  %4 = arith.addi %e, %c : i32
  %5 = arith.addi %d, %a : i32
  %6 = arith.addi %4, %5 : i32
  %7 = arith.addi %b, %6 : i32
  return %3, %7 : i32, i32
}

// Common parts of two sums are computed once.
func.func @common(%a: i32, %b: i32, %c: i32, %d: i32, %e: i32, %f: i32) -> (i32, i32) {
  %0 = arith.maxsi %a, %b : i32
  %1 = arith.maxsi %0, %c : i32
  %2 = arith.maxsi %1, %d : i32
  %3 = arith.maxsi %2, %e : i32
  %4 = arith.maxsi %f, %e : i32
  %5 = arith.maxsi %4, %c : i32
  %6 = arith.maxsi %5, %b : i32
  return %3, %6 : i32, i32
}

// Constants are grouped and folded.
func.func @constants(%a: i32, %b: i32) -> i32 {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %0 = arith.addi %a, %c1 : i32
  %1 = arith.addi %0, %b : i32
  %2 = arith.addi %1, %c2 : i32
  return %2 : i32
}

// Rules match any two operands of a short sum.
func.func @polynomial(%a: i32, %b: i32, %c: i32, %d: i32, %x: i32) -> i32 {
  %xx = arith.muli %x, %x : i32
  %xxx = arith.muli %xx, %x : i32
  %0 = arith.muli %a, %xxx : i32
  %1 = arith.muli %b, %xx : i32
  %2 = arith.muli %c, %x : i32
  %3 = arith.addi %0, %1 : i32
  %4 = arith.addi %3, %2 : i32
  %5 = arith.addi %4, %d : i32
  return %5 : i32
}

// Not regrouped: `nsw` holds for the given sums only.
func.func @promises(%a: i32, %b: i32) -> i32 {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %0 = arith.addi %a, %c1 overflow<nsw> : i32
  %1 = arith.addi %0, %b overflow<nsw> : i32
  %2 = arith.addi %1, %c2 overflow<nsw> : i32
  return %2 : i32
}

// Float sums are not associative.
func.func @floats(%a: f32, %b: f32, %c: f32) -> (f32, f32) {
  %0 = arith.addf %a, %b : f32
  %1 = arith.addf %0, %c : f32
  %2 = arith.addf %b, %c : f32
  %3 = arith.addf %2, %a : f32
  return %1, %3 : f32, f32
}
