// RUN: gradus opt %s --dce

func.func @blocks(%c: i1, %a: i32) -> i32 {
  %unused = arith.muli %a, %a : i32
  cf.cond_br %c, ^left, ^right(%a : i32)
^left:
  %0 = arith.addi %a, %a : i32
  %1 = arith.addi %0, %unused : i32
  cf.br ^right(%0 : i32)
^right(%x: i32):
  %2 = scf.if %c -> i32 {
    %3 = arith.addi %a, %x : i32
    scf.yield %3 : i32
  } else {
    scf.yield %x : i32
  }
  return %x : i32
}
