// RUN: gradus opt %s --convert-sparse-to-x64="isa=avx512" | FileCheck %s

// Products of bf16 are computed in f32 and rounded once.
// CHECK-LABEL: func.func @left(
// CHECK-SAME:    [[B:%.*]]: tensor<4x16xbf16>)
// CHECK:         [[WIDE:%.*]] = graph.cast [[B]] to f32
// CHECK-NEXT:    [[POOL:%.*]] = arith.constant dense<[-0.000000e+00, 2.500000e+00]> : tensor<2xf32>
// CHECK-NEXT:    [[SUMS:%.*]] = x64.call @sparse0([[POOL]], [[WIDE]]) {{.*}} -> tensor<1x16xf32>
// CHECK-NEXT:    [[C:%.*]] = graph.cast [[SUMS]] to bf16
// CHECK-NEXT:    return [[C]] : tensor<1x16xbf16>
func.func @left(%b: tensor<4x16xbf16>) -> tensor<1x16xbf16> {
  %a = arith.constant dense<[[1.0, 0.0, 0.0, 2.5]]> : tensor<1x4xbf16>
  %c = sparse.matmul unrolled %a, %b : (tensor<1x4xbf16>, tensor<4x16xbf16>) -> tensor<1x16xbf16>
  return %c : tensor<1x16xbf16>
}

// Transpositions are of bf16.
// CHECK-LABEL: func.func @right(
// CHECK-SAME:    [[A:%.*]]: tensor<3x2xbf16>)
// CHECK:         [[TURNED:%.*]] = graph.transpose [[A]]
// CHECK-NEXT:    [[WIDE:%.*]] = graph.cast [[TURNED]] to f32
// CHECK:         [[SUMS:%.*]] = x64.call @sparse1({{%.*}}, [[WIDE]]) {{.*}} -> tensor<2x3xf32>
// CHECK-NEXT:    [[C:%.*]] = graph.cast [[SUMS]] to bf16
// CHECK-NEXT:    graph.transpose [[C]]
func.func @right(%a: tensor<3x2xbf16>) -> tensor<3x2xbf16> {
  %b = arith.constant dense<[[0.0, 3.0], [2.5, 0.0]]> : tensor<2x2xbf16>
  %c = sparse.matmul unrolled right %a, %b : (tensor<3x2xbf16>, tensor<2x2xbf16>) -> tensor<3x2xbf16>
  return %c : tensor<3x2xbf16>
}
