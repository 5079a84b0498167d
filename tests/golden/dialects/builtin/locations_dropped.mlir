// RUN: gradus opt %s

// Without --mlir-print-debuginfo there is no trace of locations.
#file = loc("a.mlir":1:2)
func.func @places(%a: i32 loc("arg")) -> i32 {
  return %a : i32 loc(#file)
} loc("f")
