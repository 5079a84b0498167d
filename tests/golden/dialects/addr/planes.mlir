// RUN: gradus opt %s

func.func @images(%x: tensor<2x3x4x5xf32>, %w: tensor<3x9xf32>, %b: tensor<3xf32>, %r: tensor<6x6xf32>) -> tensor<6x6xf32> {
  %0 = addr.conv_planes %x, %w bias %b plus %r {geometry = #addr.geometry<"windows", "NCHW", [2, 3, 4, 5], windows = [2, 3, 2, 1, -1, 3, 3, 2, 1, -1]>, high = 6.0 : f32, low = 0.0 : f32} : (tensor<2x3x4x5xf32>, tensor<3x9xf32>, tensor<3xf32>, tensor<6x6xf32>) -> tensor<6x6xf32>
  return %0 : tensor<6x6xf32>
}
func.func @lines(%x: tensor<1x2x7xbf16>, %w: tensor<2x3xbf16>) -> tensor<2x3xbf16> {
  %0 = addr.conv_planes %x, %w {geometry = #addr.geometry<"windows", "NCW", [1, 2, 7], windows = [3, 3, 1, 2, 0]>} : (tensor<1x2x7xbf16>, tensor<2x3xbf16>) -> tensor<2x3xbf16>
  return %0 : tensor<2x3xbf16>
}
func.func @bands(%x: tensor<2x2x3x2x5xf32>, %w: tensor<3x9xf32>, %r: tensor<24x5xf32>) -> tensor<24x5xf32> {
  %0 = addr.conv_planes %x, %w plus %r {bands = 4 : i64, geometry = #addr.geometry<"windows", "NHC2hW", [2, 3, 4, 5], windows = [4, 3, 1, 1, -1, 5, 3, 1, 1, -1]>} : (tensor<2x2x3x2x5xf32>, tensor<3x9xf32>, tensor<24x5xf32>) -> tensor<24x5xf32>
  return %0 : tensor<24x5xf32>
}
