// Of integers, the quotient is rounded, and the product may overflow.
rewrite.rule @product_over_number {
  %x = value
  %y = value
  %z = value
  %product = op "arith.muli"(%x, %y)
  %quotient = op "arith.divsi"(%product, %z)
  match %quotient
  %part = op "arith.divsi"(%y, %z)
  %new = op "arith.muli"(%x, %part)
  replace %new
}
