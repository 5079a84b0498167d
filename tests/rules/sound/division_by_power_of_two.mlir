rewrite.rule @unsigned_division_by_power_of_two {
  %x = value
  %divisor = constant
  %quotient = op "arith.divui"(%x, %divisor)
  where "power_of_two"(%divisor)
  match %quotient
  %exponent = compute "log2"(%divisor)
  %amount = constant(%exponent)
  %shifted = op "arith.shrui"(%x, %amount)
  replace %shifted
}
