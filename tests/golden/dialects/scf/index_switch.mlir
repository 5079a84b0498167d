// RUN: gradus opt %s

func.func @results(%i: index, %x: i32) -> (i32, i32) {
  %0:2 = scf.index_switch %i {note} -> i32, i32
  case 2 {
    %1 = arith.addi %x, %x : i32
    scf.yield %1, %x : i32, i32
  }
  case -1 {
    %1 = arith.muli %x, %x : i32
    scf.yield %1, %1 : i32, i32
  }
  default {
    %c7 = arith.constant 7 : i32
    scf.yield %x, %c7 : i32, i32
  }
  return %0#0, %0#1 : i32, i32
}

func.func @no_results(%i: index, %c: i1) {
  scf.index_switch %i
  case 0 {
    cf.assert %c, "zero"
    scf.yield
  }
  default {
  }
  scf.index_switch %i
  default {
    cf.assert %c, "always"
  }
  return
}
