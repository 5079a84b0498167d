// RUN: gradus opt %s --plan-memory=capacity=100

func.func @too_small(%x: memref<8xf32>, %y: memref<8xf32>) {
  // expected-error@+1 {{the buffers do not fit into arena 'host' of 100 bytes: no plan fits; a capacity of 128 bytes would do}}
  %a = memref.alloc() : memref<8xf32>
  %b = memref.alloc() : memref<8xf32>
  memref.copy %x, %a : memref<8xf32> to memref<8xf32>
  memref.copy %a, %b : memref<8xf32> to memref<8xf32>
  memref.copy %b, %y : memref<8xf32> to memref<8xf32>
  return
}
