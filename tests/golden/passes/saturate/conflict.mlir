// RUN: gradus opt %s --split-input-file --verify-diagnostics --saturate

// Two rules that contradict each other, of which one is right.
rewrite.rule @right {
  %x = value
  %sum = op "arith.addi"(%x, %x)
  match %sum
  %two = number 2.0
  %product = op "arith.muli"(%x, %two)
  replace %product
}
rewrite.rule @wrong {
  %x = value
  %sum = op "arith.addi"(%x, %x)
  match %sum
  %three = number 3.0
  %product = op "arith.muli"(%x, %three)
  replace %product
}
// expected-error@+3 {{rules make 10 : i32 equal to 15 : i32; one of 'right', 'wrong' is wrong}}
// expected-note@+2 {{by rule 'right': arith.addi(5 : i32, 5 : i32) = 10 : i32}}
// expected-note@+1 {{by rule 'wrong': arith.addi(5 : i32, 5 : i32) = 15 : i32}}
func.func @double() -> i32 {
  %c5 = arith.constant 5 : i32
  %0 = arith.addi %c5, %c5 : i32
  return %0 : i32
}

// -----

// Subtraction is not commutative.
rewrite.rule @sum_is_difference {
  %x = value
  %y = value
  %sum = op "arith.addi"(%x, %y)
  match %sum
  %difference = op "arith.subi"(%x, %y)
  replace %difference
}
// expected-error@+3 {{rule 'sum_is_difference' makes -2 : i32 equal to 2 : i32}}
// expected-note@+2 {{by rule 'sum_is_difference': arith.addi(5 : i32, 3 : i32) = -2 : i32}}
// expected-note@+1 {{by rule 'sum_is_difference': arith.addi(5 : i32, 3 : i32) = 2 : i32}}
func.func @alone(%a: i32) -> i32 {
  %c5 = arith.constant 5 : i32
  %c3 = arith.constant 3 : i32
  %0 = arith.addi %c5, %c3 : i32
  return %0 : i32
}
