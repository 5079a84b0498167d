// RUN: gradus opt %s --affine-loop-unroll=unroll-factor=2 | FileCheck %s

// The loop of one iteration stays: %i, which %a would become, is a dimension and no symbol.
// CHECK-LABEL: func.func @carried(
// CHECK:         affine.for
// CHECK:           affine.for
// CHECK:             affine.apply
func.func @carried(%x: memref<8xindex>) {
  affine.for %i = 0 to 8 {
    %0 = affine.for %j = 0 to 1 iter_args(%a = %i) -> (index) {
      %1 = affine.apply affine_map<(d0)[s0] -> (d0 + s0)>(%j)[%a]
      affine.yield %1 : index
    }
    affine.store %0, %x[%i] : memref<8xindex>
  }
  return
}
