// RUN: gradus opt %s

// Locations are printed only with --mlir-print-debuginfo.
#file = loc("a.mlir":1:2)
func.func @places(%a: i32 loc("arg")) -> i32 {
  return %a : i32 loc(#file)
} loc("f")
