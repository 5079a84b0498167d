// The next integer is greater only if the sum does not overflow, which nobody promises here.
rewrite.rule @next_is_greater {
  %x = value
  %one = number 1.0
  %next = op "arith.addi"(%x, %one)
  %greater = op "arith.cmpi"(%next, %x) {predicate = sgt}
  match %greater
  %true = number 1.0
  replace %true
}
