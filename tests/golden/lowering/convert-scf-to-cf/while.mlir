// RUN: gradus opt %s --convert-scf-to-cf

// The number of times that an integer can be halved.
func.func @halve(%x: i32) -> (i32, i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %0:2 = scf.while (%a = %x, %n = %c0) : (i32, i32) -> (i32, i32) {
    %low = arith.andi %a, %c1 : i32
    %even = arith.cmpi eq, %low, %c0 : i32
    %positive = arith.cmpi sgt, %a, %c0 : i32
    %more = arith.andi %even, %positive : i1
    scf.condition(%more) %a, %n : i32, i32
  } do {
  ^bb0(%b: i32, %m: i32):
    %half = arith.shrui %b, %c1 : i32
    %next = arith.addi %m, %c1 : i32
    scf.yield %half, %next : i32, i32
  } attributes {note = "kept"}
  return %0#0, %0#1 : i32, i32
}

// The two regions have arguments of different types.
func.func @types(%x: i8) -> i16 {
  %c100 = arith.constant 100 : i16
  %0 = scf.while (%a = %x) : (i8) -> i16 {
    %wide = arith.extsi %a : i8 to i16
    %square = arith.muli %wide, %wide : i16
    %more = arith.cmpi sgt, %square, %c100 : i16
    scf.condition(%more) %square : i16
  } do {
  ^bb0(%b: i16):
    %c4 = arith.constant 4 : i16
    %less = arith.shrsi %b, %c4 : i16
    %narrow = arith.trunci %less : i16 to i8
    scf.yield %narrow : i8
  }
  return %0 : i16
}

func.func @nothing_carried(%c: i1) {
  scf.while : () -> () {
    scf.condition(%c)
  } do {
    cf.assert %c, "only here if so"
    scf.yield
  }
  return
}
