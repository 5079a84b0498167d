// RUN: gradus opt %s --cse --allow-unregistered-dialect

// Values of dominating blocks are available; values of the other branch are not.
func.func @diamond(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  "t.branch"()[^left, ^right] : () -> ()
^left:
  %1 = arith.addi %a, %a : i32
  %2 = arith.muli %a, %a : i32
  "t.jump"(%1, %2)[^end] : (i32, i32) -> ()
^right:
  %3 = arith.muli %a, %a : i32
  "t.jump"(%3)[^end] : (i32) -> ()
^end:
  %4 = arith.muli %a, %a : i32
  %5 = arith.addi %a, %a : i32
  %6 = arith.addi %4, %5 : i32
  return %6 : i32
}
