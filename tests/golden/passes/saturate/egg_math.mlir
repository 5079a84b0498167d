// RUN: gradus opt %s --saturate

// The arithmetic tests of egg, on wrapping integers. Where the expected result is no cheaper than the input, a
// function returns both: they are merged into one value.

rewrite.rule @one {
  %x = value
  %one = number 1.0
  %product = op "arith.muli"(%x, %one)
  match %product
  replace %x
}

// Sums created by rules are regrouped by a rule.
rewrite.rule @associate {
  %x = value
  %y = value
  %z = value
  %left = op "arith.addi"(%x, %y)
  %sum = op "arith.addi"(%left, %z)
  match %sum
  %right = op "arith.addi"(%y, %z)
  %same = op "arith.addi"(%x, %right)
  replace %same
}

rewrite.rule @double {
  %x = value
  %sum = op "arith.addi"(%x, %x)
  match %sum
  %two = number 2.0
  %product = op "arith.muli"(%x, %two)
  replace %product
}

rewrite.rule @once_more {
  %x = value
  %a = constant
  %product = op "arith.muli"(%x, %a)
  %sum = op "arith.addi"(%product, %x)
  match %sum
  %one = number 1.0
  %more = op "arith.addi"(%a, %one)
  %whole = op "arith.muli"(%x, %more)
  replace %whole
}

rewrite.rule @once_less {
  %x = value
  %a = constant
  %product = op "arith.muli"(%x, %a)
  %difference = op "arith.subi"(%product, %x)
  match %difference
  %one = number 1.0
  %less = op "arith.subi"(%a, %one)
  %whole = op "arith.muli"(%x, %less)
  replace %whole
}

rewrite.rule @factor {
  %x = value
  %a = value
  %b = value
  %left = op "arith.muli"(%x, %a)
  %right = op "arith.muli"(%x, %b)
  %sum = op "arith.addi"(%left, %right)
  match %sum
  %both = op "arith.addi"(%a, %b)
  %product = op "arith.muli"(%x, %both)
  replace %product
}

rewrite.rule @distribute {
  %x = value
  %a = value
  %b = value
  %sum = op "arith.addi"(%a, %b)
  %product = op "arith.muli"(%x, %sum)
  match %product
  %left = op "arith.muli"(%x, %a)
  %right = op "arith.muli"(%x, %b)
  %both = op "arith.addi"(%left, %right)
  replace %both
}

// Sums are equal in any order.
func.func @associate_adds(%a: i32, %b: i32, %c: i32, %d: i32, %e: i32, %f: i32, %g: i32) -> (i32, i32) {
  %0 = arith.addi %f, %g : i32
  %1 = arith.addi %e, %0 : i32
  %2 = arith.addi %d, %1 : i32
  %3 = arith.addi %c, %2 : i32
  %4 = arith.addi %b, %3 : i32
  %5 = arith.addi %a, %4 : i32
  %6 = arith.addi %b, %a : i32
  %7 = arith.addi %c, %6 : i32
  %8 = arith.addi %d, %7 : i32
  %9 = arith.addi %e, %8 : i32
  %10 = arith.addi %f, %9 : i32
  %11 = arith.addi %g, %10 : i32
  return %5, %11 : i32, i32
}

// x + (x + (x + x)) = 4x
func.func @simplify_add(%x: i32) -> i32 {
  %0 = arith.addi %x, %x : i32
  %1 = arith.addi %x, %0 : i32
  %2 = arith.addi %x, %1 : i32
  return %2 : i32
}

// 2x - x = x
func.func @twice_less_once(%x: i32) -> i32 {
  %c2 = arith.constant 2 : i32
  %0 = arith.muli %x, %c2 : i32
  %1 = arith.subi %0, %x : i32
  return %1 : i32
}

// ab + ac = a(b + c)
func.func @common_factor(%a: i32, %b: i32, %c: i32) -> i32 {
  %0 = arith.muli %a, %b : i32
  %1 = arith.muli %a, %c : i32
  %2 = arith.addi %0, %1 : i32
  return %2 : i32
}

// (x + 3)(x + 1) = xx + 4x + 3
func.func @simplify_factor(%x: i32) -> (i32, i32) {
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : i32
  %0 = arith.addi %x, %c3 : i32
  %1 = arith.addi %x, %c1 : i32
  %2 = arith.muli %0, %1 : i32
  %3 = arith.muli %x, %x : i32
  %4 = arith.muli %x, %c4 : i32
  %5 = arith.addi %3, %4 : i32
  %6 = arith.addi %5, %c3 : i32
  return %2, %6 : i32, i32
}

// (x + 1)(x + 1) = xx + 2x + 1
func.func @square(%x: i32) -> (i32, i32) {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %0 = arith.addi %x, %c1 : i32
  %1 = arith.muli %0, %0 : i32
  %2 = arith.muli %x, %x : i32
  %3 = arith.muli %x, %c2 : i32
  %4 = arith.addi %2, %3 : i32
  %5 = arith.addi %4, %c1 : i32
  return %1, %5 : i32, i32
}
