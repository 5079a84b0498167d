// RUN: gradus opt %s
// The type of a value that is used before its definition is taken from the use.

func.func @f() -> (i1, i1, i32) {
  cf.br ^define
^use:
  %0 = arith.cmpi slt, %i, %i : index
  %1 = arith.cmpf olt, %x, %x : f32
  %sum, %carry = arith.addui_extended %n, %n : i32, i1
  %2 = func.call_indirect %callee(%sum) : (i32) -> i32
  return %0, %1, %2 : i1, i1, i32
^define:
  %i = arith.constant 1 : index
  %x = arith.constant 1.0 : f32
  %n = arith.constant 1 : i32
  %callee = func.constant @callee : (i32) -> i32
  cf.br ^use
}

func.func @callee(%a: i32) -> i32 {
  return %a : i32
}

func.func @argument(%callee: (i32) -> i32) -> i32 {
  cf.br ^define
^use:
  %0 = func.call_indirect %callee(%n) : (i32) -> i32
  return %0 : i32
^define:
  %n = arith.constant 1 : i32
  cf.br ^use
}
