// RUN: gradus opt %s

// The parts of a concatenation are written in place, a step yields two tensors, and the third buffer shares the offset of
// the first.
func.func @main(%x: tensor<2x4xf32>) -> (tensor<2x6xf32>, tensor<2x4xf32>) {
  %host = sched.arena "host" : memref<128xi8>
  %in = sched.to_buffer %x : tensor<2x4xf32> to memref<2x4xf32>
  %a = sched.buffer %host[0] : memref<128xi8> to memref<2x4xf32>
  %b = sched.buffer %host[32] : memref<128xi8> to memref<2x6xf32>
  %c = sched.buffer %host[0] : memref<128xi8> to memref<2x4xf32>
  %left = memref.reinterpret_cast %b to offset: [0], sizes: [2, 4], strides: [6, 1] : memref<2x6xf32> to memref<2x4xf32, strided<[6, 1]>>
  %right = memref.subview %b[0, 4] [2, 2] [1, 1] : memref<2x6xf32> to memref<2x2xf32, strided<[6, 1], offset: 4>>
  sched.step "twice" reads(%in : memref<2x4xf32>) writes(%a, %left : memref<2x4xf32>, memref<2x4xf32, strided<[6, 1]>>) {
  ^bb0(%0: tensor<2x4xf32>):
    %1 = graph.relu %0 : tensor<2x4xf32>
    %2 = graph.neg %0 : tensor<2x4xf32>
    sched.yield %1, %2 : tensor<2x4xf32>, tensor<2x4xf32>
  } {note}
  sched.step writes(%right : memref<2x2xf32, strided<[6, 1], offset: 4>>) {
    %0 = arith.constant dense<1.0> : tensor<2x2xf32>
    sched.yield %0 : tensor<2x2xf32>
  }
  sched.step reads(%a : memref<2x4xf32>) writes(%c : memref<2x4xf32>) {
  ^bb0(%0: tensor<2x4xf32>):
    %1 = graph.sqrt %0 : tensor<2x4xf32>
    sched.yield %1 : tensor<2x4xf32>
  }
  sched.step "empty" {
  }
  %y = sched.to_tensor %b : memref<2x6xf32> to tensor<2x6xf32>
  %z = sched.to_tensor %c : memref<2x4xf32> to tensor<2x4xf32>
  return %y, %z : tensor<2x6xf32>, tensor<2x4xf32>
}
