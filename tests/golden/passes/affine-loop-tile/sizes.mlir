// RUN: gradus opt %s --affine-loop-tile=tile-sizes=2,3

// Loops without a given size have tiles of 4.
func.func @three(%m: memref<5x6x7xindex>) {
  affine.for %i = 0 to 5 {
    affine.for %j = 0 to 6 {
      affine.for %k = 0 to 7 {
        %0 = affine.load %m[%i, %j, %k] : memref<5x6x7xindex>
        %1 = arith.addi %0, %k : index
        affine.store %1, %m[%i, %j, %k] : memref<5x6x7xindex>
      }
    }
  }
  return
}

func.func @one(%m: memref<5x6x7xindex>) {
  affine.for %i = 0 to 5 {
    affine.store %i, %m[%i, %i, %i] : memref<5x6x7xindex>
  }
  return
}
