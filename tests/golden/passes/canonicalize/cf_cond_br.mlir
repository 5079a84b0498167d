// RUN: gradus opt %s --canonicalize

func.func @known(%a: i32, %b: i32) -> i32 {
  %true = arith.constant true
  cf.cond_br %true, ^next(%a : i32), ^next(%b : i32)
^next(%x: i32):
  return %x : i32
}

// Blocks that only branch are skipped; branch weights are kept.
func.func @past_blocks(%c: i1, %d: i1, %a: i32, %b: i32) -> i32 {
  cf.cond_br %c weights([3, 4]), ^one, ^two(%b : i32)
^one:
  cf.br ^join(%a : i32)
^two(%x: i32):
  cf.assert %d, "two"
  cf.br ^join(%x : i32)
^join(%z: i32):
  cf.assert %d, "join"
  return %z : i32
}

// Two edges to one block: operands become selects.
func.func @one_destination(%c: i1, %a: i32, %b: i32) -> (i32, i32) {
  cf.cond_br %c, ^next(%a, %a : i32, i32), ^next(%b, %a : i32, i32)
^next(%x: i32, %y: i32):
  return %x, %y : i32, i32
}

// Not if the block has other predecessors and operands differ.
func.func @one_of_several_destinations(%c: i1, %d: i1, %a: i32, %b: i32) -> i32 {
  cf.cond_br %d, ^first, ^next(%a : i32)
^first:
  cf.cond_br %c, ^next(%a : i32), ^next(%b : i32)
^next(%x: i32):
  return %x : i32
}

// The condition is constant in a block whose only predecessor is this branch.
func.func @truth(%c: i1, %d: i1) -> i1 {
  cf.cond_br %c, ^yes, ^no
^yes:
  cf.assert %d, "yes"
  %0 = arith.xori %c, %d : i1
  cf.br ^join(%0 : i1)
^no:
  cf.assert %d, "no"
  cf.br ^join(%c : i1)
^join(%r: i1):
  return %r : i1
}

func.func @same_condition_again(%c: i1, %d: i1, %a: i32, %b: i32) -> i32 {
  cf.cond_br %c, ^one, ^two
^one:
  cf.assert %d, "one"
  cf.cond_br %c, ^three(%a : i32), ^four(%b : i32)
^two:
  cf.assert %d, "two"
  cf.cond_br %c, ^three(%b : i32), ^four(%a : i32)
^three(%x: i32):
  %0 = arith.addi %x, %b : i32
  return %0 : i32
^four(%y: i32):
  return %y : i32
}

// A branch to `ub.unreachable` is never taken.
func.func @unreachable(%c: i1, %a: i32) -> i32 {
  cf.cond_br %c, ^never, ^always
^never:
  ub.unreachable
^always:
  return %a : i32
}

func.func @unreachable_after_effect(%c: i1, %d: i1, %a: i32) -> i32 {
  cf.cond_br %c, ^fails, ^always
^fails:
  cf.assert %d, "seen"
  ub.unreachable
^always:
  return %a : i32
}
