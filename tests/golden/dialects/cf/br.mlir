// RUN: gradus opt %s

// A loop of blocks, with and without loop-carried values.
func.func @sum(%n: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %mask = arith.constant 15 : i32
  %end = arith.andi %n, %mask : i32
  cf.br ^head(%c0, %c0 : i32, i32)
^head(%i: i32, %sum: i32):
  %more = arith.cmpi slt, %i, %end : i32
  cf.cond_br %more, ^body, ^exit {note}
^body:
  %next = arith.addi %i, %c1 : i32
  %total = arith.addi %sum, %i : i32
  cf.br ^head(%next, %total : i32, i32) {note = 1 : i32}
^exit:
  cf.br ^last
^last:
  return %sum : i32
}
