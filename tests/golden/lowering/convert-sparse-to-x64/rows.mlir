// RUN: gradus opt %s --convert-sparse-to-x64="isa=avx512" --form-steps="group=4" | FileCheck %s

// The rows are divided among four functions of one type, which are one step and write their parts of the result in place.
// CHECK-LABEL: @main
// CHECK: memref.alloc() {{.*}} memref<96x16xf32>
// CHECK-NOT: memref.alloc
// CHECK: sched.step
// CHECK-COUNT-4: x64.call @sparse{{[0-9]}}({{.*}}) panel 64 tile {{[0-9]+}} : ({{.*}}) -> tensor<24x16xf32>
// CHECK-NOT: graph.concat
// CHECK: return
func.func @main(%b: tensor<2x16xf32>) -> tensor<96x16xf32> {
  %a = arith.constant dense<2.0> : tensor<96x2xf32>
  %0 = sparse.matmul unrolled %a, %b : (tensor<96x2xf32>, tensor<2x16xf32>) -> tensor<96x16xf32>
  return %0 : tensor<96x16xf32>
}

// Parts of a residual are slices, which are views.
// CHECK-LABEL: @residual
// CHECK: x64.call {{.*}} plus {{.*}} -> tensor<24x16xf32>
// CHECK-NOT: memref.copy
// CHECK: return
func.func @residual(%x: tensor<1x2x4x4xf32>, %r: tensor<1x48x4x4xf32>) -> tensor<1x48x4x4xf32> {
  %w = arith.constant dense<2.0> : tensor<48x2x1x1xf32>
  %0 = sparse.conv %x, %w : (tensor<1x2x4x4xf32>, tensor<48x2x1x1xf32>) -> tensor<1x48x4x4xf32>
  %1 = graph.add %0, %r : (tensor<1x48x4x4xf32>, tensor<1x48x4x4xf32>) -> tensor<1x48x4x4xf32>
  return %1 : tensor<1x48x4x4xf32>
}
