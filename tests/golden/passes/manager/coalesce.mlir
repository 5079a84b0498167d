// RUN: gradus opt %s --pass-pipeline='builtin.module(func.func(cse),builtin.module(cse),func.func(canonicalize))' --dump-pass-pipeline --mlir-disable-threading --mlir-print-ir-after-all

// Steps on ops inside are brought together: @f goes through both its passes before anything else happens.
module {
  func.func @f() {
    return
  }
  module @inner {
    func.func private @g() {
      return
    }
  }
}
