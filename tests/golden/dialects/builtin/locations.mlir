// RUN: gradus opt %s --mlir-print-debuginfo --allow-unregistered-dialect

#file = loc("a.mlir":1:2)
func.func @places(%a: i32 loc("arg"), %b: i32 loc(unknown)) -> i32 {
  %0 = arith.addi %a, %b : i32 loc("sum"("b.mlir":3:4))
  %1 = arith.addi %0, %b : i32 loc(callsite("callee" at "caller.mlir":5:6))
  %2 = arith.addi %1, %b : i32 loc(fused["x", "y.mlir":7:8])
  %3 = arith.addi %2, %b : i32 loc(fused<"meta">["x", #file])
  %4 = arith.addi %3, %b : i32
  "t.range"() : () -> () loc("c.mlir":1:2 to 3:4)
  return %4 : i32 loc(unknown)
} loc(#file)
