// RUN: gradus opt %s

func.func @delinearize(%i: index, %n: index) -> (index, index, index, index, index, index) {
  %mask = arith.constant 63 : index
  %at = arith.andi %i, %mask : index
  %0:3 = affine.delinearize_index %at into (4, 4, 4) : index, index, index
  %1:2 = affine.delinearize_index %at into (5) : index, index
  %2 = affine.delinearize_index %at into (64) {note} : index
  return %0#0, %0#1, %0#2, %1#0, %1#1, %2 : index, index, index, index, index, index
}

func.func @delinearize_dynamic(%i: index, %a: index) -> (index, index, index) {
  %c1 = arith.constant 1 : index
  %mask = arith.constant 7 : index
  %low = arith.andi %a, %mask : index
  %size = arith.addi %low, %c1 : index
  %at = arith.andi %i, %mask : index
  %0:3 = affine.delinearize_index %at into (9, %size, 3) : index, index, index
  return %0#0, %0#1, %0#2 : index, index, index
}

func.func @linearize(%a: i4, %b: i4, %c: i4) -> (index, index, index, index) {
  %i = arith.index_castui %a : i4 to index
  %j = arith.index_castui %b : i4 to index
  %k = arith.index_castui %c : i4 to index
  %0 = affine.linearize_index [%i, %j, %k] by (16, 16, 16) : index
  %1 = affine.linearize_index disjoint [%i, %j] by (16, 16) : index
  %2 = affine.linearize_index [%i, %j, %k] by (16, 5) {note} : index
  %3 = affine.linearize_index disjoint [%i] by (16) : index
  return %0, %1, %2, %3 : index, index, index, index
}

func.func @linearize_dynamic(%a: i4, %b: i4, %n: i4) -> index {
  %i = arith.index_castui %a : i4 to index
  %j = arith.index_castui %b : i4 to index
  %m = arith.index_castui %n : i4 to index
  %c1 = arith.constant 1 : index
  %size = arith.addi %m, %c1 : index
  %0 = affine.linearize_index [%i, %j] by (%size, %size) : index
  return %0 : index
}
