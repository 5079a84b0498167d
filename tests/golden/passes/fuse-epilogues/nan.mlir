// RUN: gradus opt %s --fuse-epilogues

// A bound that is no number makes every result none: the clamp that the product has does not hide it.
func.func @bound(%a: tensor<2x2xf32>, %base: tensor<2xi32>, %offset: tensor<2xi32>, %b: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %nan = graph.constant dense<0x7FC00000> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %0 = addr.gemm %a[%base + %offset], %b {low = 0.0 : f32} : (tensor<2x2xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = graph.clip %0 min %nan max %one : (tensor<2x2xf32>, tensor<f32>, tensor<f32>) -> tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}
