// RUN: gradus opt %s --canonicalize

// Casts are folded into ops that access memory.
func.func @casts(%m: memref<4x?xf32>, %u: memref<*xf32>, %i: index, %v: f32) -> (f32, f32, f32) {
  %0 = memref.cast %m : memref<4x?xf32> to memref<?x?xf32>
  %1 = memref.load %0[%i, %i] : memref<?x?xf32>
  memref.store %v, %0[%i, %i] : memref<?x?xf32>
  memref.prefetch %0[%i, %i], read, locality<1>, data : memref<?x?xf32>
  %2 = memref.atomic_rmw addf %v, %0[%i, %i] : (f32, memref<?x?xf32>) -> f32
  // Not if the source is unranked.
  %3 = memref.cast %u : memref<*xf32> to memref<4xf32>
  %4 = memref.load %3[%i] : memref<4xf32>
  return %1, %2, %4 : f32, f32, f32
}

// A cast whose result is stored stays.
func.func @stored_cast(%m: memref<2xmemref<?xf32>>, %a: memref<4xf32>, %i: index) {
  %0 = memref.cast %a : memref<4xf32> to memref<?xf32>
  memref.store %0, %m[%i] : memref<2xmemref<?xf32>>
  return
}

func.func @copies(%a: memref<4xf32>, %b: memref<?xf32>, %e: memref<0x?xf32>, %f: memref<0x?xf32>) {
  // Copies to itself and of empty memrefs are erased.
  memref.copy %a, %a : memref<4xf32> to memref<4xf32>
  memref.copy %e, %f : memref<0x?xf32> to memref<0x?xf32>
  %0 = memref.cast %a : memref<4xf32> to memref<?xf32, strided<[?], offset: ?>>
  %1 = memref.cast %b : memref<?xf32> to memref<?xf32, strided<[1], offset: ?>>
  memref.copy %0, %1 : memref<?xf32, strided<[?], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
  // A cast to a more static type stays.
  %2 = memref.cast %b : memref<?xf32> to memref<4xf32>
  memref.copy %2, %a : memref<4xf32> to memref<4xf32>
  return
}

func.func @dma(%a: memref<16xf32>, %b: memref<16xf32, 1>, %t: memref<1xi32>, %i: index) {
  %0 = memref.cast %a : memref<16xf32> to memref<?xf32>
  %1 = memref.cast %t : memref<1xi32> to memref<?xi32>
  memref.dma_start %0[%i], %b[%i], %i, %1[%i] : memref<?xf32>, memref<16xf32, 1>, memref<?xi32>
  memref.dma_wait %1[%i], %i : memref<?xi32>
  return
}

// UB when it runs: the static extents before the casts differ.
func.func @copy_differing(%a: memref<4xf32>, %b: memref<8xf32>) {
  %0 = memref.cast %a : memref<4xf32> to memref<?xf32>
  %1 = memref.cast %b : memref<8xf32> to memref<?xf32>
  memref.copy %0, %1 : memref<?xf32> to memref<?xf32>
  return
}
