// RUN: gradus opt %s --allow-unregistered-dialect

// Values and blocks are renumbered; names are not kept. Numbering restarts in regions isolated from above.
func.func @f(%long_name: i32, %1: i32) -> i32 { // %1 is a name like any other
  %0 = arith.addi %long_name, %1 : i32
  %sum.of-it$all_ = arith.addi %0, %1 : i32
  "t.jump"()[^here] : () -> ()
^here:
  return %sum.of-it$all_ : i32
}
func.func @g(%arg0: i32) -> i32 {
  return %arg0 : i32
}
