// RUN: gradus opt %s --allow-unregistered-dialect

"t.sparse"() {
  vector = sparse<[[0], [3]], [1.0, 2.0]> : tensor<4xf32>,
  matrix = sparse<[[0, 0], [1, 2]], [1, 5]> : tensor<3x4xi32>,
  splat = sparse<0, 1> : tensor<1xi32>,
  none = sparse<> : tensor<2x2xf64>
} : () -> ()
