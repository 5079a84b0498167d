// RUN: gradus opt %s --expand-composed-ops

// Statistics that are results, and floats of 16 bits.
func.func @layer(%x: tensor<2x3x4xf32>, %s: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<2x3x4xf32>, tensor<2x3x1xf32>, tensor<2x3x1xf32>) {
  %0:3 = graph.layer_normalization %x, %s, %b : (tensor<2x3x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x3x4xf32>, tensor<2x3x1xf32>, tensor<2x3x1xf32>)
  return %0#0, %0#1, %0#2 : tensor<2x3x4xf32>, tensor<2x3x1xf32>, tensor<2x3x1xf32>
}
func.func @narrow(%x: tensor<2x4xbf16>, %s: tensor<4xbf16>) -> (tensor<2x4xbf16>, tensor<2x4xbf16>) {
  %0 = graph.layer_normalization %x, %s : (tensor<2x4xbf16>, tensor<4xbf16>) -> tensor<2x4xbf16>
  %1 = graph.rms_normalization %x, %s : (tensor<2x4xbf16>, tensor<4xbf16>) -> tensor<2x4xbf16>
  return %0, %1 : tensor<2x4xbf16>, tensor<2x4xbf16>
}
func.func @wide(%x: tensor<2x4xf64>, %s: tensor<4xf64>) -> tensor<2x4xf64> {
  %0 = graph.rms_normalization %x, %s : (tensor<2x4xf64>, tensor<4xf64>) -> tensor<2x4xf64>
  return %0 : tensor<2x4xf64>
}
func.func @trained(%x: tensor<3x2x5xf32>, %a: tensor<2xf32>, %v: tensor<2xf32>) -> (tensor<3x2x5xf32>, tensor<2xf32>, tensor<2xf32>) {
  %0:3 = graph.batch_normalization %x, %a, %a, %a, %v {training_mode = 1 : i64, momentum = 0.75 : f32} : (tensor<3x2x5xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<3x2x5xf32>, tensor<2xf32>, tensor<2xf32>)
  return %0#0, %0#1, %0#2 : tensor<3x2x5xf32>, tensor<2xf32>, tensor<2xf32>
}
