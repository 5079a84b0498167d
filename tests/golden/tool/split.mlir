// RUN: gradus opt %s --split-input-file --output-split-marker="// =====" --mlir-print-debuginfo | FileCheck %s

// Each part is a program of its own, so names may repeat, and places are those of the whole file.

// CHECK-LABEL: func.func private @f()
// CHECK:       loc("{{.*}}":[[#@LINE+1]]:1)
func.func private @f()

// -----

// CHECK:       // =====
// CHECK-NEXT:  module {
// CHECK-LABEL: func.func private @f()
// CHECK:       loc("{{.*}}":[[#@LINE+1]]:1)
func.func private @f()
