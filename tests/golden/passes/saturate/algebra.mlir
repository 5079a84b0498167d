// RUN: gradus opt %s --saturate --canonicalize

// Rules that a greedy driver does not dare to apply, since they only pay together.
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

func.func @factor(%a: i32, %b: i32, %c: i32) -> i32 {
  %0 = arith.muli %a, %b : i32
  %1 = arith.muli %a, %c : i32
  %2 = arith.addi %0, %1 : i32
  return %2 : i32
}

// Products that are not neighbours.
func.func @three(%a: i32, %b: i32, %c: i32, %d: i32, %e: i32) -> i32 {
  %0 = arith.muli %a, %b : i32
  %1 = arith.addi %0, %e : i32
  %2 = arith.muli %c, %a : i32
  %3 = arith.addi %1, %2 : i32
  %4 = arith.muli %d, %a : i32
  %5 = arith.addi %3, %4 : i32
  return %5 : i32
}

// What is used elsewhere as well is there anyway: this is as cheap as it gets.
func.func @shared(%a: i32, %b: i32, %c: i32) -> (i32, i32, i32) {
  %0 = arith.muli %a, %b : i32
  %1 = arith.muli %a, %c : i32
  %2 = arith.addi %0, %1 : i32
  return %0, %1, %2 : i32, i32, i32
}

// Promises are kept: nothing is known of the sum of the others.
func.func @promise(%a: i32, %b: i32, %c: i32) -> i32 {
  %0 = arith.muli %a, %b overflow<nsw> : i32
  %1 = arith.muli %a, %c : i32
  %2 = arith.addi %0, %1 : i32
  return %2 : i32
}
