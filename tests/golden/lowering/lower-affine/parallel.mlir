// RUN: gradus opt %s --lower-affine

func.func @bounds(%n: i4, %m: memref<64xindex>) {
  %s = arith.index_castui %n : i4 to index
  affine.parallel (%i, %j) = (0, max(2, symbol(%s) - 3)) to (4, min(8, symbol(%s))) step (1, 2) {
    affine.store %i, %m[%i * 8 + %j] : memref<64xindex>
  }
  return
}

func.func @integers(%x: i32) -> (i32, i32, i32, i32) {
  %0:4 = affine.parallel (%i) = (1) to (5) reduce ("addi", "muli", "andi", "ori") -> (i32, i32, i32, i32) {
    %1 = arith.index_cast %i : index to i32
    %2 = arith.addi %1, %x : i32
    affine.yield %2, %2, %2, %2 : i32, i32, i32, i32
  }
  return %0#0, %0#1, %0#2, %0#3 : i32, i32, i32, i32
}

func.func @floats(%m: memref<2xf32>) -> (f32, f32, f32, f32) {
  %0:4 = affine.parallel (%i) = (0) to (2) reduce ("addf", "mulf", "maximumf", "minimumf") -> (f32, f32, f32, f32) {
    %1 = affine.load %m[%i] : memref<2xf32>
    affine.yield %1, %1, %1, %1 : f32, f32, f32, f32
  }
  return %0#0, %0#1, %0#2, %0#3 : f32, f32, f32, f32
}
