// RUN: gradus opt %s --cse --allow-unregistered-dialect

// What is known outside is known inside, unless the op around is isolated; siblings know nothing of each other.
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
  module {
    func.func @inner() -> i32 {
      %1 = arith.constant 1 : i32
      return %1 : i32
    }
  }
  return
}
