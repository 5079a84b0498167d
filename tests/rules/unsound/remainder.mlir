// A quotient that promises to be exact is poison where there is a remainder.
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
