// RUN: poly opt %s --convert-poly-to-memref --canonicalize --cse
!ring = !poly.ring<17, 2>
func.func private @outside(!ring, i32) -> (!ring, !poly.residue<17>)
func.func @product(%p: !ring, %q: !ring) -> !ring {
  %0 = poly.mul %p, %q : !ring
  return %0 : !ring
}
func.func @value(%p: !ring, %x: !poly.residue<17>) -> !poly.residue<17> {
  %c = poly.constant <[3, 16]> : !ring
  %0 = poly.sub %p, %c : !ring
  %1 = poly.eval %0 at %x : !ring, !poly.residue<17>
  return %1 : !poly.residue<17>
}
func.func @calls(%p: !ring, %n: i32, %c: i1) -> (!ring, !poly.residue<17>) {
  %0, %1 = func.call @outside(%p, %n) : (!ring, i32) -> (!ring, !poly.residue<17>)
  %2 = scf.if %c -> !ring {
    %3 = poly.add %0, %p : !ring
    scf.yield %3 : !ring
  } else {
    scf.yield %0 : !ring
  }
  return %2, %1 : !ring, !poly.residue<17>
}
