// RUN: poly opt %s
!ring = !poly.ring<  17,4 >
func.func @square(%p: !ring, %x: !poly.residue<17>) -> (!poly.ring<17, 4>, !poly.residue<17>) {
  %0 = poly.mul %p, %p : !poly.ring<17, 4>
  %1 = poly.eval %0 at %x : !ring, !poly.residue<17>
  return %0, %1 : !ring, !poly.residue<17>
}
func.func @main() -> !ring {
  %0 = poly.constant <[3, 0, 0, 1]> : !ring
  return %0 : !ring
}
func.func private @nested(tensor<4x!poly.ring<17, 4>>) attributes {a = #poly.element<[ 16 ]> : !poly.ring<17, 1>}
