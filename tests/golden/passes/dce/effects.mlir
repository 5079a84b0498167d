// RUN: gradus opt %s --dce --allow-unregistered-dialect

func.func private @f() -> i32
func.func @keeps() {
  %0 = call @f() : () -> i32
  %1 = "t.foreign"() : () -> i32
  %2 = arith.addi %0, %1 : i32
  "t.region"() ({
    %3 = arith.addi %0, %1 : i32
    "t.end"() : () -> ()
  }) : () -> ()
  return
}
