// RUN: gradus opt %s --canonicalize

// A convolution pads with zeros itself, in addition to its own pads.
func.func @folded(%x: tensor<1x2x3x3xf32>, %w: tensor<2x2x2x2xf32>, %b: tensor<2xf32>) -> (tensor<1x2x5x4xf32>, tensor<1x2x3x3xf32>) {
  %pads = graph.constant dense<[0, 0, 1, 0, 0, 0, 0, 2]> : tensor<8xi64>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %0 = graph.pad %x, %pads : (tensor<1x2x3x3xf32>, tensor<8xi64>) -> tensor<1x2x4x5xf32>
  %1 = graph.conv %0, %w, %b {pads = array<i64: 1, 0, 1, 0>} : (tensor<1x2x4x5xf32>, tensor<2x2x2x2xf32>, tensor<2xf32>) -> tensor<1x2x5x4xf32>
  %2 = graph.pad %x, %pads value %zero : (tensor<1x2x3x3xf32>, tensor<8xi64>, tensor<f32>) -> tensor<1x2x4x5xf32>
  %3 = graph.conv %2, %w {auto_pad = "VALID", strides = array<i64: 1, 1>, dilations = array<i64: 1, 2>} : (tensor<1x2x4x5xf32>, tensor<2x2x2x2xf32>) -> tensor<1x2x3x3xf32>
  return %1, %3 : tensor<1x2x5x4xf32>, tensor<1x2x3x3xf32>
}

// -----

// Padding with ones, with edges, of channels and by cropping, and an automatic padding: nothing changes.
func.func @kept(%x: tensor<1x2x3x3xf32>, %w: tensor<2x2x2x2xf32>, %v: tensor<2x3x2x2xf32>) -> (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>, tensor<1x2x2x2xf32>, tensor<1x2x1x2xf32>, tensor<1x2x5x5xf32>) {
  %pads = graph.constant dense<[0, 0, 1, 1, 0, 0, 1, 1]> : tensor<8xi64>
  %channel = graph.constant dense<[0, 1, 0, 0, 0, 0, 0, 0]> : tensor<8xi64>
  %crop = graph.constant dense<[0, 0, -1, 0, 0, 0, 0, 0]> : tensor<8xi64>
  %one = graph.constant dense<1.0> : tensor<f32>
  %0 = graph.pad %x, %pads value %one : (tensor<1x2x3x3xf32>, tensor<8xi64>, tensor<f32>) -> tensor<1x2x5x5xf32>
  %1 = graph.conv %0, %w : (tensor<1x2x5x5xf32>, tensor<2x2x2x2xf32>) -> tensor<1x2x4x4xf32>
  %2 = graph.pad %x, %pads {mode = "edge"} : (tensor<1x2x3x3xf32>, tensor<8xi64>) -> tensor<1x2x5x5xf32>
  %3 = graph.conv %2, %w : (tensor<1x2x5x5xf32>, tensor<2x2x2x2xf32>) -> tensor<1x2x4x4xf32>
  %4 = graph.pad %x, %channel : (tensor<1x2x3x3xf32>, tensor<8xi64>) -> tensor<1x3x3x3xf32>
  %5 = graph.conv %4, %v : (tensor<1x3x3x3xf32>, tensor<2x3x2x2xf32>) -> tensor<1x2x2x2xf32>
  %6 = graph.pad %x, %crop : (tensor<1x2x3x3xf32>, tensor<8xi64>) -> tensor<1x2x2x3xf32>
  %7 = graph.conv %6, %w : (tensor<1x2x2x3xf32>, tensor<2x2x2x2xf32>) -> tensor<1x2x1x2xf32>
  %8 = graph.pad %x, %pads : (tensor<1x2x3x3xf32>, tensor<8xi64>) -> tensor<1x2x5x5xf32>
  %9 = graph.conv %8, %w {auto_pad = "SAME_UPPER"} : (tensor<1x2x5x5xf32>, tensor<2x2x2x2xf32>) -> tensor<1x2x5x5xf32>
  return %1, %3, %5, %7, %9 : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>, tensor<1x2x2x2xf32>, tensor<1x2x1x2xf32>, tensor<1x2x5x5xf32>
}
