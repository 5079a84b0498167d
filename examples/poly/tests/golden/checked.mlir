// RUN: poly check %s --convert-poly-to-memref | FileCheck %s

// CHECK: @rotated: no difference on {{[0-9]+}} inputs
func.func @rotated(%p: !poly.ring<17, 4>, %x: !poly.residue<17>) -> (!poly.ring<17, 4>, !poly.residue<17>) {
  %x3 = poly.constant <[0, 0, 0, 1]> : !poly.ring<17, 4>
  %0 = poly.mul %p, %x3 : !poly.ring<17, 4>
  %1 = poly.eval %0 at %x : !poly.ring<17, 4>, !poly.residue<17>
  return %0, %1 : !poly.ring<17, 4>, !poly.residue<17>
}
