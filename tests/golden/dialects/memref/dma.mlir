// RUN: gradus opt %s

// An asynchronous copy of contiguous elements.
func.func @plain(%src: memref<2x8xf32>, %dst: memref<16xf32, 1>, %i: index, %n: index) {
  %c0 = arith.constant 0 : index
  %tag = memref.alloc() : memref<1xi32>
  memref.dma_start %src[%i, %i], %dst[%c0], %n, %tag[%c0] : memref<2x8xf32>, memref<16xf32, 1>, memref<1xi32>
  memref.dma_wait %tag[%c0], %n : memref<1xi32>
  return
}

// A strided copy: 2 of every 5 elements in the slower memory.
func.func @strided(%src: memref<16xi32, 2>, %dst: memref<64xi32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %tag = memref.alloc() : memref<i32>
  memref.dma_start %src[%c0], %dst[%c0], %n, %tag[], %c5, %c2 : memref<16xi32, 2>, memref<64xi32>, memref<i32>
  memref.dma_wait %tag[], %n {note} : memref<i32>
  return
}
