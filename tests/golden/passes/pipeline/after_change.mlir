// RUN: gradus opt %s --dce --cse --mlir-print-ir-after-all --mlir-print-ir-after-change --mlir-print-ir-before=cse

// There is no dead code, so only cse is printed, before and after.
func.func @f(%a: i32) -> i32 {
  %0 = arith.muli %a, %a : i32
  %1 = arith.muli %a, %a : i32
  %2 = arith.addi %0, %1 : i32
  return %2 : i32
}
