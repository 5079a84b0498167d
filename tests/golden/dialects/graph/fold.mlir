// RUN: gradus opt %s --canonicalize

func.func @constants() -> (tensor<2x2xf32>, tensor<4xi64>, tensor<2xi64>) {
  %a = graph.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %b = graph.constant dense<10.0> : tensor<f32>
  %0 = graph.mul %a, %b : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  %1 = graph.matmul %0, %a : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %p = graph.constant dense<[1, 2]> : tensor<2xi64>
  %2 = graph.concat %p, %p {axis = 0 : i64} : (tensor<2xi64>, tensor<2xi64>) -> tensor<4xi64>
  %3 = graph.shape %1 : (tensor<2x2xf32>) -> tensor<2xi64>
  return %1, %2, %3 : tensor<2x2xf32>, tensor<4xi64>, tensor<2xi64>
}
func.func @identities(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = graph.identity %x : tensor<2x3xf32>
  %shape = graph.constant dense<[2, 3]> : tensor<2xi64>
  %1 = graph.reshape %0, %shape : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  %2 = graph.neg %1 : tensor<2x3xf32>
  %3 = graph.neg %2 : tensor<2x3xf32>
  %4 = graph.relu %3 : tensor<2x3xf32>
  %5 = graph.relu %4 : tensor<2x3xf32>
  return %0, %3, %5 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}
func.func @transposed(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %0 = graph.transpose %x {perm = array<i64: 2, 0, 1>} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %1 = graph.transpose %0 {perm = array<i64: 1, 2, 0>} : (tensor<4x2x3xf32>) -> tensor<2x3x4xf32>
  return %1 : tensor<2x3x4xf32>
}
