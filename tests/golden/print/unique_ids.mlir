// RUN: gradus opt %s --mlir-print-unique-ssa-ids --allow-unregistered-dialect

// Value numbers are unique in the module; block and argument names may repeat.
func.func @f(%a: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %0 = arith.addi %a, %c0 : i32
  "t.r"() ({
    %1 = arith.addi %0, %0 : i32
  }, {
    %1 = arith.addi %0, %0 : i32
    %c1 = arith.constant 1 : i32
  }) : () -> ()
  return %0 : i32
}
func.func @g(%a: i32, %b: i32) -> i32 {
  %0 = arith.addi %a, %b : i32
  return %0 : i32
}
