// RUN: gradus check %s --convert-scf-to-cf | FileCheck %s

// The loop becomes blocks: the transfer is waited for in a block after its own.
// CHECK: @f: no difference
func.func @f(%from: memref<4xf16>, %to: memref<4xf16, "sram">, %n: index) -> (index, f16) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %last = arith.minui %n, %c4 : index
  %token = sched.transfer %from to %to : memref<4xf16> to memref<4xf16, "sram">
  %sum = scf.parallel (%i) = (%c0) to (%last) step (%c1) init (%c1) -> index {
    scf.reduce(%i : index) {
    ^bb0(%a: index, %b: index):
      %0 = arith.addi %a, %b : index
      scf.reduce.return %0 : index
    }
  }
  sched.wait %token : !sched.token
  %x = memref.load %to[%c1] : memref<4xf16, "sram">
  return %sum, %x : index, f16
}
