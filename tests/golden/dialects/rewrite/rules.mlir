// RUN: gradus opt %s

// All constructs of `rewrite.rule`.
rewrite.rule @everything benefit(3) approx attributes {note = "x"} {
  %t = type
  %i32 = type : i32
  %any = value
  %x = value : %t
  %c = constant : %t
  %zero = number 0.0 : %t
  %p = attribute
  %a = op "arith.addi"(%x, %c) {overflowFlags = %p} : %t
  %b = op "arith.addi"(%a, %zero) {overflowFlags = #arith.overflow<nsw>}
  %d = op "arith.cmpi"(%b, %any) {predicate = slt}
  where "i1"(%t)
  where "not_narrower_int"(%t, %x)
  match %d
  %k = compute "unsigned"(%p)
  %l = compute "log2"(%c)
  %new = constant(%l) : %t
  %f = op "arith.cmpi"(%x, %new) {predicate = %k}
  replace %f
}

// Several roots, and several results.
rewrite.rule @several {
  %t = type
  %bool = type
  %x = value : %t
  %y = value
  %sum:2 = op "arith.addui_extended"(%x, %y) : %t, %bool
  %other = op "arith.muli"(%x, %y)
  match %sum, %other
  %zero = number 0.0
  replace %x, %zero, %other
}
