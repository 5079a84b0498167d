// RUN: gradus opt %s

func.func @there_and_back(%x: tensor<4x8xf32>, %n: tensor<?xi32>) -> (tensor<4x8xf32>, tensor<?xi32>, tensor<4x8xf32>) {
  %0 = bufferization.to_buffer %x read_only : tensor<4x8xf32> to memref<4x8xf32>
  %1 = bufferization.to_buffer %n : tensor<?xi32> to memref<?xi32>
  %2 = bufferization.to_tensor %0 : memref<4x8xf32> to tensor<4x8xf32>
  %3 = bufferization.to_tensor %1 restrict writable : memref<?xi32> to tensor<?xi32>
  %4 = "bufferization.to_tensor"(%0) <{restrict}> {note} : (memref<4x8xf32>) -> tensor<4x8xf32>
  return %2, %3, %4 : tensor<4x8xf32>, tensor<?xi32>, tensor<4x8xf32>
}
