// RUN: gradus opt %s --canonicalize
func.func @back(%x: tensor<1x12x5x5xf32>) -> tensor<1x12x5x5xf32> {
  %0 = layout.pack %x into <"NCHW8c"> : tensor<1x12x5x5xf32> -> tensor<1x2x5x5x8xf32>
  %1 = layout.unpack %0 from <"NCHW8c"> : tensor<1x2x5x5x8xf32> -> tensor<1x12x5x5xf32>
  return %1 : tensor<1x12x5x5xf32>
}
// A pack and unpack with different loop orders do not cancel.
func.func @elsewhere(%x: tensor<1x8x4x8xf32>) -> tensor<1x1x4x64xf32> {
  %0 = layout.pack %x into <"NCHW8c"> : tensor<1x8x4x8xf32> -> tensor<1x1x4x8x8xf32>
  %1 = layout.unpack %0 from <"NCHW8w"> : tensor<1x1x4x8x8xf32> -> tensor<1x1x4x64xf32>
  return %1 : tensor<1x1x4x64xf32>
}
func.func @as_it_is(%x: tensor<1x12x5x5xf32>) -> (tensor<1x12x5x5xf32>, tensor<1x12x5x5xf32>) {
  %0 = layout.pack %x into <"NCHW"> : tensor<1x12x5x5xf32> -> tensor<1x12x5x5xf32>
  %1 = layout.unpack %x from <"NHWC"> {axes = "NHWC"} : tensor<1x12x5x5xf32> -> tensor<1x12x5x5xf32>
  return %0, %1 : tensor<1x12x5x5xf32>, tensor<1x12x5x5xf32>
}
func.func @constants() -> (tensor<2x1x4xi32>, tensor<2x2x1x4xi32>, tensor<2x3xf32>) {
  %c = arith.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %0 = layout.pack %c into <"HW4w", pad = -7> {axes = "HW"} : tensor<2x3xi32> -> tensor<2x1x4xi32>
  %1 = layout.pack %c into <"2wWH4h", pad = 9> {axes = "HW"} : tensor<2x3xi32> -> tensor<2x2x1x4xi32>
  %p = arith.constant dense<[[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]> : tensor<3x2xf32>
  %2 = layout.unpack %p from <"WH"> {axes = "HW"} : tensor<3x2xf32> -> tensor<2x3xf32>
  return %0, %1, %2 : tensor<2x1x4xi32>, tensor<2x2x1x4xi32>, tensor<2x3xf32>
}
