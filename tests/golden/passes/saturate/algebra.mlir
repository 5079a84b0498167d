// RUN: gradus opt %s --saturate --canonicalize

// Two rules that lower the cost only together.
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

// Factoring of products that are not adjacent.
func.func @three(%a: i32, %b: i32, %c: i32, %d: i32, %e: i32) -> i32 {
  %0 = arith.muli %a, %b : i32
  %1 = arith.addi %0, %e : i32
  %2 = arith.muli %c, %a : i32
  %3 = arith.addi %1, %2 : i32
  %4 = arith.muli %d, %a : i32
  %5 = arith.addi %3, %4 : i32
  return %5 : i32
}

// Products with other uses have to be computed anyway, so that factoring does not pay.
func.func @shared(%a: i32, %b: i32, %c: i32) -> (i32, i32, i32) {
  %0 = arith.muli %a, %b : i32
  %1 = arith.muli %a, %c : i32
  %2 = arith.addi %0, %1 : i32
  return %0, %1, %2 : i32, i32, i32
}

// `nsw` is not transferred to the factored sum.
func.func @promise(%a: i32, %b: i32, %c: i32) -> i32 {
  %0 = arith.muli %a, %b overflow<nsw> : i32
  %1 = arith.muli %a, %c : i32
  %2 = arith.addi %0, %1 : i32
  return %2 : i32
}
