// RUN: gradus opt %s --sccp | FileCheck %s

// COM: The number of elements so far decides when a region that computes elements has run for the last time. It is unknown here: the
// COM: generated tensor is, and the second branch.
// CHECK-LABEL: func.func @generated
// CHECK:       ^bb2([[RESULT:%.*]]: i32):
// CHECK-NEXT:    return [[RESULT]]
func.func @generated(%x: i1, %c: i1) -> i32 {
  %c7 = arith.constant 7 : i32
  %c8 = arith.constant 8 : i32
  %t = tensor.generate {
  ^bb0(%i: index):
    tensor.yield %x : i1
  } : tensor<5xi1>
  %i0 = arith.constant 0 : index
  %e = tensor.extract %t[%i0] : tensor<5xi1>
  cf.cond_br %c, ^m(%c7 : i32), ^o
^o:
  cf.cond_br %e, ^m(%c8 : i32), ^m(%c7 : i32)
^m(%r: i32):
  return %r : i32
}

// CHECK-LABEL: func.func @padded
// CHECK:       ^bb2([[RESULT:%.*]]: i32):
// CHECK-NEXT:    return [[RESULT]]
func.func @padded(%x: i1, %c: i1) -> i32 {
  %c7 = arith.constant 7 : i32
  %c8 = arith.constant 8 : i32
  %s = arith.constant dense<true> : tensor<2xi1>
  %t = tensor.pad %s low[3] high[0] {
  ^bb0(%i: index):
    tensor.yield %x : i1
  } : tensor<2xi1> to tensor<5xi1>
  %i0 = arith.constant 0 : index
  %e = tensor.extract %t[%i0] : tensor<5xi1>
  cf.cond_br %c, ^m(%c7 : i32), ^o
^o:
  cf.cond_br %e, ^m(%c8 : i32), ^m(%c7 : i32)
^m(%r: i32):
  return %r : i32
}

// COM: Without elements, the region does not run.
// CHECK-LABEL: func.func @empty
// CHECK:         [[T:%.*]] = tensor.generate
// CHECK:         return [[T]]
func.func @empty(%x: i1) -> tensor<0xi1> {
  %t = tensor.generate {
  ^bb0(%i: index):
    tensor.yield %x : i1
  } : tensor<0xi1>
  return %t : tensor<0xi1>
}
