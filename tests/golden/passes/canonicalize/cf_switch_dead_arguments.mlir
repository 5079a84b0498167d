// RUN: gradus opt %s --canonicalize --allow-unregistered-dialect
// Dead block arguments are erased, also those passed by the cases of a switch, whose segment sizes are updated.
func.func @rounds(%flag: i32, %c: i1) {
  %true = arith.constant true
  cf.br ^head(%true : i1)
^head(%a: i1):
  cf.cond_br %c, ^left(%a : i1), ^right(%a : i1)
^left(%b: i1):
  cf.switch %flag : i32, [
    default: ^head(%b : i1),
    42: ^right(%b : i1)
  ]
^right(%d: i1):
  cf.switch %flag : i32, [
    default: ^left(%d : i1),
    41: ^head(%d : i1)
  ]
}

// The first argument is dead; one case passes an operand for it twice.
func.func @second(%flag: i32, %x: i32, %y: i32) -> i32 {
  cf.switch %flag : i32, [
    default: ^end(%x, %y : i32, i32),
    1: ^end(%y, %x : i32, i32),
    2: ^other(%x : i32),
    3: ^end(%x, %flag : i32, i32)
  ]
^other(%a: i32):
  cf.br ^end(%a, %a : i32, i32)
^end(%b: i32, %c: i32):
  "t.keep"() : () -> ()
  return %c : i32
}
