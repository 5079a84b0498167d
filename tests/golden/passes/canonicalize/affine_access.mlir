// RUN: gradus opt %s --canonicalize

// Ops that compute subscripts, and constants, are composed into the map.
func.func @subscripts(%m: memref<32x32xindex>, %n: i4) -> index {
  %c2 = arith.constant 2 : index
  %s = arith.index_castui %n : i4 to index
  %0 = affine.apply affine_map<()[s0] -> (s0 + 1)>()[%s]
  affine.for %i = 0 to 4 {
    %1 = affine.apply affine_map<(d0)[s0] -> (d0 + s0)>(%i)[%s]
    %2 = affine.load %m[%1, %c2] : memref<32x32xindex>
    affine.store %2, %m[symbol(%0), %1 + %i] : memref<32x32xindex>
    affine.prefetch %m[%1, %c2], read, locality<1>, data : memref<32x32xindex>
    %3 = affine.vector_load %m[%1, %c2 * 2] : memref<32x32xindex>, vector<2xindex>
    affine.vector_store %3, %m[%1, %i + %i] : memref<32x32xindex>, vector<2xindex>
  }
  %4 = affine.load %m[%0, %c2] : memref<32x32xindex>
  return %4 : index
}

// Accesses go through casts of the memref.
func.func @casts(%m: memref<4xindex>, %x: index) -> index {
  %0 = memref.cast %m : memref<4xindex> to memref<?xindex>
  affine.store %x, %0[1] : memref<?xindex>
  affine.prefetch %0[1], write, locality<0>, instr : memref<?xindex>
  %1 = affine.load %0[2] : memref<?xindex>
  return %1 : index
}

memref.global "private" constant @table : memref<4xi32> = dense<[2, 3, 5, 7]>
memref.global "private" constant @splat : memref<2x2xi32> = dense<9>
memref.global "private" @variable : memref<4xi32> = dense<[2, 3, 5, 7]>

// Loads from constant globals are folded.
func.func @known(%i: index) -> (i32, i32, i32, i32) {
  %0 = memref.get_global @table : memref<4xi32>
  %1 = memref.get_global @splat : memref<2x2xi32>
  %2 = memref.get_global @variable : memref<4xi32>
  %c1 = arith.constant 1 : index
  %3 = affine.load %0[2] : memref<4xi32>
  %4 = affine.load %0[%c1 + 2] : memref<4xi32>
  %5 = affine.load %1[0, 1] : memref<2x2xi32>
  %6 = affine.load %2[2] : memref<4xi32>
  return %3, %4, %5, %6 : i32, i32, i32, i32
}

func.func @unused(%m: memref<4xindex>) {
  %0 = affine.load %m[1] : memref<4xindex>
  %1 = affine.vector_load %m[1] : memref<4xindex>, vector<2xindex>
  return
}

func.func @copies(%a: memref<4xi32>, %b: memref<4xi32>) {
  %tag = memref.alloc() : memref<1xi32>
  %c4 = arith.constant 4 : index
  %0 = memref.cast %a : memref<4xi32> to memref<?xi32>
  %1 = memref.cast %tag : memref<1xi32> to memref<?xi32>
  affine.dma_start %0[0], %b[0], %1[0], %c4 : memref<?xi32>, memref<4xi32>, memref<?xi32>
  affine.dma_wait %1[0], %c4 : memref<?xi32>
  return
}
