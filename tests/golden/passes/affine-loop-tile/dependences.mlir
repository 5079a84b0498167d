// RUN: gradus opt %s --affine-loop-tile=tile-size=2 --split-input-file

// Dependences with nonnegative distances in both loops.
func.func @forward(%m: memref<8x8xindex>) {
  affine.for %i = 1 to 8 {
    affine.for %j = 2 to 8 {
      %0 = affine.load %m[%i - 1, %j - 2] : memref<8x8xindex>
      %1 = arith.addi %0, %j : index
      affine.store %1, %m[%i, %j] : memref<8x8xindex>
    }
  }
  return
}

// No dependence: even subscripts against odd ones, and different rows.
func.func @disjoint(%m: memref<16x8xindex>) {
  affine.for %i = 1 to 7 {
    affine.for %j = 0 to 7 {
      %0 = affine.load %m[%i * 2 - 1, %j + 1] : memref<16x8xindex>
      affine.store %0, %m[%i * 2, %j] : memref<16x8xindex>
      %1 = affine.load %m[15, %j + 1] : memref<16x8xindex>
    }
  }
  return
}

// Each iteration of the outer loop uses the same row, but its trip count is 1.
func.func @once(%m: memref<8xindex>) {
  affine.for %i = 0 to 1 {
    affine.for %j = 0 to 8 {
      %0 = affine.load %m[%j] : memref<8xindex>
      %1 = arith.addi %0, %i : index
      affine.store %1, %m[%j] : memref<8xindex>
    }
  }
  return
}

// Subscripts computed by ops on induction variables, and other accesses.
func.func @computed(%m: memref<8x9xindex>, %n: memref<8xindex> {llvm.noalias}) {
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 8 {
      %k = affine.apply affine_map<(d0) -> (d0 + 1)>(%j)
      %0 = memref.load %m[%i, %k] : memref<8x9xindex>
      %1 = affine.load %n[%j] : memref<8xindex>
      %2 = arith.addi %0, %1 : index
      affine.store %2, %m[%i, %k] : memref<8x9xindex>
    }
  }
  return
}

// No aliasing: allocations, an argument and a later allocation, `distinct_objects`, and views of these.
func.func @distinct(%a: memref<8x8xindex>, %b: memref<8x8xindex>) {
  %c = memref.alloc() : memref<8x8xindex>
  affine.for %i = 1 to 8 {
    affine.for %j = 0 to 7 {
      %0 = affine.load %a[%i - 1, %j + 1] : memref<8x8xindex>
      affine.store %0, %c[%i, %j] : memref<8x8xindex>
    }
  }
  memref.dealloc %c : memref<8x8xindex>
  %d, %e = memref.distinct_objects %a, %b : memref<8x8xindex>, memref<8x8xindex>
  %v = memref.subview %e[0, 0] [8, 4] [1, 2] : memref<8x8xindex> to memref<8x4xindex, strided<[8, 2]>>
  affine.for %i = 1 to 8 {
    affine.for %j = 0 to 3 {
      %0 = affine.load %d[%i - 1, %j + 1] : memref<8x8xindex>
      affine.store %0, %v[%i, %j] : memref<8x4xindex, strided<[8, 2]>>
    }
  }
  return
}

// Reads have no dependences on each other.
func.func @reads(%a: memref<8x8xindex>, %b: memref<8x8xindex>) {
  affine.for %i = 1 to 8 {
    affine.for %j = 0 to 7 {
      %0 = affine.load %a[%i - 1, %j + 1] : memref<8x8xindex>
      %1 = affine.load %b[%i, %j] : memref<8x8xindex>
    }
  }
  return
}
