// RUN: gradus opt %s

func.func @one_block(%x: i32) -> i32 {
  %0 = scf.execute_region -> i32 {
    %1 = arith.addi %x, %x : i32
    scf.yield %1 : i32
  }
  return %0 : i32
}

func.func @blocks(%c: i1, %x: i32, %y: i32) -> (i32, i32) {
  %0:2 = scf.execute_region -> (i32, i32) no_inline {
    cf.cond_br %c, ^yes, ^no(%x : i32)
  ^yes:
    scf.yield %x, %y : i32, i32
  ^no(%a: i32):
    %1 = arith.muli %a, %y : i32
    scf.yield %1, %a : i32, i32
  } {note = "kept"}
  return %0#0, %0#1 : i32, i32
}

func.func @no_results(%c: i1) {
  scf.execute_region {
    cf.assert %c, "c"
    scf.yield
  }
  scf.execute_region no_inline {
    cf.br ^next
  ^next:
    scf.yield
  }
  return
}
