// RUN: gradus opt %s --canonicalize

func.func @one_block(%a: i32, %c: i1) -> i32 {
  %0 = scf.execute_region -> i32 {
    cf.assert %c, "inside"
    %1 = arith.addi %a, %a : i32
    scf.yield %1 : i32
  }
  return %0 : i32
}

// Inlined where the parent region may have several blocks.
func.func @blocks(%a: i32, %c: i1) -> (i32, i32) {
  %0:2 = scf.execute_region -> (i32, i32) {
    cf.cond_br %c, ^one, ^two
  ^one:
    %1 = arith.addi %a, %a : i32
    scf.yield %1, %a : i32, i32
  ^two:
    %2 = arith.muli %a, %a : i32
    scf.yield %a, %2 : i32, i32
  }
  return %0#0, %0#1 : i32, i32
}

// Not inlined into a parent region that must be a single block.
func.func @inside(%a: i32, %b: i32, %c: i1, %d: i1) -> i32 {
  %0 = scf.if %d -> i32 {
    %1 = scf.execute_region -> i32 {
      cf.cond_br %c, ^one, ^two
    ^one:
      %2 = arith.addi %a, %b : i32
      scf.yield %2 : i32
    ^two:
      %3 = arith.muli %a, %b : i32
      scf.yield %3 : i32
    }
    scf.yield %1 : i32
  } else {
    scf.yield %a : i32
  }
  return %0 : i32
}

// Inlined there if its blocks are merged to one.
func.func @known(%a: i32, %d: i1) -> i32 {
  %0 = scf.if %d -> i32 {
    %1 = scf.execute_region -> i32 {
      cf.br ^one
    ^one:
      %2 = arith.addi %a, %a : i32
      cf.br ^two(%2 : i32)
    ^two(%3: i32):
      scf.yield %3 : i32
    }
    scf.yield %1 : i32
  } else {
    scf.yield %a : i32
  }
  return %0 : i32
}

func.func @no_inline(%a: i32) -> i32 {
  %0 = scf.execute_region -> i32 no_inline {
    %1 = arith.addi %a, %a : i32
    scf.yield %1 : i32
  }
  return %0 : i32
}
