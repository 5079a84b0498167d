// RUN: gradus opt %s --fuse-epilogues | FileCheck %s
// RUN: gradus opt %s --fuse-epilogues=rounding=true | FileCheck %s --check-prefix=ROUNDS

// The sum of a bf16 product and a residual is rounded twice, and a negative sum that is rounded to -0 stays -0, unless the pass may round.
// CHECK-LABEL: func.func @sum(
// CHECK: %[[SUM:.*]] = addr.gemm
// CHECK: graph.add %{{.*}}, %[[SUM]]
// CHECK: %[[SUM:.*]] = addr.gemm
// CHECK: graph.relu %[[SUM]]

// ROUNDS-LABEL: func.func @sum(
// ROUNDS: addr.gemm
// ROUNDS-SAME: plus
// ROUNDS-NOT: graph.
// ROUNDS: addr.gemm
// ROUNDS-SAME: low = 0.0
func.func @sum(%a: tensor<8xbf16>, %b: tensor<2x4xbf16>, %y: tensor<2x2xbf16>) -> (tensor<2x2xbf16>, tensor<2x2xbf16>) {
  %base = arith.constant dense<[0, 4]> : tensor<2xi32>
  %relative = arith.constant dense<[0, 1, 2, 3]> : tensor<4xi32>
  %0 = addr.gemm %a[%base + %relative], %b : (tensor<8xbf16>, tensor<2xi32>, tensor<4xi32>, tensor<2x4xbf16>) -> tensor<2x2xbf16>
  %1 = graph.add %y, %0 : (tensor<2x2xbf16>, tensor<2x2xbf16>) -> tensor<2x2xbf16>
  %2 = addr.gemm %a[%base + %relative], %b : (tensor<8xbf16>, tensor<2xi32>, tensor<4xi32>, tensor<2x4xbf16>) -> tensor<2x2xbf16>
  %3 = graph.relu %2 : tensor<2x2xbf16>
  return %1, %3 : tensor<2x2xbf16>, tensor<2x2xbf16>
}
