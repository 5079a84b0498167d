// RUN: gradus opt %s | gradus filecheck %s
// RUN: gradus opt %s | not gradus filecheck %s --check-prefix=WRONG 2>&1 | FileCheck %s --check-prefix=SAYS
// RUN: gradus opt %s | FileCheck %s

// CHECK: func.func @f(
// CHECK-NEXT: return

// A failure reports the directive, where scanning started, the values of variables, and the most similar line.
// WRONG: func.func @f([[A:%.*]]: i32)
// WRONG: return [[A]], i32

// SAYS:      filecheck.mlir:[[#@LINE-2]]:11: error: WRONG: expected string not found in input
// SAYS-NEXT: {{//}} WRONG: return {{\[\[}}A]], i32
// SAYS:      <stdin>:2:{{[0-9]+}}: note: scanning from here
// SAYS:      note: with "A" equal to "%arg0"
// SAYS:      <stdin>:3:2: note: possible intended match here
// SAYS-NEXT: return %arg0 : i32
// SAYS:      check:[[#@LINE-8]]  {{.*}} error: no match found from here on
func.func @f(%a: i32) -> i32 {
  return %a : i32
}
