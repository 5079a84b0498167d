// What is not negative by the ops that compute it is shifted instead of divided: sums and products of what has few bits, and
// what is between two numbers.
rewrite.rule @weighted_sum {
  %t = type
  %x = value
  %y = value
  %a = constant
  %b = constant
  %divisor = constant
  %wide = op "arith.extui"(%x) : %t
  %wide_too = op "arith.andi"(%y, %b)
  %product = op "arith.muli"(%wide, %a)
  %sum = op "arith.addi"(%product, %wide_too)
  %quotient = op "arith.divsi"(%sum, %divisor)
  where "not_negative"(%sum)
  match %quotient
  %exponent = compute "log2"(%divisor)
  %amount = constant(%exponent)
  %shifted = op "arith.shrsi"(%sum, %amount)
  replace %shifted
}
rewrite.rule @difference {
  %x = value
  %a = constant
  %b = constant
  %c = constant
  %divisor = constant
  %low = op "arith.maxsi"(%x, %a)
  %between = op "arith.minsi"(%low, %b)
  %difference = op "arith.subi"(%between, %c)
  %quotient = op "arith.divsi"(%difference, %divisor)
  where "not_negative"(%difference)
  match %quotient
  %exponent = compute "log2"(%divisor)
  %amount = constant(%exponent)
  %shifted = op "arith.shrsi"(%difference, %amount)
  replace %shifted
}
rewrite.rule @bits {
  %x = value
  %y = value
  %a = constant
  %b = constant
  %divisor = constant
  %rest = op "arith.remui"(%x, %a)
  %part = op "arith.shrui"(%y, %b)
  %either = op "arith.xori"(%rest, %part)
  %quotient = op "arith.divsi"(%either, %divisor)
  where "not_negative"(%either)
  match %quotient
  %exponent = compute "log2"(%divisor)
  %amount = constant(%exponent)
  %shifted = op "arith.shrsi"(%either, %amount)
  replace %shifted
}
