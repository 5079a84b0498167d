// RUN: gradus opt %s

// `vector.print` without operand, followed by an op with named results.
func.func @lines(%a: i32, %i: index) -> (i32, i32, index) {
  vector.print
  %0 = arith.addi %a, %a : i32
  vector.print
  %q:2 = affine.delinearize_index %i into (4, 2) : index, index
  vector.print
  %low, %high = arith.mulsi_extended %0, %a : i32
  vector.print %low : i32
  return %low, %high, %q#0 : i32, i32, index
}
