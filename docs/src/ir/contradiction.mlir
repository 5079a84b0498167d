rewrite.rule @sum_is_difference {
  %x = value
  %y = value
  %sum = op "arith.addi"(%x, %y)
  match %sum
  %difference = op "arith.subi"(%x, %y)
  replace %difference
}
func.func @two() -> i32 {
  %c5 = arith.constant 5 : i32
  %c3 = arith.constant 3 : i32
  %0 = arith.addi %c5, %c3 : i32
  return %0 : i32
}
