// RUN: poly check %s --convert-poly-to-memref | FileCheck %s

// CHECK: @halves: no difference on {{[0-9]+}} inputs
func.func @halves(%p: !poly.ring<17, 4>, %x: !poly.residue<17>) -> (!poly.ring<17, 4>, !poly.residue<17>) {
  %c9 = poly.constant <[9, 0, 0, 0]> : !poly.ring<17, 4>
  %half = poly.mul %p, %c9 : !poly.ring<17, 4>
  %value = poly.eval %half at %x : !poly.ring<17, 4>, !poly.residue<17>
  return %half, %value : !poly.ring<17, 4>, !poly.residue<17>
}
