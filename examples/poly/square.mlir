func.func @main(%p: !poly.ring<17, 4>) -> !poly.ring<17, 4> {
  %0 = poly.mul %p, %p : !poly.ring<17, 4>
  return %0 : !poly.ring<17, 4>
}
