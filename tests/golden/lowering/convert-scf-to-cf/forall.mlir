// RUN: gradus opt %s --convert-scf-to-cf

func.func @grid(%n: index, %c: i1) {
  %mask = arith.constant 7 : index
  %end = arith.andi %n, %mask : index
  scf.forall (%i, %j) = (0, 1) to (%end, 4) step (1, 2) {
    %0 = arith.cmpi ne, %i, %j : index
    %1 = arith.ori %0, %c : i1
    cf.assert %1, "where they meet"
  }
  return
}
