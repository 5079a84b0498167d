// RUN: gradus opt %s --run-reproducer --dump-pass-pipeline --mlir-pass-statistics

// The file contains its pipeline, which is removed from the output; other resources stay.
func.func @f(%a: i32) -> i32 {
  %0 = arith.muli %a, %a : i32
  %1 = arith.muli %a, %a : i32
  %2 = arith.addi %0, %1 : i32
  return %2 : i32
}

{-#
  external_resources: {
    mlir_reproducer: {
      pipeline: "builtin.module(func.func(cse,canonicalize{  max-iterations=1}))",
      disable_threading: true,
      verify_each: true
    },
    other: {
      key: "kept"
    }
  }
#-}
