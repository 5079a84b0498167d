// A condition with a parameter.
rewrite.rule @three_bits {
  %x = value
  %seven = number 7.0
  %limit = constant
  %bits = op "arith.andi"(%x, %seven)
  %less = op "arith.cmpi"(%bits, %limit) {predicate = slt}
  where "at_least"(%limit) with {limit = 8 : i64}
  match %less
  %true = number 1.0
  replace %true
}
