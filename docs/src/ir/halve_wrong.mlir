rewrite.rule @halve {
  %x = value
  %two = number 2.0
  %half = op "arith.divsi"(%x, %two)
  match %half
  %one = number 1.0
  %shifted = op "arith.shrsi"(%x, %one)
  replace %shifted
}
