// RUN: gradus opt %s --split-input-file --verify-diagnostics

func.func @rotary(%x: tensor<1x1x1x1xf32>, %c: tensor<1x1xf32>, %p: tensor<1x1xi64>) -> tensor<1x1x1x1xf32> {
  // expected-error @below {{requires pairs of elements, but rotates 1 of 1}}
  %0 = graph.rotary_embedding %x, %c, %c, %p : (tensor<1x1x1x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>, tensor<1x1xi64>) -> tensor<1x1x1x1xf32>
  return %0 : tensor<1x1x1x1xf32>
}

// -----

func.func @normalization(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error @below {{axis 2 is out of range for rank 2}}
  %0 = graph.mean_variance_normalization %x {axes = array<i64: 0, 2>} : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
