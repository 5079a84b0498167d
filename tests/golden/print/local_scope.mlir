// RUN: gradus opt %s --mlir-print-local-scope --mlir-print-debuginfo --allow-unregistered-dialect

// No aliases and no resource section: everything is printed at its use.
"t.use"() {map = affine_map<(d0) -> (d0)>, big = dense_resource<big> : tensor<1xi32>} : () -> () loc("here")
"t.use"() {map = affine_map<(d0) -> (d0)>} : () -> () loc(callsite("here" at "there"))

{-#
  dialect_resources: {
    builtin: {
      big: "0x0400000001000000"
    }
  }
#-}
