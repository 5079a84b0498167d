// RUN: gradus opt %s

func.func @copies(%a: memref<4x8xi32>, %b: memref<32xi32>) {
  %tag = memref.alloc() : memref<2xi32>
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c2 = arith.constant 2 : index
  affine.for %i = 0 to 4 {
    affine.dma_start %a[%i, 0], %b[%i * 8], %tag[%i mod 2], %c8 : memref<4x8xi32>, memref<32xi32>, memref<2xi32>
    affine.dma_wait %tag[%i mod 2], %c8 : memref<2xi32>
  }
  affine.dma_start %b[4], %a[1, 4], %tag[0], %c4 : memref<32xi32>, memref<4x8xi32>, memref<2xi32>
  affine.dma_wait %tag[0], %c4 : memref<2xi32>
  affine.dma_start %a[0, 0], %b[0], %tag[1], %c4, %c8, %c2 : memref<4x8xi32>, memref<32xi32>, memref<2xi32>
  affine.dma_wait %tag[1], %c4 : memref<2xi32>
  return
}
