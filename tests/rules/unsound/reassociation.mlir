// Sums of floats are rounded in the order in which they are written.
rewrite.rule @reassociate {
  %a = value
  %b = value
  %c = value
  %first = op "arith.addf"(%a, %b)
  %sum = op "arith.addf"(%first, %c)
  match %sum
  %last = op "arith.addf"(%b, %c)
  %new = op "arith.addf"(%a, %last)
  replace %new
}
