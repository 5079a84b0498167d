// RUN: gradus opt %s

func.func @choose(%c: i1, %x: i32, %y: i32) -> i32 {
  cf.cond_br %c, ^yes(%x, %y : i32, i32), ^no(%y : i32)
^yes(%a: i32, %b: i32):
  %0 = arith.subi %a, %b : i32
  cf.br ^no(%0 : i32)
^no(%r: i32):
  return %r : i32
}

func.func @weights(%c: i1, %x: i32) -> i32 {
  cf.cond_br %c weights([90, 10]), ^yes, ^no(%x : i32) {note}
^yes:
  %0 = arith.muli %x, %x : i32
  return %0 : i32
^no(%r: i32):
  return %r : i32
}

func.func @same_block(%c: i1, %x: i32, %y: i32) -> i32 {
  cf.cond_br %c, ^next(%x : i32), ^next(%y : i32)
^next(%r: i32):
  return %r : i32
}

func.func @generic(%c: i1, %x: i32, %y: i32) -> i32 {
  "cf.cond_br"(%c, %x, %y, %y)[^yes, ^no] <{operandSegmentSizes = array<i32: 1, 2, 1>}> : (i1, i32, i32, i32) -> ()
^yes(%a: i32, %b: i32):
  return %a : i32
^no(%r: i32):
  return %r : i32
}
