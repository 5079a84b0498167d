// RUN: gradus opt %s --affine-loop-tile=cache-size=1

// 48 KiB in tiles that fit 1 KiB; tile sizes divide the trip counts.
func.func @product(%a: memref<64x64xf32>, %b: memref<64x64xf32>, %c: memref<64x64xf32> {llvm.noalias}) {
  affine.for %i = 0 to 64 {
    affine.for %j = 0 to 64 {
      affine.for %k = 0 to 64 {
        %0 = affine.load %a[%i, %k] : memref<64x64xf32>
        %1 = affine.load %b[%k, %j] : memref<64x64xf32>
        %2 = arith.mulf %0, %1 : f32
        %3 = affine.load %c[%i, %j] : memref<64x64xf32>
        %4 = arith.addf %2, %3 : f32
        affine.store %4, %c[%i, %j] : memref<64x64xf32>
      }
    }
  }
  return
}

// The memory fits the cache.
func.func @small(%m: memref<8xindex>) {
  affine.for %i = 0 to 8 {
    affine.store %i, %m[%i] : memref<8xindex>
  }
  return
}

// Overlapping parts of one memref.
func.func @part(%m: memref<2x1000xi16>, %x: i16) {
  affine.for %i = 0 to 600 {
    affine.store %x, %m[0, %i + 1] : memref<2x1000xi16>
    affine.store %x, %m[0, %i + 9] : memref<2x1000xi16>
  }
  return
}

// The footprint is unknown.
func.func @unknown(%m: memref<?xindex>, %n: index) {
  %mask = arith.constant 15 : index
  %end = arith.andi %n, %mask : index
  affine.for %i = 0 to %end {
    affine.store %i, %m[%i] : memref<?xindex>
  }
  return
}
