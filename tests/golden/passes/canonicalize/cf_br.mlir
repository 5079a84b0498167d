// RUN: gradus opt %s --canonicalize

// A block is merged with its only predecessor.
func.func @merge(%a: i32) -> i32 {
  cf.br ^next(%a : i32)
^next(%x: i32):
  %y = arith.addi %x, %a : i32
  cf.br ^last(%y : i32)
^last(%z: i32):
  return %z : i32
}

// A branch to a block that only branches goes to that block's target.
func.func @past_block(%c: i1, %a: i32, %b: i32) -> i32 {
  cf.cond_br %c, ^one, ^two
^one:
  %0 = arith.addi %a, %b : i32
  cf.br ^pass(%0, %a : i32, i32)
^two:
  %1 = arith.muli %a, %b : i32
  cf.br ^pass(%1, %b : i32, i32)
^pass(%x: i32, %y: i32):
  cf.br ^last(%y, %x : i32, i32)
^last(%p: i32, %q: i32):
  %2 = arith.subi %p, %q : i32
  return %2 : i32
}

// Blocks that branch to each other in a cycle stay.
func.func @endless(%c: i1, %a: i32) -> i32 {
  cf.cond_br %c, ^one, ^out
^one:
  cf.br ^two
^two:
  cf.br ^one
^out:
  return %a : i32
}

func.func @endless_from_two_sides(%c: i1) {
  cf.cond_br %c, ^one, ^two
^one:
  cf.br ^two
^two:
  cf.br ^one
}
