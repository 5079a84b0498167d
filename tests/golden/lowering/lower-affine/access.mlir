// RUN: gradus opt %s --lower-affine

func.func @elements(%m: memref<8x16xindex>, %s: memref<index>) -> index {
  affine.for %i = 0 to 4 {
    %0 = affine.load %m[%i * 2 + 1, %i mod 3] : memref<8x16xindex>
    affine.store %0, %m[%i, %i + 12] : memref<8x16xindex>
    affine.prefetch %m[%i, 5], write, locality<2>, data : memref<8x16xindex>
  }
  %1 = affine.load %s[] : memref<index>
  affine.store %1, %s[] : memref<index>
  return %1 : index
}

func.func @copies(%a: memref<4x8xi32>, %b: memref<32xi32>) {
  %tag = memref.alloc() : memref<2xi32>
  %c8 = arith.constant 8 : index
  affine.for %i = 0 to 4 {
    affine.dma_start %a[%i, 0], %b[%i * 8], %tag[%i mod 2], %c8 : memref<4x8xi32>, memref<32xi32>, memref<2xi32>
    affine.dma_wait %tag[%i mod 2], %c8 : memref<2xi32>
  }
  return
}

memref.global "private" constant @table : memref<4xi32> = dense<[2, 3, 5, 7]>

func.func @known() -> i32 {
  %0 = memref.get_global @table : memref<4xi32>
  %1 = affine.load %0[3] : memref<4xi32>
  return %1 : i32
}
