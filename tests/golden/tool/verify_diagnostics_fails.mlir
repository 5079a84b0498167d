// RUN: not gradus opt %s --verify-diagnostics --allow-unregistered-dialect 2>&1 | FileCheck %s --strict-whitespace
// RUN: not gradus opt %s --verify-diagnostics=only-expected --allow-unregistered-dialect 2>&1 | FileCheck %s --check-prefix=ONLY --implicit-check-not=unexpected

// The messages are mlir-opt's.

// CHECK:      :[[#@LINE+5]]:4: error: invalid regex: parentheses not balanced
// CHECK-NEXT: {{^}}// expected-error-re@below {{[{]}}{a {{[{]}}{(}}}}
// CHECK-NEXT: {{^}}   ^~~~~~~{{$}}
// CHECK-NEXT: :[[#@LINE+3]]:4: error: found start of regex with no end '}}'
// CHECK:      :[[#@LINE+5]]:9: error: unexpected error: use of undeclared SSA value name '%missing'
// expected-error-re@below {{a {{(}}}}
// expected-error-re@below {{a {{}}
func.func @f(%a: i32) {
  // expected-error@+1 {{something else}}
  "t.x"(%missing) : (i32) -> ()
  // CHECK: :[[#@LINE+1]]:6: error: 'error' diagnostic emitted when expecting a 'warning'
  // expected-warning@+1 {{use of undeclared SSA value name '%other'}}
  "t.x"(%other) : (i32) -> ()
  return
}
// CHECK:      :[[#@LINE-7]]:6: error: expected error "something else" was not produced
// CHECK-NEXT: {{^}}  // expected-error@+1 {{[{][{]}}something else}}
// CHECK-NEXT: {{^}}     ^~~~~~~~~~~~~~{{$}}
// CHECK:      error: expected warning "use of undeclared
// CHECK:      {{^}}<unknown>:0: error: expected remark "nowhere" was not produced
// expected-remark@unknown {{nowhere}}

// ONLY: invalid regex
// ONLY: error: expected error "something else" was not produced
