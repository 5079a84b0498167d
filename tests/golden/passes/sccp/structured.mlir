// RUN: gradus opt %s --sccp

// Constants are once each at the start of the function, and ops around that give nothing else go.
func.func @branches(%c: i1) -> i32 {
  %0 = scf.if %c -> (i32) {
    %one = arith.constant 1 : i32
    scf.yield %one : i32
  } else {
    %other = arith.constant 1 : i32
    scf.yield %other : i32
  }
  return %0 : i32
}

func.func @same_constants(%c: i1, %a: i32) -> i32 {
  %0 = scf.if %c -> (i32) {
    %one = arith.constant {tag = "first"} 1 : i32
    %1 = arith.addi %a, %one : i32
    scf.yield %1 : i32
  } else {
    %one = arith.constant 1 : i32
    %1 = arith.subi %a, %one : i32
    scf.yield %1 : i32
  }
  return %0 : i32
}

// How often it runs is known: not at all, once, or more.
func.func @affine() -> (i32, i32, i32) {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %none = affine.for %i = 0 to 0 iter_args(%x = %c1) -> (i32) {
    %0 = arith.addi %x, %x : i32
    affine.yield %0 : i32
  }
  %once = affine.for %i = 0 to 2 step 3 iter_args(%x = %c1) -> (i32) {
    %0 = arith.addi %x, %c2 : i32
    affine.yield %0 : i32
  }
  %more = affine.for %i = 0 to 4 iter_args(%x = %c1) -> (i32) {
    %0 = arith.addi %x, %x : i32
    affine.yield %0 : i32
  }
  return %none, %once, %more : i32, i32, i32
}
