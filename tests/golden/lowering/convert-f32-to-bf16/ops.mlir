// RUN: gradus opt %s --convert-f32-to-bf16

// One conversion of the argument, none between ops, one of the result; constants are converted once.
func.func @layers(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32> {
  %w = graph.constant dense<[[[[1.0, -2.0], [0.50390625, 1.0078125]], [[0.0, 1.0], [-1.0, 3.0]]], [[[1024.0, 0.0], [1.0, -0.25]], [[1.0, 1.0], [1.0, 1.015625]]]]> : tensor<2x2x2x2xf32>
  %b = graph.constant dense<[1.0, -1.0]> : tensor<2xf32>
  %0 = graph.conv %x, %w, %b {strides = array<i64: 2, 2>} : (tensor<1x2x4x4xf32>, tensor<2x2x2x2xf32>, tensor<2xf32>) -> tensor<1x2x2x2xf32>
  %1 = graph.relu %0 : tensor<1x2x2x2xf32>
  return %1 : tensor<1x2x2x2xf32>
}

// -----

// The greatest f32 would become infinite, and the smallest one zero; a number that f16 does not reach fits.
func.func @range(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %large = graph.constant dense<[1.0, 3.40282347E+38]> : tensor<2xf32>
  %small = graph.constant dense<1.4E-45> : tensor<2xf32>
  %fits = graph.constant dense<[1.0, 1048576.0]> : tensor<2xf32>
  %0 = graph.mul %x, %large : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = graph.mul %x, %small : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %2 = graph.mul %x, %fits : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %0, %1, %2 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// -----

// Parameters of a batch normalization stay f32.
func.func @parameters(%x: tensor<1x2x2x2xf32>, %p: tensor<2xf32>) -> tensor<1x2x2x2xf32> {
  %v = graph.constant dense<1.0> : tensor<2xf32>
  %0 = "graph.batch_normalization"(%x, %p, %p, %p, %v) : (tensor<1x2x2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x2x2xf32>
  return %0 : tensor<1x2x2x2xf32>
}
