// RUN: gradus opt %s --inline

// A value at the top level of a function is an affine symbol; in the region of `tensor.generate` it would not be.
func.func private @stores(%n: index, %x: f32, %m: memref<8xf32>) {
  %0:2 = affine.delinearize_index %n into (4, 2) : index, index
  affine.if affine_set<()[s0] : (s0 - 1 >= 0)>()[%0#1] {
    affine.store %x, %m[symbol(%n) mod 8] : memref<8xf32>
  }
  return
}
func.func @generates(%x: f32, %m: memref<8xf32>) -> tensor<4xindex> {
  %t = tensor.generate {
  ^bb0(%i: index):
    func.call @stores(%i, %x, %m) : (index, f32, memref<8xf32>) -> ()
    tensor.yield %i : index
  } : tensor<4xindex>
  return %t : tensor<4xindex>
}

// -----

// An operand that may be any dimension may be an induction variable.
func.func private @store_at(%i: index, %x: f32, %m: memref<8xf32>) {
  affine.store %x, %m[%i] : memref<8xf32>
  return
}
func.func @fills(%x: f32, %m: memref<8xf32>) {
  affine.for %i = 0 to 8 {
    func.call @store_at(%i, %x, %m) : (index, f32, memref<8xf32>) -> ()
  }
  return
}

// -----

// In `affine.dma_wait`, the tag's indices are followed by the number of elements.
func.func private @waits(%i: index, %m: memref<2xi32>, %n: index) {
  affine.dma_wait %m[%i mod 2], %n : memref<2xi32>
  return
}
func.func @waits_in_a_region(%m: memref<2xi32>, %n: index) -> tensor<4xindex> {
  %t = tensor.generate {
  ^bb0(%i: index):
    func.call @waits(%i, %m, %n) : (index, memref<2xi32>, index) -> ()
    tensor.yield %i : index
  } : tensor<4xindex>
  return %t : tensor<4xindex>
}
func.func @number_in_a_region(%m: memref<2xi32>) -> tensor<4xindex> {
  %c0 = arith.constant 0 : index
  %t = tensor.generate {
  ^bb0(%i: index):
    func.call @waits(%c0, %m, %i) : (index, memref<2xi32>, index) -> ()
    tensor.yield %i : index
  } : tensor<4xindex>
  return %t : tensor<4xindex>
}
