// RUN: gradus opt %s --convert-scf-to-cf

// A second region that only passes on what it gets needs no block.
func.func @do_while(%x: i32) -> i32 {
  %c7 = arith.constant 7 : i32
  %c3 = arith.constant 3 : i32
  %0 = scf.while (%a = %x) : (i32) -> i32 {
    %b = arith.shrui %a, %c3 : i32
    %more = arith.cmpi ugt, %b, %c7 : i32
    scf.condition(%more) %b : i32
  } do {
  ^bb0(%b: i32):
    scf.yield %b : i32
  }
  return %0 : i32
}
