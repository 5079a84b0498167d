// RUN: gradus opt %s --canonicalize

// In unreachable blocks values may depend on themselves.
func.func @count(%a: index) {
  %false = arith.constant false
  %z = arith.constant 0 : i8
  %one = arith.constant 1 : index
  cf.br ^bb1(%z : i8)
^bb1(%0: i8):
  cf.cond_br %false, ^bb2(%a : index), ^bb4
^bb2(%1: index):
  %2 = arith.cmpi slt, %1, %a : index
  cf.cond_br %2, ^bb3, ^bb1(%z : i8)
^bb3:
  %3 = arith.addi %1, %one : index
  cf.br ^bb2(%3 : index)
^bb4:
  return
}
