// RUN: gradus opt %s --split-input-file --output-split-marker="// =====" --mlir-print-debuginfo | FileCheck %s

// Each chunk is a program of its own, so symbol names may repeat; positions are those of the whole file.

// CHECK-LABEL: func.func private @f()
// CHECK:       loc("{{.*}}":[[#@LINE+1]]:1)
func.func private @f()

// -----

// CHECK:       // =====
// CHECK-NEXT:  module {
// CHECK-LABEL: func.func private @f()
// CHECK:       loc("{{.*}}":[[#@LINE+1]]:1)
func.func private @f()
