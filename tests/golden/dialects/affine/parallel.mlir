// RUN: gradus opt %s

func.func @forms(%n: index, %m: memref<16x16xindex>) {
  affine.parallel (%i, %j) = (0, 0) to (16, 8) {
    affine.store %i, %m[%i, %j] : memref<16x16xindex>
  }
  affine.parallel (%i) = (2) to (16) step (3) {
    affine.store %i, %m[%i, 0] : memref<16x16xindex>
  } {note}
  affine.parallel (%i, %j) = (max(0, symbol(%n)), 0) to (min(16, symbol(%n) + 4), 16) step (1, 2) {
    affine.store %j, %m[%i, %j] : memref<16x16xindex>
  }
  affine.for %k = 0 to 4 {
    affine.parallel (%i) = (%k) to (%k + 8) {
      affine.store %i, %m[%k, %i] : memref<16x16xindex>
    }
  }
  affine.parallel () = () to () {
    affine.store %n, %m[0, 0] : memref<16x16xindex>
  }
  return
}

func.func @reductions(%x: i32) -> (i32, i32, i32, i32) {
  %0:4 = affine.parallel (%i) = (1) to (5) reduce ("addi", "muli", "andi", "ori") -> (i32, i32, i32, i32) {
    %1 = arith.index_cast %i : index to i32
    %2 = arith.addi %1, %x : i32
    affine.yield %2, %2, %2, %2 : i32, i32, i32, i32
  }
  return %0#0, %0#1, %0#2, %0#3 : i32, i32, i32, i32
}

// Signed and unsigned minimum and maximum reductions: the integer type is signless, or has the same signedness.
func.func @extremes(%x: si32, %y: ui32) -> (si32, si32, ui32, ui32) {
  %0:4 = affine.parallel (%i) = (1) to (5) reduce ("maxs", "mins", "maxu", "minu") -> (si32, si32, ui32, ui32) {
    affine.yield %x, %x, %y, %y : si32, si32, ui32, ui32
  }
  return %0#0, %0#1, %0#2, %0#3 : si32, si32, ui32, ui32
}

func.func @float_reductions(%m: memref<4xf32>) -> (f32, f32) {
  %0:2 = affine.parallel (%i) = (0) to (4) reduce ("maximumf", "minimumf") -> (f32, f32) {
    %1 = affine.load %m[%i] : memref<4xf32>
    affine.yield %1, %1 : f32, f32
  }
  return %0#0, %0#1 : f32, f32
}
