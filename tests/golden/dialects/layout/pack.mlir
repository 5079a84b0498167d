// RUN: gradus opt %s
func.func @pack(%x: tensor<1x12x5x5xf32>, %w: tensor<4x3x3x6xi8>, %d: tensor<?x12x5x5xf32>) {
  %0 = layout.pack %x into <"NCHW8c"> : tensor<1x12x5x5xf32> -> tensor<1x2x5x5x8xf32>
  %1 = layout.pack %w into <"HWKD2k4d", pad = -1> {axes = "KHWD"} : tensor<4x3x3x6xi8> -> tensor<3x3x2x2x2x4xi8>
  %2 = layout.pack %d into <"NHWC"> : tensor<?x12x5x5xf32> -> tensor<?x5x5x12xf32>
  %3 = layout.unpack %0 from <"NCHW8c"> : tensor<1x2x5x5x8xf32> -> tensor<1x12x5x5xf32>
  %4 = layout.unpack %1 from <"HWKD2k4d", pad = -1> {axes = "KHWD"} : tensor<3x3x2x2x2x4xi8> -> tensor<4x3x3x6xi8>
  return
}
