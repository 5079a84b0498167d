// RUN: gradus opt %s --canonicalize
// A switch counts the operands of its cases itself, so arguments that matter to nobody stay where one goes.
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
