// A shift rounds down, a division towards zero: this holds for numbers that are not negative.
rewrite.rule @signed_division_by_power_of_two {
  %x = value
  %divisor = constant
  %quotient = op "arith.divsi"(%x, %divisor)
  where "power_of_two"(%divisor)
  match %quotient
  %exponent = compute "log2"(%divisor)
  %amount = constant(%exponent)
  %shifted = op "arith.shrsi"(%x, %amount)
  replace %shifted
}
