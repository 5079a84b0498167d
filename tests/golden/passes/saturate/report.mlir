// RUN: gradus opt %s --saturate=associate=false --saturate-report=-

// The program, followed by a report on each function.
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
rewrite.rule @associate {
  %x = value
  %y = value
  %z = value
  %a = op "arith.addi"(%x, %y)
  %b = op "arith.addi"(%a, %z)
  match %b
  %c = op "arith.addi"(%y, %z)
  %d = op "arith.addi"(%x, %c)
  replace %d
}

// The common factor is found after the sums are proved equal, a change deep below the root.
func.func @later(%a: i32, %b: i32, %c: i32, %d: i32, %e: i32) -> i32 {
  %0 = arith.addi %a, %b : i32
  %1 = arith.addi %0, %c : i32
  %2 = arith.addi %b, %c : i32
  %3 = arith.addi %a, %2 : i32
  %4 = arith.muli %1, %d : i32
  %5 = arith.muli %3, %e : i32
  %6 = arith.addi %4, %5 : i32
  return %6 : i32
}

// No rule applies.
func.func @cheap(%a: i32, %b: i32) -> i32 {
  %0 = arith.muli %a, %b : i32
  return %0 : i32
}

// Constants are folded in the e-graph.
func.func @constants(%a: i32) -> i32 {
  %c7_i32 = arith.constant 7 : i32
  %c5_i32 = arith.constant 5 : i32
  %0 = arith.addi %a, %c7_i32 : i32
  %1 = arith.addi %0, %c5_i32 : i32
  return %1 : i32
}

// Congruence: products of equal factors are equal.
func.func @twins(%a: i32, %b: i32, %c: i32, %d: i32) -> (i32, i32) {
  %0 = arith.addi %a, %b : i32
  %1 = arith.addi %0, %c : i32
  %2 = arith.addi %b, %c : i32
  %3 = arith.addi %a, %2 : i32
  %4 = arith.muli %1, %d : i32
  %5 = arith.muli %3, %d : i32
  return %4, %5 : i32, i32
}
