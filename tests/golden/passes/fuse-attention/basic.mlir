// RUN: gradus opt %s --fuse-attention --canonicalize

// As exporters write it: features are divided among heads by transpositions, keys by one that puts them into columns.
func.func @encoder(%q: tensor<1x8x6xf32>, %k: tensor<1x8x6xf32>, %v: tensor<1x8x6xf32>, %mask: tensor<1x1x1x8xf32>) -> tensor<1x8x6xf32> {
  %heads = graph.constant dense<[1, 8, 2, 3]> : tensor<4xi64>
  %features = graph.constant dense<[1, 8, 6]> : tensor<3xi64>
  %root = graph.constant dense<2.0> : tensor<f32>
  %0 = graph.reshape %q, %heads : (tensor<1x8x6xf32>, tensor<4xi64>) -> tensor<1x8x2x3xf32>
  %1 = graph.transpose %0 {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x8x2x3xf32>) -> tensor<1x2x8x3xf32>
  %2 = graph.reshape %k, %heads : (tensor<1x8x6xf32>, tensor<4xi64>) -> tensor<1x8x2x3xf32>
  %3 = graph.transpose %2 {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x8x2x3xf32>) -> tensor<1x2x3x8xf32>
  %4 = graph.reshape %v, %heads : (tensor<1x8x6xf32>, tensor<4xi64>) -> tensor<1x8x2x3xf32>
  %5 = graph.transpose %4 {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x8x2x3xf32>) -> tensor<1x2x8x3xf32>
  %6 = graph.matmul %1, %3 : (tensor<1x2x8x3xf32>, tensor<1x2x3x8xf32>) -> tensor<1x2x8x8xf32>
  %7 = graph.div %6, %root : (tensor<1x2x8x8xf32>, tensor<f32>) -> tensor<1x2x8x8xf32>
  %8 = graph.add %7, %mask : (tensor<1x2x8x8xf32>, tensor<1x1x1x8xf32>) -> tensor<1x2x8x8xf32>
  %9 = graph.softmax %8 : tensor<1x2x8x8xf32>
  %10 = graph.matmul %9, %5 : (tensor<1x2x8x8xf32>, tensor<1x2x8x3xf32>) -> tensor<1x2x8x3xf32>
  %11 = graph.transpose %10 {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x2x8x3xf32>) -> tensor<1x8x2x3xf32>
  %12 = graph.reshape %11, %features : (tensor<1x8x2x3xf32>, tensor<3xi64>) -> tensor<1x8x6xf32>
  return %12 : tensor<1x8x6xf32>
}
// Heads in tensors of rank 3, keys that are in columns already, and no mask.
func.func @rank_3(%q: tensor<2x4x3xf32>, %k: tensor<2x3x5xf32>, %v: tensor<2x5x7xf32>) -> tensor<2x4x7xf32> {
  %scale = graph.constant dense<[[[0.25]]]> : tensor<1x1x1xf32>
  %0 = graph.matmul %q, %k : (tensor<2x4x3xf32>, tensor<2x3x5xf32>) -> tensor<2x4x5xf32>
  %1 = graph.mul %scale, %0 : (tensor<1x1x1xf32>, tensor<2x4x5xf32>) -> tensor<2x4x5xf32>
  %2 = graph.softmax %1 {axis = 2 : i64} : tensor<2x4x5xf32>
  %3 = graph.matmul %2, %v : (tensor<2x4x5xf32>, tensor<2x5x7xf32>) -> tensor<2x4x7xf32>
  return %3 : tensor<2x4x7xf32>
}
// Not fused: a mask that repeats one number for all keys, another axis, probabilities that are a result, and a divisor that is not
// positive.
func.func @repeated_mask(%q: tensor<1x1x2x3xf32>, %k: tensor<1x1x3x2xf32>, %v: tensor<1x1x2x2xf32>, %mask: tensor<2x1xf32>) -> tensor<1x1x2x2xf32> {
  %0 = graph.matmul %q, %k : (tensor<1x1x2x3xf32>, tensor<1x1x3x2xf32>) -> tensor<1x1x2x2xf32>
  %1 = graph.add %0, %mask : (tensor<1x1x2x2xf32>, tensor<2x1xf32>) -> tensor<1x1x2x2xf32>
  %2 = graph.softmax %1 : tensor<1x1x2x2xf32>
  %3 = graph.matmul %2, %v : (tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>
  return %3 : tensor<1x1x2x2xf32>
}
func.func @other_axis(%q: tensor<1x1x2x3xf32>, %k: tensor<1x1x3x2xf32>, %v: tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32> {
  %0 = graph.matmul %q, %k : (tensor<1x1x2x3xf32>, tensor<1x1x3x2xf32>) -> tensor<1x1x2x2xf32>
  %1 = graph.softmax %0 {axis = 2 : i64} : tensor<1x1x2x2xf32>
  %2 = graph.matmul %1, %v : (tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>
  return %2 : tensor<1x1x2x2xf32>
}
func.func @used(%q: tensor<1x1x2x3xf32>, %k: tensor<1x1x3x2xf32>, %v: tensor<1x1x2x2xf32>) -> (tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>) {
  %0 = graph.matmul %q, %k : (tensor<1x1x2x3xf32>, tensor<1x1x3x2xf32>) -> tensor<1x1x2x2xf32>
  %1 = graph.softmax %0 : tensor<1x1x2x2xf32>
  %2 = graph.matmul %1, %v : (tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>
  return %2, %1 : tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>
}
func.func @negative(%q: tensor<1x1x2x3xf32>, %k: tensor<1x1x3x2xf32>, %v: tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32> {
  %divisor = graph.constant dense<-2.0> : tensor<f32>
  %0 = graph.matmul %q, %k : (tensor<1x1x2x3xf32>, tensor<1x1x3x2xf32>) -> tensor<1x1x2x2xf32>
  %1 = graph.div %0, %divisor : (tensor<1x1x2x2xf32>, tensor<f32>) -> tensor<1x1x2x2xf32>
  %2 = graph.softmax %1 : tensor<1x1x2x2xf32>
  %3 = graph.matmul %2, %v : (tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>
  return %3 : tensor<1x1x2x2xf32>
}
