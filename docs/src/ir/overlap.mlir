module {
  func.func @main(%arg0: tensor<6x4xf32>, %arg1: tensor<4xf32>) -> tensor<6x8xf32> {
    %host = sched.arena "host" : memref<320xi8>
    %buffer = sched.to_buffer %arg0 : tensor<6x4xf32> to memref<6x4xf32>
    %buffer_0 = sched.to_buffer %arg1 : tensor<4xf32> to memref<4xf32>
    %buffer_1 = sched.buffer %host[192] : memref<320xi8> to memref<6x4xf32>
    sched.step "shift+relu" reads(%buffer, %buffer_0 : memref<6x4xf32>, memref<4xf32>) writes(%buffer_1 : memref<6x4xf32>) {
    ^bb0(%arg2: tensor<6x4xf32>, %arg3: tensor<4xf32>):
      %1 = graph.add %arg2, %arg3 : (tensor<6x4xf32>, tensor<4xf32>) -> tensor<6x4xf32>
      %2 = graph.relu %1 : tensor<6x4xf32>
      sched.yield %2 : tensor<6x4xf32>
    }
    %buffer_2 = sched.buffer %host[128] : memref<320xi8> to memref<6x8xf32>
    %reinterpret_cast = memref.reinterpret_cast %buffer_2 to offset: [0], sizes: [6, 4], strides: [8, 1] : memref<6x8xf32> to memref<6x4xf32, strided<[8, 1]>>
    sched.step "left" reads(%buffer_1 : memref<6x4xf32>) writes(%reinterpret_cast : memref<6x4xf32, strided<[8, 1]>>) {
    ^bb0(%arg2: tensor<6x4xf32>):
      %1 = graph.neg %arg2 : tensor<6x4xf32>
      sched.yield %1 : tensor<6x4xf32>
    }
    %reinterpret_cast_3 = memref.reinterpret_cast %buffer_2 to offset: [4], sizes: [6, 4], strides: [8, 1] : memref<6x8xf32> to memref<6x4xf32, strided<[8, 1], offset: 4>>
    sched.step "right" reads(%buffer_1 : memref<6x4xf32>) writes(%reinterpret_cast_3 : memref<6x4xf32, strided<[8, 1], offset: 4>>) {
    ^bb0(%arg2: tensor<6x4xf32>):
      %1 = graph.sqrt %arg2 : tensor<6x4xf32>
      sched.yield %1 : tensor<6x4xf32>
    }
    %alloc = memref.alloc() : memref<6x8xf32>
    sched.step "exp" reads(%buffer_2 : memref<6x8xf32>) writes(%alloc : memref<6x8xf32>) {
    ^bb0(%arg2: tensor<6x8xf32>):
      %1 = graph.exp %arg2 : tensor<6x8xf32>
      sched.yield %1 : tensor<6x8xf32>
    }
    %0 = sched.to_tensor %alloc : memref<6x8xf32> to tensor<6x8xf32>
    return %0 : tensor<6x8xf32>
  }
}
