// RUN: gradus opt %s --canonicalize --allow-unregistered-dialect

// Constants are moved to the entry block of the enclosing isolated op and uniqued; unused ones are erased.
func.func @nested() {
  "t.region"() ({
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %0 = arith.addi %c1, %c2 : i32
    "t.use"(%0, %c1) : (i32, i32) -> ()
    "t.region"() ({
      %c3 = arith.constant 3 : i32
      "t.use"(%c3) : (i32) -> ()
    }) : () -> ()
  }) : () -> ()
  return
}
