// RUN: gradus opt %s --canonicalize=top-down=false | FileCheck %s

// Rules that regroup constants end where all operands are equal constants.
// CHECK-LABEL: func.func @f()
// CHECK-NEXT: %[[C:.*]] = arith.constant dense<3>
// CHECK-NEXT: return %[[C]]
func.func @f() -> tensor<4x4xi8> {
  %c = arith.constant dense<3> : tensor<4x4xi8>
  %0 = arith.andi %c, %c : tensor<4x4xi8>
  %1 = arith.andi %c, %0 : tensor<4x4xi8>
  %2 = arith.andi %c, %1 : tensor<4x4xi8>
  return %2 : tensor<4x4xi8>
}
