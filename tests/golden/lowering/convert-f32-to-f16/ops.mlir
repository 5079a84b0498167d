// RUN: gradus opt %s --convert-f32-to-f16

// One conversion of the argument, none between ops, one of the result; the weights are rounded once.
func.func @layers(%x: tensor<1x2x4x4xf32>) -> tensor<1x4x2x2xf32> {
  %w = graph.constant dense<[[[[1.0, -2.0], [0.5, 3.0]], [[0.0, 1.0], [-1.0, 2.0]]], [[[2.0, 0.0], [1.0, -0.25]], [[1.0, 1.0], [1.0, 1.0]]]]> : tensor<2x2x2x2xf32>
  %b = graph.constant dense<[1.0, -1.0]> : tensor<2xf32>
  %0 = graph.conv %x, %w, %b {strides = array<i64: 2, 2>} : (tensor<1x2x4x4xf32>, tensor<2x2x2x2xf32>, tensor<2xf32>) -> tensor<1x2x2x2xf32>
  %1 = graph.conv %x, %w, %b {strides = array<i64: 2, 2>} : (tensor<1x2x4x4xf32>, tensor<2x2x2x2xf32>, tensor<2xf32>) -> tensor<1x2x2x2xf32>
  %2 = graph.relu %0 : tensor<1x2x2x2xf32>
  %3 = graph.concat %2, %1 {axis = 1 : i64} : (tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>) -> tensor<1x4x2x2xf32>
  return %3 : tensor<1x4x2x2xf32>
}

// -----

// A value that is also a result, a clip with both bounds, and a split with several results.
func.func @shared(%x: tensor<1x4x2x2xf32>) -> (tensor<1x4x2x2xf32>, tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>) {
  %low = graph.constant dense<0.0> : tensor<f32>
  %high = graph.constant dense<6.0> : tensor<f32>
  %0 = graph.clip %x min %low max %high : (tensor<1x4x2x2xf32>, tensor<f32>, tensor<f32>) -> tensor<1x4x2x2xf32>
  %1:2 = graph.split %0 {axis = 1 : i64} : (tensor<1x4x2x2xf32>) -> (tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>)
  %2 = graph.add %1#0, %1#1 : (tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  return %0, %1#1, %2 : tensor<1x4x2x2xf32>, tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>
}

// -----

// Indices stay integers; parameters of a batch normalization become f16, and so do both ways out of it.
func.func @operands(%x: tensor<1x1x2x2xf32>) -> (tensor<1x1x2x2xf32>, tensor<1x1x1x1xf32>, tensor<1x1x1x1xi64>) {
  %one = graph.constant dense<1.0> : tensor<1xf32>
  %0 = graph.batch_normalization %x, %one, %one, %one, %one {epsilon = 3.0 : f32} : (tensor<1x1x2x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x2x2xf32>
  %1:2 = graph.max_pool %0 {kernel_shape = array<i64: 2, 2>} : (tensor<1x1x2x2xf32>) -> (tensor<1x1x1x1xf32>, tensor<1x1x1x1xi64>)
  return %0, %1#0, %1#1 : tensor<1x1x2x2xf32>, tensor<1x1x1x1xf32>, tensor<1x1x1x1xi64>
}

// -----

// A region yields f32, so its value is converted again after it.
func.func @region(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.neg %x : tensor<4xf32>
  %1 = scf.if %c -> (tensor<4xf32>) {
    %2 = graph.abs %0 : tensor<4xf32>
    scf.yield %2 : tensor<4xf32>
  } else {
    scf.yield %0 : tensor<4xf32>
  }
  %3 = graph.relu %1 : tensor<4xf32>
  return %3 : tensor<4xf32>
}
