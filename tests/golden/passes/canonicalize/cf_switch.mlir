// RUN: gradus opt %s --canonicalize

func.func @only_default(%flag: i32, %a: i32) -> i32 {
  cf.switch %flag : i32, [
    default: ^next(%a : i32)
  ]
^next(%x: i32):
  %0 = arith.addi %x, %flag : i32
  return %0 : i32
}

func.func @cases_like_default(%flag: i32, %a: i32, %b: i32) -> i32 {
  cf.switch %flag : i32, [
    default: ^one(%a : i32),
    1: ^one(%a : i32),
    2: ^two(%b : i32),
    3: ^one(%b : i32)
  ]
^one(%x: i32):
  %0 = arith.addi %x, %flag : i32
  return %0 : i32
^two(%y: i32):
  return %y : i32
}

// The second case of a value is never taken, and stays so when the first goes.
func.func @repeated_value(%flag: i32, %a: i32, %b: i32) -> i32 {
  cf.switch %flag : i32, [
    default: ^one(%a : i32),
    2: ^one(%a : i32),
    2: ^one(%b : i32),
    3: ^two(%b : i32)
  ]
^one(%x: i32):
  %0 = arith.addi %x, %flag : i32
  return %0 : i32
^two(%y: i32):
  return %y : i32
}

func.func @known(%a: i32, %b: i32) -> i32 {
  %flag = arith.constant -3 : i8
  cf.switch %flag : i8, [
    default: ^one(%a : i32),
    4: ^one(%b : i32),
    -3: ^two(%b : i32)
  ]
^one(%x: i32):
  return %x : i32
^two(%y: i32):
  %0 = arith.addi %y, %a : i32
  return %0 : i32
}

func.func @past_blocks(%flag: i32, %c: i1, %a: i32, %b: i32) -> i32 {
  cf.switch %flag : i32, [
    default: ^one(%a : i32),
    1: ^two(%a : i32),
    2: ^three(%b : i32)
  ]
^one(%x: i32):
  cf.br ^three(%x : i32)
^two(%y: i32):
  cf.br ^four(%y : i32)
^three(%z: i32):
  cf.assert %c, "three"
  return %z : i32
^four(%w: i32):
  cf.assert %c, "four"
  return %w : i32
}

// In the destination of a case the flag is constant, so switches on it are simplified.
func.func @same_flag(%flag: i32, %c: i1) -> i32 {
  %c4 = arith.constant 4 : i32
  %c5 = arith.constant 5 : i32
  %c6 = arith.constant 6 : i32
  cf.switch %flag : i32, [
    default: ^one,
    1: ^two,
    2: ^three
  ]
^one:
  cf.switch %flag : i32, [
    default: ^four,
    1: ^five,
    3: ^six
  ]
^two:
  cf.switch %flag : i32, [
    default: ^four,
    1: ^five,
    2: ^six
  ]
^three:
  return %flag : i32
^four:
  cf.assert %c, "four"
  return %c4 : i32
^five:
  cf.assert %c, "five"
  return %c5 : i32
^six:
  cf.assert %c, "six"
  return %c6 : i32
}
