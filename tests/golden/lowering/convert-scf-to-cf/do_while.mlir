// RUN: gradus opt %s --convert-scf-to-cf

// The "after" region only forwards its arguments, so no block is created for it.
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
