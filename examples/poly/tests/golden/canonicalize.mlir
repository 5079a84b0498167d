// RUN: poly opt %s --canonicalize
func.func @constants() -> !poly.ring<17, 4> {
  %0 = poly.constant <[3, 0, 0, 1]> : !poly.ring<17, 4>
  %1 = poly.constant <[0, 1, 0, 0]> : !poly.ring<17, 4>
  %2 = poly.mul %0, %1 : !poly.ring<17, 4>
  return %2 : !poly.ring<17, 4>
}
func.func @rules(%x: !poly.ring<5, 2>, %y: !poly.ring<5, 2>) -> (!poly.ring<5, 2>, !poly.ring<5, 2>) {
  %c = poly.constant <[1, 4]> : !poly.ring<5, 2>
  %0 = poly.add %x, %y : !poly.ring<5, 2>
  %1 = poly.sub %0, %y : !poly.ring<5, 2>
  %2 = poly.add %c, %y : !poly.ring<5, 2>
  return %1, %2 : !poly.ring<5, 2>, !poly.ring<5, 2>
}
