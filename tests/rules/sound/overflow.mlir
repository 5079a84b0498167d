rewrite.rule @next_is_greater {
  %t = type
  %x = value : %t
  %one = number 1.0
  %next = op "arith.addi"(%x, %one) {overflowFlags = #arith.overflow<nsw>}
  %greater = op "arith.cmpi"(%next, %x) {predicate = sgt}
  where "not_i1"(%t)
  match %greater
  %true = number 1.0
  replace %true
}
