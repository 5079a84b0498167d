// RUN: gradus opt %s --form-steps --dce

// A chain of elementwise ops is one step; the sum that is used twice has a step and buffer of its own.
func.func @chain(%x: tensor<4x8xf32>, %y: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = graph.add %x, %y : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32> loc("sum")
  %1 = graph.relu %0 : tensor<4x8xf32> loc("relu")
  %2 = graph.sqrt %1 : tensor<4x8xf32> loc("root")
  %3 = graph.mul %0, %2 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc("product")
  return %3, %0 : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// Arguments and constants that are returned stay tensors.
func.func @passed(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<2xi64>, tensor<4xf32>) {
  %c = arith.constant dense<[1, 2]> : tensor<2xi64>
  %0 = graph.relu %x : tensor<4xf32>
  return %x, %c, %0 : tensor<4xf32>, tensor<2xi64>, tensor<4xf32>
}

// -----

// Unknown extents, memory and control flow are left as they are.
func.func @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = graph.relu %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func @memory(%x: tensor<4xf32>, %m: memref<4xf32>) -> tensor<4xf32> {
  %0 = graph.relu %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @control(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  cf.cond_br %c, ^a, ^b
^a:
  %0 = graph.relu %x : tensor<4xf32>
  return %0 : tensor<4xf32>
^b:
  return %x : tensor<4xf32>
}
