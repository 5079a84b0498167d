// RUN: gradus opt %s --propagate-layouts --canonicalize --cse

// A constant per channel becomes a constant per element of the last axis.
func.func @per_channel(%a: tensor<1x2x2x3xf32>) -> tensor<1x2x2x3xf32> {
  %0 = layout.unpack %a from <"NHWC"> : tensor<1x2x2x3xf32> -> tensor<1x3x2x2xf32>
  %c = arith.constant dense<[[[1.0]], [[2.0]], [[3.0]]]> : tensor<3x1x1xf32>
  %1 = graph.mul %0, %c : (tensor<1x3x2x2xf32>, tensor<3x1x1xf32>) -> tensor<1x3x2x2xf32>
  %2 = layout.pack %1 into <"NHWC"> : tensor<1x3x2x2xf32> -> tensor<1x2x2x3xf32>
  return %2 : tensor<1x2x2x3xf32>
}

// Batch normalization by constants becomes a product and a sum.
func.func @norm(%a: tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32> {
  %0 = layout.unpack %a from <"NHWC"> : tensor<1x2x2x2xf32> -> tensor<1x2x2x2xf32>
  %scale = arith.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %shift = arith.constant dense<[1.0, -1.0]> : tensor<2xf32>
  %mean = arith.constant dense<[0.5, 0.25]> : tensor<2xf32>
  %variance = arith.constant dense<[4.0, 1.0]> : tensor<2xf32>
  %1 = graph.batch_normalization %0, %scale, %shift, %mean, %variance {epsilon = 0.0 : f32} : (tensor<1x2x2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x2x2xf32>
  %2 = layout.pack %1 into <"NHWC"> : tensor<1x2x2x2xf32> -> tensor<1x2x2x2xf32>
  return %2 : tensor<1x2x2x2xf32>
}

// A channel shuffle transposes the two axes into which channels are split.
func.func @shuffle(%a: tensor<1x2x3x6xf32>) -> tensor<1x2x3x6xf32> {
  %0 = layout.unpack %a from <"NHWC"> : tensor<1x2x3x6xf32> -> tensor<1x6x2x3xf32>
  %cut = arith.constant dense<[1, 2, 3, 2, 3]> : tensor<5xi64>
  %1 = graph.reshape %0, %cut : (tensor<1x6x2x3xf32>, tensor<5xi64>) -> tensor<1x2x3x2x3xf32>
  %2 = graph.transpose %1 {perm = array<i64: 0, 2, 1, 3, 4>} : (tensor<1x2x3x2x3xf32>) -> tensor<1x3x2x2x3xf32>
  %joined = arith.constant dense<[1, 6, 2, 3]> : tensor<4xi64>
  %3 = graph.reshape %2, %joined : (tensor<1x3x2x2x3xf32>, tensor<4xi64>) -> tensor<1x6x2x3xf32>
  %4 = layout.pack %3 into <"NHWC"> : tensor<1x6x2x3xf32> -> tensor<1x2x3x6xf32>
  return %4 : tensor<1x2x3x6xf32>
}

func.func @slice_pad_softmax(%a: tensor<1x2x3x4xf32>) -> tensor<1x3x3x2xf32> {
  %0 = layout.unpack %a from <"NHWC"> : tensor<1x2x3x4xf32> -> tensor<1x4x2x3xf32>
  %starts = arith.constant dense<[1]> : tensor<1xi64>
  %ends = arith.constant dense<[3]> : tensor<1xi64>
  %axes = arith.constant dense<[1]> : tensor<1xi64>
  %1 = graph.slice %0, %starts, %ends axes %axes : (tensor<1x4x2x3xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x2x3xf32>
  %pads = arith.constant dense<[0, 0, 1, 0, 0, 0, 0, 0]> : tensor<8xi64>
  %2 = graph.pad %1, %pads : (tensor<1x2x2x3xf32>, tensor<8xi64>) -> tensor<1x2x3x3xf32>
  %3 = graph.softmax %2 {axis = 1 : i64} : tensor<1x2x3x3xf32>
  %4 = layout.pack %3 into <"NHWC"> : tensor<1x2x3x3xf32> -> tensor<1x3x3x2xf32>
  return %4 : tensor<1x3x3x2xf32>
}

// With one pixel, packing is a reshape.
func.func @one_pixel(%a: tensor<1x1x1x5xf32>) -> tensor<1x5xf32> {
  %0 = layout.unpack %a from <"NHWC"> : tensor<1x1x1x5xf32> -> tensor<1x5x1x1xf32>
  %flat = arith.constant dense<[1, 5]> : tensor<2xi64>
  %1 = graph.reshape %0, %flat : (tensor<1x5x1x1xf32>, tensor<2xi64>) -> tensor<1x5xf32>
  return %1 : tensor<1x5xf32>
}

// The result type of a slice holds, not its constant operands that contradict it, which makes the op UB.
func.func @contradiction(%a: tensor<1x2x3x4xf32>) -> tensor<1x2x2x3xf32> {
  %0 = layout.unpack %a from <"NHWC"> : tensor<1x2x3x4xf32> -> tensor<1x4x2x3xf32>
  %one = arith.constant dense<1> : tensor<1xi64>
  %three = arith.constant dense<3> : tensor<1xi64>
  %1 = graph.slice %0, %one, %three axes %three : (tensor<1x4x2x3xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x2x3xf32>
  return %1 : tensor<1x2x2x3xf32>
}

// Not moved: a reshape that merges axes which are not adjacent, and a softmax along a tiled axis.
func.func @refused(%a: tensor<1x2x3x4xf32>, %b: tensor<1x2x2x3x2xf32>) -> (tensor<1x8x3xf32>, tensor<1x4x2x3xf32>) {
  %0 = layout.unpack %a from <"NHWC"> : tensor<1x2x3x4xf32> -> tensor<1x4x2x3xf32>
  %joined = arith.constant dense<[1, 8, 3]> : tensor<3xi64>
  %1 = graph.reshape %0, %joined : (tensor<1x4x2x3xf32>, tensor<3xi64>) -> tensor<1x8x3xf32>
  %2 = layout.unpack %b from <"NCHW2c"> : tensor<1x2x2x3x2xf32> -> tensor<1x4x2x3xf32>
  %3 = graph.softmax %2 {axis = 1 : i64} : tensor<1x4x2x3xf32>
  return %1, %3 : tensor<1x8x3xf32>, tensor<1x4x2x3xf32>
}
// Local response normalization along the packed axis of the channels.
func.func @lrn(%a: tensor<1x2x2x4xf32>) -> tensor<1x4x2x2xf32> {
  %0 = layout.unpack %a from <"NHWC"> : tensor<1x2x2x4xf32> -> tensor<1x4x2x2xf32>
  %1 = graph.lrn %0 {size = 3 : i64} : tensor<1x4x2x2xf32>
  return %1 : tensor<1x4x2x2xf32>
}

// Axes that are resampled keep their scales.
func.func @resize(%a: tensor<1x2x3x4xf32>) -> (tensor<1x4x6x4xf32>, tensor<1x2x5x4xf32>) {
  %0 = layout.unpack %a from <"NHWC"> : tensor<1x2x3x4xf32> -> tensor<1x4x2x3xf32>
  %scales = arith.constant dense<[1.0, 1.0, 2.0, 2.0]> : tensor<4xf32>
  %1 = graph.resize %0 scales %scales {nearest_mode = "floor"} : (tensor<1x4x2x3xf32>, tensor<4xf32>) -> tensor<1x4x4x6xf32>
  %2 = layout.pack %1 into <"NHWC"> : tensor<1x4x4x6xf32> -> tensor<1x4x6x4xf32>
  %sizes = arith.constant dense<5> : tensor<1xi64>
  %3 = graph.resize %0 sizes %sizes {axes = array<i64: -1>, mode = "linear"} : (tensor<1x4x2x3xf32>, tensor<1xi64>) -> tensor<1x4x2x5xf32>
  %4 = layout.pack %3 into <"NHWC"> : tensor<1x4x2x5xf32> -> tensor<1x2x5x4xf32>
  return %2, %4 : tensor<1x4x6x4xf32>, tensor<1x2x5x4xf32>
}
