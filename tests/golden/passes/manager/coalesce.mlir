// RUN: gradus opt %s --pass-pipeline='builtin.module(func.func(cse),builtin.module(cse),func.func(canonicalize))' --dump-pass-pipeline --mlir-disable-threading --mlir-print-ir-after-all

// Adjacent nested pipelines are merged: both passes run on @f before they run on the next function.
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
