// RUN: gradus opt %s --lower-affine

func.func @delinearize(%a: i6) -> (index, index, index, index, index) {
  %i = arith.index_castui %a : i6 to index
  %0:3 = affine.delinearize_index %i into (4, 4, 4) : index, index, index
  %1:2 = affine.delinearize_index %i into (5) : index, index
  return %0#0, %0#1, %0#2, %1#0, %1#1 : index, index, index, index, index
}

func.func @linearize(%a: i4, %b: i4, %n: i4) -> (index, index) {
  %c1 = arith.constant 1 : index
  %i = arith.index_castui %a : i4 to index
  %j = arith.index_castui %b : i4 to index
  %m = arith.index_castui %n : i4 to index
  %s = arith.addi %m, %c1 : index
  %0 = affine.linearize_index [%i, %j, %i] by (16, 16, 16) : index
  %1 = affine.linearize_index disjoint [%i, %j] by (%s, 16) : index
  return %0, %1 : index, index
}

func.func @dynamic(%a: i4, %n: i4) -> (index, index) {
  %c1 = arith.constant 1 : index
  %i = arith.index_castui %a : i4 to index
  %m = arith.index_castui %n : i4 to index
  %s = arith.addi %m, %c1 : index
  %0:2 = affine.delinearize_index %i into (%s) : index, index
  return %0#0, %0#1 : index, index
}
