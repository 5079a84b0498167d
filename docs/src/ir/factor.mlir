rewrite.rule @factor {
  %x = value
  %y = value
  %z = value
  %a = op "arith.muli"(%x, %y)
  %b = op "arith.muli"(%x, %z)
  %sum = op "arith.addi"(%a, %b)
  match %sum
  %inner = op "arith.addi"(%y, %z)
  %product = op "arith.muli"(%x, %inner)
  replace %product
}
rewrite.rule @associate {
  %x = value
  %y = value
  %z = value
  %a = op "arith.addi"(%x, %y)
  %b = op "arith.addi"(%a, %z)
  match %b
  %c = op "arith.addi"(%y, %z)
  %d = op "arith.addi"(%x, %c)
  replace %d
}
