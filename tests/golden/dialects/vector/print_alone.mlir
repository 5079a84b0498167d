// RUN: gradus opt %s --mlir-print-op-generic

// `vector.print` without operand: tokens of the next line are not parsed as its operand.
func.func @f(%a: i32) -> (i32, i32) {
  vector.print
  %0 = arith.addi %a, %a : i32
  vector.print
  %1:2 = scf.execute_region -> (i32, i32) {
    scf.yield %0, %a : i32, i32
  }
  vector.print
      %0 : i32
  return %1#0, %1#1 : i32, i32
}
