// RUN: gradus opt %s

// Case values are printed as the bits of their type.
func.func @cases(%flag: i8, %x: i32, %y: i32) -> i32 {
  cf.switch %flag : i8, [
    default: ^none(%x : i32),
    0: ^one(%x, %y : i32, i32),
    -2: ^two,
    5: ^none(%y : i32)
  ] {note}
^none(%a: i32):
  return %a : i32
^one(%b: i32, %c: i32):
  %0 = arith.subi %b, %c : i32
  return %0 : i32
^two:
  %1 = arith.muli %x, %y : i32
  return %1 : i32
}

func.func @only_default(%flag: i32, %x: i32) -> i32 {
  cf.switch %flag : i32, [
    default: ^next(%x : i32)
  ]
^next(%a: i32):
  return %a : i32
}

func.func @bool(%flag: i1, %x: i32, %y: i32) -> i32 {
  cf.switch %flag : i1, [
    default: ^no,
    1: ^yes
  ]
^no:
  return %x : i32
^yes:
  return %y : i32
}

func.func @equal_values(%flag: i64, %x: i32, %y: i32) -> i32 {
  "cf.switch"(%flag)[^no, ^yes, ^no] <{case_operand_segments = array<i32: 0, 0>, case_values = dense<7> : vector<2xi64>, operandSegmentSizes = array<i32: 1, 0, 0>}> : (i64) -> ()
^no:
  return %x : i32
^yes:
  return %y : i32
}

func.func @wide(%flag: i128) {
  cf.switch %flag : i128, [
    default: ^next,
    -1: ^next,
    12: ^next
  ]
^next:
  return
}
