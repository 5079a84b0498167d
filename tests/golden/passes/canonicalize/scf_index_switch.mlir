// RUN: gradus opt %s --canonicalize

func.func @known(%a: i32, %c: i1) -> i32 {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %0 = scf.index_switch %c2 -> i32
  case 2 {
    cf.assert %c, "two"
    %1 = arith.addi %a, %a : i32
    scf.yield %1 : i32
  }
  default {
    scf.yield %a : i32
  }
  %2 = scf.index_switch %c3 -> i32
  case 2 {
    scf.yield %a : i32
  }
  default {
    cf.assert %c, "default"
    %3 = arith.muli %0, %a : i32
    scf.yield %3 : i32
  }
  return %2 : i32
}
