// RUN: gradus opt %s --strip-debuginfo --mlir-print-debuginfo
#here = loc("here.c":1:2)
func.func @f(%a: i32 loc("a")) -> i32 {
  %0 = arith.addi %a, %a : i32 loc(#here)
  %1 = arith.addi %0, %a : i32 loc(fused<"x">[#here, "y"])
  return %1 : i32 loc(callsite("f" at #here))
} loc("g")
