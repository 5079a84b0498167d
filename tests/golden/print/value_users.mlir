// RUN: gradus opt %s --mlir-print-value-users --allow-unregistered-dialect

// Ops without results are numbered too, so that comments can refer to them.
func.func @uses(%a: i32, %b: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %0 = arith.addi %a, %c0 : i32
  %1:3 = "t.three"(%0) ({
  ^bb0(%x: i32):
    %2 = arith.addi %x, %0 : i32
    "t.yield"(%2) : (i32) -> ()
  }) : (i32) -> (i32, i32, i32)
  "t.none"(%1#1, %1#1) : (i32, i32) -> ()
  return %0 : i32
}
