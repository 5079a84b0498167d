// Two roots, of which the first stays.
rewrite.rule @or_from_and {
  %a = value
  %b = value
  %and = op "arith.andi"(%a, %b)
  %or = op "arith.ori"(%a, %b)
  match %and, %or
  %one_of_them = op "arith.xori"(%a, %b)
  %any_of_them = op "arith.xori"(%and, %one_of_them)
  replace %and, %any_of_them
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
