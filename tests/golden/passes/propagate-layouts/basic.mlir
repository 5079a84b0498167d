// RUN: gradus opt %s --propagate-layouts

func.func @up_to_the_next_pack(%a: tensor<1x2x2x4xf32>, %b: tensor<1x2x2x4xf32>) -> tensor<1x2x2x4xf32> {
  %0 = layout.unpack %a from <"NHWC"> : tensor<1x2x2x4xf32> -> tensor<1x4x2x2xf32>
  %1 = layout.unpack %b from <"NHWC"> : tensor<1x2x2x4xf32> -> tensor<1x4x2x2xf32>
  %2 = graph.add %0, %1 : (tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32>
  %3 = graph.relu %2 : tensor<1x4x2x2xf32>
  %4 = layout.pack %3 into <"NHWC"> : tensor<1x4x2x2xf32> -> tensor<1x2x2x4xf32>
  return %4 : tensor<1x2x2x4xf32>
}
func.func @channels_behind_channels(%a: tensor<1x2x2x4xf32>, %b: tensor<1x2x2x3xf32>) -> tensor<1x7x2x2xf32> {
  %0 = layout.unpack %a from <"NHWC"> : tensor<1x2x2x4xf32> -> tensor<1x4x2x2xf32>
  %1 = layout.unpack %b from <"NHWC"> : tensor<1x2x2x3xf32> -> tensor<1x3x2x2xf32>
  %2 = graph.concat %0, %1 {axis = -3 : i64} : (tensor<1x4x2x2xf32>, tensor<1x3x2x2xf32>) -> tensor<1x7x2x2xf32>
  return %2 : tensor<1x7x2x2xf32>
}
// A reshape that keeps the last axis.
func.func @reshape(%a: tensor<4x3xf32>) -> tensor<1x2x2x3xf32> {
  %shape = arith.constant dense<[1, 2, 2, 3]> : tensor<4xi64>
  %0 = graph.reshape %a, %shape : (tensor<4x3xf32>, tensor<4xi64>) -> tensor<1x2x2x3xf32>
  %1 = graph.relu %0 : tensor<1x2x2x3xf32>
  return %1 : tensor<1x2x2x3xf32>
}
// Not moved: padded layouts, and operands in different layouts.
func.func @stays(%a: tensor<1x1x2x2x4xf32>, %b: tensor<1x2x2x4xf32>, %c: tensor<1xf32>) -> (tensor<1x3x2x2xf32>, tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>) {
  %0 = layout.unpack %a from <"NCHW4c"> : tensor<1x1x2x2x4xf32> -> tensor<1x3x2x2xf32>
  %1 = graph.relu %0 : tensor<1x3x2x2xf32>
  %2 = layout.unpack %b from <"NHWC"> : tensor<1x2x2x4xf32> -> tensor<1x4x2x2xf32>
  %3 = layout.unpack %a from <"NCHW4c"> : tensor<1x1x2x2x4xf32> -> tensor<1x4x2x2xf32>
  %4 = graph.add %2, %3 : (tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32>
  %5 = graph.add %2, %c : (tensor<1x4x2x2xf32>, tensor<1xf32>) -> tensor<1x4x2x2xf32>
  return %1, %4, %5 : tensor<1x3x2x2xf32>, tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>
}
// Scalar scale and zero point do not depend on the layout; ops with a scale per channel stay.
func.func @quantized(%a: tensor<1x2x2x4xf32>, %b: tensor<1x2x2x4xf32>) -> (tensor<1x2x2x4xf32>, tensor<1x4x2x2xi8>) {
  %0 = layout.unpack %a from <"NHWC"> : tensor<1x2x2x4xf32> -> tensor<1x4x2x2xf32>
  %scale = arith.constant dense<0.25> : tensor<f32>
  %zero = arith.constant dense<3> : tensor<i8>
  %1 = graph.quantize_linear %0, %scale, %zero : (tensor<1x4x2x2xf32>, tensor<f32>, tensor<i8>) -> tensor<1x4x2x2xi8>
  %2 = graph.dequantize_linear %1, %scale, %zero : (tensor<1x4x2x2xi8>, tensor<f32>, tensor<i8>) -> tensor<1x4x2x2xf32>
  %3 = layout.pack %2 into <"NHWC"> : tensor<1x4x2x2xf32> -> tensor<1x2x2x4xf32>
  %4 = layout.unpack %b from <"NHWC"> : tensor<1x2x2x4xf32> -> tensor<1x4x2x2xf32>
  %scales = arith.constant dense<[0.5, 0.25, 1.0, 2.0]> : tensor<4xf32>
  %5 = graph.quantize_linear %4, %scales {axis = 1 : i64, output_dtype = 3 : i64} : (tensor<1x4x2x2xf32>, tensor<4xf32>) -> tensor<1x4x2x2xi8>
  return %3, %5 : tensor<1x2x2x4xf32>, tensor<1x4x2x2xi8>
}
