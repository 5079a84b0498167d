// Two roots, of which the first stays.
rewrite.rule @remainder_from_quotient {
  %a = value
  %b = value
  %quotient = op "arith.divui"(%a, %b)
  %remainder = op "arith.remui"(%a, %b)
  match %quotient, %remainder
  %product = op "arith.muli"(%quotient, %b)
  %difference = op "arith.subi"(%a, %product)
  replace %quotient, %difference
}

// An op with two results.
rewrite.rule @add_nothing {
  %t = type
  %bool = type
  %x = value : %t
  %zero = number 0.0
  %sum:2 = op "arith.addui_extended"(%x, %zero) : %t, %bool
  match %sum
  %false = number 0.0
  replace %x, %false
}
