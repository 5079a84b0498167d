// RUN: gradus opt %s --cse --allow-unregistered-dialect

// The regions of foreign ops may be graphs, in which nothing is known to come first: nothing is merged there.
func.func @scopes(%a: i32) {
  %0 = arith.addi %a, %a : i32
  "t.region"() ({
    %1 = arith.addi %a, %a : i32
    %2 = arith.muli %a, %a : i32
    "t.use"(%1, %2) : (i32, i32) -> ()
  }, {
    %2 = arith.muli %a, %a : i32
    "t.use"(%2, %0) : (i32, i32) -> ()
  }) : () -> ()
  return
}
func.func @isolated() {
  %0 = arith.constant 1 : i32
  "t.use"(%0) : (i32) -> ()
  builtin.module {
    func.func @inner() -> i32 {
      %1 = arith.constant 1 : i32
      return %1 : i32
    }
  }
  return
}
