// RUN: gradus opt %s --cse

// Values of dominating blocks are available at the join and in the loop; values of one branch are not.
func.func @diamond(%c: i1, %a: i32, %b: i32) -> (i32, i32) {
  %0 = arith.muli %a, %b : i32
  cf.cond_br %c, ^left, ^right
^left:
  %1 = arith.muli %a, %b : i32
  %2 = arith.addi %a, %b : i32
  cf.br ^join(%1, %2 : i32, i32)
^right:
  %3 = arith.addi %a, %b : i32
  %4 = arith.addi %b, %a : i32
  cf.br ^join(%3, %4 : i32, i32)
^join(%x: i32, %y: i32):
  %5 = arith.addi %a, %b : i32
  %6 = arith.muli %b, %a : i32
  %7 = arith.subi %5, %x : i32
  %8 = arith.subi %6, %y : i32
  return %7, %8 : i32, i32
}

func.func @loop(%n: i32, %a: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %mask = arith.constant 7 : i32
  %end = arith.andi %n, %mask : i32
  %0 = arith.muli %a, %a : i32
  cf.br ^head(%c0, %0 : i32, i32)
^head(%i: i32, %x: i32):
  %more = arith.cmpi slt, %i, %end : i32
  cf.cond_br %more, ^body, ^exit
^body:
  %1 = arith.muli %a, %a : i32
  %2 = arith.addi %x, %1 : i32
  %3 = arith.addi %i, %c1 : i32
  cf.br ^head(%3, %2 : i32, i32)
^exit:
  %4 = arith.muli %a, %a : i32
  %5 = arith.subi %x, %4 : i32
  return %5 : i32
}
