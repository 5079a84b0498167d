// RUN: gradus opt %s

// Collatz steps of all numbers below a bound: loops in loops in branches.
func.func @collatz(%n: i32) -> (i32, i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %mask = arith.constant 7 : i32
  %end = arith.andi %n, %mask : i32
  %0:2 = scf.for %i = %c1 to %end step %c1 iter_args(%best = %c0, %at = %c0) -> (i32, i32) : i32 {
    %steps:2 = scf.while (%x = %i, %k = %c0) : (i32, i32) -> (i32, i32) {
      %more = arith.cmpi ne, %x, %c1 : i32
      scf.condition(%more) %x, %k : i32, i32
    } do {
    ^bb0(%x: i32, %k: i32):
      %bit = arith.andi %x, %c1 : i32
      %odd = arith.cmpi eq, %bit, %c1 : i32
      %next = scf.if %odd -> i32 {
        %t = arith.muli %x, %c3 : i32
        %u = arith.addi %t, %c1 : i32
        scf.yield %u : i32
      } else {
        %h = arith.divui %x, %c2 : i32
        scf.yield %h : i32
      }
      %k1 = arith.addi %k, %c1 : i32
      scf.yield %next, %k1 : i32, i32
    }
    %better = arith.cmpi sgt, %steps#1, %best : i32
    %new:2 = scf.if %better -> (i32, i32) {
      scf.yield %steps#1, %i : i32, i32
    } else {
      scf.yield %best, %at : i32, i32
    }
    scf.yield %new#0, %new#1 : i32, i32
  }
  return %0#0, %0#1 : i32, i32
}

// Blocks in a region in a loop in a block.
func.func @regions_in_blocks(%c: i1, %n: index, %x: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %mask = arith.constant 7 : index
  %end = arith.andi %n, %mask : index
  cf.cond_br %c, ^loop(%x : index), ^done(%x : index)
^loop(%init: index):
  %0 = scf.for %i = %c0 to %end step %c1 iter_args(%a = %init) -> (index) {
    %1 = scf.execute_region -> index {
      %even = arith.andi %a, %c1 : index
      %is = arith.cmpi eq, %even, %c0 : index
      cf.cond_br %is, ^halve, ^keep
    ^halve:
      %h = arith.shrui %a, %c1 : index
      scf.yield %h : index
    ^keep:
      %s = arith.subi %a, %i : index
      scf.yield %s : index
    }
    scf.yield %1 : index
  }
  cf.br ^done(%0 : index)
^done(%r: index):
  return %r : index
}
