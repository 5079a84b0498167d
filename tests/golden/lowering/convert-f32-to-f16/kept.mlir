// RUN: gradus opt %s --convert-f32-to-f16

// Constants outside the range of f16, in both directions, keep their ops in f32; infinity has a version in f16.
func.func @constants(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %large = graph.constant dense<[1.0, 65520.0]> : tensor<2xf32>
  %largest = graph.constant dense<[1.0, 65504.0]> : tensor<2xf32>
  %tiny = graph.constant dense<1.0e-08> : tensor<f32>
  %small = graph.constant dense<[5.9604644775390625E-8, 1.0]> : tensor<2xf32>
  %infinite = graph.constant dense<0xFF800000> : tensor<f32>
  %0 = graph.mul %x, %large : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = graph.max %x, %largest : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %2 = graph.add %x, %tiny : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %3 = graph.max %x, %small : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %4 = graph.max %x, %infinite : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return %0, %1, %2, %3, %4 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// -----

// Casts, bits, quantization and comparisons read f32; other element types and dialects are not touched.
func.func @other(%x: tensor<4xf32>, %y: tensor<4xui8>, %z: tensor<4xf64>) -> (tensor<4xi64>, tensor<4xi32>, tensor<4xf32>, tensor<4xi1>, tensor<4xf64>, tensor<4xf32>) {
  %s = graph.constant dense<0.5> : tensor<f32>
  %0 = graph.neg %x : tensor<4xf32>
  %1 = graph.cast %0 to i64 : (tensor<4xf32>) -> tensor<4xi64>
  %2 = graph.bit_cast %x to i32 : (tensor<4xf32>) -> tensor<4xi32>
  %3 = graph.dequantize_linear %y, %s : (tensor<4xui8>, tensor<f32>) -> tensor<4xf32>
  %4 = graph.less %x, %3 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %5 = graph.neg %z : tensor<4xf64>
  %6 = arith.negf %x : tensor<4xf32>
  return %1, %2, %3, %4, %5, %6 : tensor<4xi64>, tensor<4xi32>, tensor<4xf32>, tensor<4xi1>, tensor<4xf64>, tensor<4xf32>
}

// -----

// The scales of a resize decide its extents.
func.func @extents(%x: tensor<1x1x3x3xf32>) -> tensor<1x1x5x5xf32> {
  %scales = graph.constant dense<[1.0, 1.0, 1.67, 1.67]> : tensor<4xf32>
  %0 = graph.neg %x : tensor<1x1x3x3xf32>
  %1 = graph.resize %0 scales %scales {mode = "nearest"} : (tensor<1x1x3x3xf32>, tensor<4xf32>) -> tensor<1x1x5x5xf32>
  return %1 : tensor<1x1x5x5xf32>
}

// -----

// A mask of integers is a summand of the scores, and may be outside the range of f16.
func.func @mask(%x: tensor<1x1x2x4xf32>, %mask: tensor<2xi64>) -> tensor<1x1x2x4xf32> {
  %0 = graph.attention %x, %x, %x mask %mask : (tensor<1x1x2x4xf32>, tensor<1x1x2x4xf32>, tensor<1x1x2x4xf32>, tensor<2xi64>) -> tensor<1x1x2x4xf32>
  return %0 : tensor<1x1x2x4xf32>
}
