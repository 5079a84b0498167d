// RUN: gradus opt %s --canonicalize

// A single index, no index, and constants.
func.func @folds(%i: index) -> (index, index, index, index) {
  %0 = affine.delinearize_index %i into (64) : index
  %1 = affine.linearize_index [%i] by (64) : index
  %2 = affine.linearize_index [] by () : index
  %c23 = arith.constant 23 : index
  %3:2 = affine.delinearize_index %c23 into (4, 6) : index, index
  %4 = affine.linearize_index [%3#1, %3#0] by (6, 4) : index
  %5 = arith.addi %0, %1 : index
  return %5, %2, %3#1, %4 : index, index, index, index
}

// Constant sizes become static.
func.func @sizes(%i: index) -> (index, index, index) {
  %c4 = arith.constant 4 : index
  %0:2 = affine.delinearize_index %i into (%c4) : index, index
  %1 = affine.linearize_index [%0#1, %i] by (%c4, %c4) : index
  return %0#0, %0#1, %1 : index, index, index
}

// The index of a unit dimension is 0.
func.func @units(%i: index, %j: index) -> (index, index, index, index) {
  %0:3 = affine.delinearize_index %i into (7, 1, 3) : index, index, index
  %1 = affine.linearize_index disjoint [%i, %j, %j] by (7, 1, 3) : index
  return %0#0, %0#1, %0#2, %1 : index, index, index, index
}

// Linearize and delinearize cancel.
func.func @undone(%i: index) -> index {
  %0:3 = affine.delinearize_index %i into (4, 5, 6) : index, index, index
  %1 = affine.linearize_index disjoint [%0#0, %0#1, %0#2] by (4, 5, 6) : index
  return %1 : index
}

func.func @forth(%a: i2, %b: i2, %c: i2) -> (index, index, index) {
  %i = arith.index_castui %a : i2 to index
  %j = arith.index_castui %b : i2 to index
  %k = arith.index_castui %c : i2 to index
  %0 = affine.linearize_index disjoint [%i, %j, %k] by (4, 4, 4) : index
  %1:3 = affine.delinearize_index %0 into (4, 4, 4) : index, index, index
  return %1#0, %1#1, %1#2 : index, index, index
}

// The innermost sizes agree except for the last, which is split.
func.func @tails(%a: i2, %b: i2, %c: i2) -> (index, index, index, index, index) {
  %i = arith.index_castui %a : i2 to index
  %j = arith.index_castui %b : i2 to index
  %k = arith.index_castui %c : i2 to index
  %0 = affine.linearize_index disjoint [%i, %j, %k] by (4, 4, 4) : index
  %1:3 = affine.delinearize_index %0 into (2, 8, 4) : index, index, index
  %2:3 = affine.delinearize_index %0 into (16, 2, 2) : index, index, index
  %3 = arith.addi %2#0, %1#0 : index
  return %1#1, %1#2, %2#1, %2#2, %3 : index, index, index, index, index
}

// Consecutive indices that are results of one delinearization.
func.func @runs(%i: index, %a: i2, %b: i3) -> index {
  %mask = arith.constant 15 : index
  %at = arith.andi %i, %mask : index
  %j = arith.index_castui %a : i2 to index
  %k = arith.index_castui %b : i3 to index
  %0:2 = affine.delinearize_index %at into (4, 4) : index, index
  %1 = affine.linearize_index disjoint [%j, %0#0, %0#1, %k] by (4, 4, 4, 8) : index
  return %1 : index
}

func.func @leading_zero(%a: i2, %b: i2) -> index {
  %c0 = arith.constant 0 : index
  %j = arith.index_castui %a : i2 to index
  %k = arith.index_castui %b : i2 to index
  %0 = affine.linearize_index [%c0, %j, %k] by (3, 4, 4) : index
  return %0 : index
}

// A run that begins after the first result: the indices before it are results of the same op, which is replaced.
func.func @later_run(%i: index, %j: index) -> index {
  %0:3 = affine.delinearize_index %i into (2, 3) : index, index, index
  %1 = affine.linearize_index [%j, %i, %0#0, %0#1, %0#2] by (4, %j, 2, 3) : index
  return %1 : index
}

// The size of the first index is known after the indices are split.
func.func @later_size(%i: index, %j: index) -> index {
  %0:2 = affine.delinearize_index %i into (4) : index, index
  %n = arith.addi %j, %i : index
  %1 = affine.linearize_index disjoint [%j, %i, %0#0, %0#1] by (2, %n, 4) : index
  %2:3 = affine.delinearize_index %i into (3, 4) : index, index, index
  %k = arith.muli %n, %2#2 : index
  %3 = affine.linearize_index disjoint [%j, %2#0, %2#1] by (%k, 3) : index
  return %3 : index
}
