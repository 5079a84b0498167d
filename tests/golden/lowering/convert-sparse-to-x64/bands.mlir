// RUN: gradus opt %s --convert-sparse-to-x64=isa=avx512 --convert-graph-to-addr --propagate-layouts

// Two bands of 4 rows. Calls have as many strips, the depthwise convolution reads rows of the other band, and no layout is changed between
// them. The residual is in bands too.
func.func @main(%x: tensor<1x2x8x4xf32>) -> tensor<1x2x4x2xf32> {
  %w = arith.constant dense<[[[[1.0]], [[0.0]]], [[[0.0]], [[2.0]]]]> : tensor<2x2x1x1xf32>
  %d = arith.constant dense<0.5> : tensor<2x1x3x3xf32>
  %b = arith.constant dense<[0.5, -1.0]> : tensor<2xf32>
  %0 = sparse.conv %x, %w {layout.results = #layout.tiled<"NHC4hW">} : (tensor<1x2x8x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x8x4xf32>
  %1 = graph.conv %0, %d {group = 2 : i64, layout.images = #layout.tiled<"NHC4hW">, layout.results = #layout.tiled<"NHC4hW">, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x2x8x4xf32>, tensor<2x1x3x3xf32>) -> tensor<1x2x8x4xf32>
  %2 = sparse.conv %1, %w, %b {layout.images = #layout.tiled<"NHC4hW">, layout.results = #layout.tiled<"NHC4hW">} : (tensor<1x2x8x4xf32>, tensor<2x2x1x1xf32>, tensor<2xf32>) -> tensor<1x2x8x4xf32>
  %3 = graph.add %2, %0 : (tensor<1x2x8x4xf32>, tensor<1x2x8x4xf32>) -> tensor<1x2x8x4xf32>
  %4 = graph.conv %3, %d {group = 2 : i64, layout.images = #layout.tiled<"NHC4hW">, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x2x8x4xf32>, tensor<2x1x3x3xf32>) -> tensor<1x2x4x2xf32>
  return %4 : tensor<1x2x4x2xf32>
}
// A window writes bands: rows of the output are strips. The next convolution reads two bands and writes a plain image.
func.func @windows(%x: tensor<1x1x6x5xf32>) -> tensor<1x1x4x3xf32> {
  %u = arith.constant dense<[[[[1.0, 0.0, 0.0], [0.0, 0.0, 3.0], [0.0, -3.0, 0.0]]]]> : tensor<1x1x3x3xf32>
  %w = arith.constant dense<2.0> : tensor<1x1x1x1xf32>
  %0 = sparse.conv %x, %u {layout.results = #layout.tiled<"NHC2hW">} : (tensor<1x1x6x5xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x4x3xf32>
  %1 = sparse.conv %0, %w {layout.images = #layout.tiled<"NHC2hW">} : (tensor<1x1x4x3xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x4x3xf32>
  return %1 : tensor<1x1x4x3xf32>
}
// Bands of the image that are not those of the result, and a layout that is none of bands, are ignored.
func.func @ignored(%x: tensor<1x1x8x2xf32>) -> (tensor<1x1x8x2xf32>, tensor<1x1x8x2xf32>) {
  %w = arith.constant dense<2.0> : tensor<1x1x1x1xf32>
  %0 = sparse.conv %x, %w {layout.images = #layout.tiled<"NHC2hW">, layout.results = #layout.tiled<"NHC4hW">} : (tensor<1x1x8x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x8x2xf32>
  %1 = sparse.conv %x, %w {layout.images = #layout.tiled<"NHC3hW">, layout.results = #layout.tiled<"NHWC">} : (tensor<1x1x8x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x8x2xf32>
  return %0, %1 : tensor<1x1x8x2xf32>, tensor<1x1x8x2xf32>
}
// A slice with strides of an image in bands is in bands.
func.func @strides(%x: tensor<1x1x8x4xf32>) -> tensor<1x1x4x2xf32> {
  %w = arith.constant dense<2.0> : tensor<1x1x1x1xf32>
  %0 = sparse.conv %x, %w {layout.results = #layout.tiled<"NHC4hW">} : (tensor<1x1x8x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x8x4xf32>
  %1 = sparse.conv %0, %w {layout.images = #layout.tiled<"NHC4hW">, strides = array<i64: 2, 2>} : (tensor<1x1x8x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x4x2xf32>
  return %1 : tensor<1x1x4x2xf32>
}
// Columns between the rows of a band, if they are fewer than strips have under their masks.
func.func @between_rows(%x: tensor<1x1x10x6xf32>) -> tensor<1x1x8x4xf32> {
  %u = arith.constant dense<[[[[1.0, 0.0, 0.0], [0.0, 0.0, 3.0], [0.0, -3.0, 0.0]]]]> : tensor<1x1x3x3xf32>
  %0 = sparse.conv %x, %u {layout.results = #layout.tiled<"NHC4hW">} : (tensor<1x1x10x6xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x8x4xf32>
  return %0 : tensor<1x1x8x4xf32>
}
