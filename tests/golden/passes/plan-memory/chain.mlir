// RUN: gradus opt %s --form-steps=fuse=false --plan-memory="alignment=32 in-place=false" --mlir-pass-statistics

// At most two buffers are live at a time; the third reuses the bytes of the first. The result stays outside of the arena.
func.func @chain(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = graph.relu %x : tensor<8xf32>
  %1 = graph.neg %0 : tensor<8xf32>
  %2 = graph.sqrt %1 : tensor<8xf32>
  %3 = graph.exp %2 : tensor<8xf32>
  return %3 : tensor<8xf32>
}

// -----

// The buffer of a concatenation is live from the first part that is written into it.
func.func @concat(%x: tensor<4x2xf32>) -> tensor<4x4xf32> {
  %0 = graph.relu %x : tensor<4x2xf32>
  %1 = graph.neg %x : tensor<4x2xf32>
  %2 = graph.sqrt %1 : tensor<4x2xf32>
  %3 = graph.concat %0, %2 {axis = 1 : i64} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x4xf32>
  %4 = graph.exp %3 : tensor<4x4xf32>
  return %4 : tensor<4x4xf32>
}

// -----

// Buffers with other uses stay.
func.func @escapes(%x: memref<8xf32>) -> memref<8xf32> {
  %a = memref.alloc() : memref<8xf32>
  %b = memref.alloc() : memref<8xf32>
  memref.copy %x, %a : memref<8xf32> to memref<8xf32>
  memref.copy %a, %b : memref<8xf32> to memref<8xf32>
  return %b : memref<8xf32>
}
