func.func @gate(%x: tensor<1x32x8x8xf32>, %gate: tensor<1x32x1x1xf32>) -> tensor<1x32x8x8xf32> {
  %0 = graph.mul %x, %gate : (tensor<1x32x8x8xf32>, tensor<1x32x1x1xf32>) -> tensor<1x32x8x8xf32>
  return %0 : tensor<1x32x8x8xf32>
}
