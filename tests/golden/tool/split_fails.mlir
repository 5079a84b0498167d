// RUN: not gradus opt %s --split-input-file 2>&1 | FileCheck %s

// An invalid chunk does not stop the others from being processed. An incomplete chunk marker is reported.

// CHECK: split_fails.mlir:[[#@LINE+1]]:7: warning: near miss with file split marker
// ---
func.func private @first()

// -----

// CHECK: split_fails.mlir:[[#@LINE+2]]:1: error: redefinition of attribute alias id 'a'
#a = 1
#a = 2

// -----

// CHECK-LABEL: func.func private @first()
// CHECK:       {{//}} -----
// CHECK-NEXT:  {{//}} -----
// CHECK:       func.func private @last()
func.func private @last()
