// RUN: gradus opt %s --split-input-file --overlap-bands

// Windows with stride 1: each band of the first image has one row more.
func.func @chain(%x: tensor<1x4x16x12xf32>) -> tensor<1x4x16x12xf32> {
  %w = graph.constant dense<0.0> : tensor<8x4x1x1xf32>
  %d = graph.constant dense<0.5> : tensor<8x1x3x3xf32>
  %u = graph.constant dense<0.0> : tensor<4x8x1x1xf32>
  %0 = sparse.conv %x, %w {layout.results = #layout.tiled<"NHC8hW">} : (tensor<1x4x16x12xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x16x12xf32>
  %1 = graph.relu %0 : tensor<1x8x16x12xf32>
  %2 = graph.conv %1, %d {group = 8 : i64, layout.images = #layout.tiled<"NHC8hW">, layout.results = #layout.tiled<"NHC8hW">, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x16x12xf32>, tensor<8x1x3x3xf32>) -> tensor<1x8x16x12xf32>
  %3 = graph.relu %2 : tensor<1x8x16x12xf32>
  %4 = sparse.conv %3, %u {layout.images = #layout.tiled<"NHC8hW">} : (tensor<1x8x16x12xf32>, tensor<4x8x1x1xf32>) -> tensor<1x4x16x12xf32>
  return %4 : tensor<1x4x16x12xf32>
}
// -----
// With stride 2, the first band reads a row less than the second, and is computed with one that it does not read.
func.func @strided(%x: tensor<1x4x16x12xf32>) -> tensor<1x4x8x6xf32> {
  %w = graph.constant dense<0.0> : tensor<8x4x1x1xf32>
  %d = graph.constant dense<0.5> : tensor<8x1x3x3xf32>
  %u = graph.constant dense<0.0> : tensor<4x8x1x1xf32>
  %0 = sparse.conv %x, %w {layout.results = #layout.tiled<"NHC8hW">} : (tensor<1x4x16x12xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x16x12xf32>
  %1 = graph.conv %0, %d {group = 8 : i64, layout.images = #layout.tiled<"NHC8hW">, layout.results = #layout.tiled<"NHC4hW">, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x8x16x12xf32>, tensor<8x1x3x3xf32>) -> tensor<1x8x8x6xf32>
  %2 = sparse.conv %1, %u {layout.images = #layout.tiled<"NHC4hW">} : (tensor<1x8x8x6xf32>, tensor<4x8x1x1xf32>) -> tensor<1x4x8x6xf32>
  return %2 : tensor<1x4x8x6xf32>
}
// -----
// The image that the first product reads leaves its bands, and so does the sum that joins it.
func.func @joined(%x: tensor<1x4x16x12xf32>) -> tensor<1x4x16x12xf32> {
  %c = graph.constant dense<0.0> : tensor<4x4x1x1xf32>
  %w = graph.constant dense<0.0> : tensor<8x4x1x1xf32>
  %d = graph.constant dense<0.5> : tensor<8x1x3x3xf32>
  %u = graph.constant dense<0.0> : tensor<4x8x1x1xf32>
  %0 = sparse.conv %x, %c {layout.results = #layout.tiled<"NHC8hW">} : (tensor<1x4x16x12xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x16x12xf32>
  %1 = sparse.conv %0, %w {layout.images = #layout.tiled<"NHC8hW">, layout.results = #layout.tiled<"NHC8hW">} : (tensor<1x4x16x12xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x16x12xf32>
  %2 = graph.conv %1, %d {group = 8 : i64, layout.images = #layout.tiled<"NHC8hW">, layout.results = #layout.tiled<"NHC8hW">, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x16x12xf32>, tensor<8x1x3x3xf32>) -> tensor<1x8x16x12xf32>
  %3 = sparse.conv %2, %u {layout.images = #layout.tiled<"NHC8hW">, layout.results = #layout.tiled<"NHC8hW">} : (tensor<1x8x16x12xf32>, tensor<4x8x1x1xf32>) -> tensor<1x4x16x12xf32>
  %4 = graph.add %3, %0 : (tensor<1x4x16x12xf32>, tensor<1x4x16x12xf32>) -> tensor<1x4x16x12xf32>
  %5 = sparse.conv %4, %c {layout.images = #layout.tiled<"NHC8hW">} : (tensor<1x4x16x12xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x16x12xf32>
  return %5 : tensor<1x4x16x12xf32>
}
// -----
// Refused: without padding above, the last band would have to begin a row earlier; the first image has another reader; a depthwise
// convolution writes the image that the first product reads.
func.func @refused(%x: tensor<1x4x16x12xf32>) -> (tensor<1x4x8x6xf32>, tensor<1x8x16x12xf32>, tensor<1x4x16x12xf32>, tensor<1x4x16x12xf32>) {
  %w = graph.constant dense<0.0> : tensor<8x4x1x1xf32>
  %d = graph.constant dense<0.5> : tensor<8x1x3x3xf32>
  %u = graph.constant dense<0.0> : tensor<4x8x1x1xf32>
  %0 = sparse.conv %x, %w {layout.results = #layout.tiled<"NHC8hW">} : (tensor<1x4x16x12xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x16x12xf32>
  %1 = graph.conv %0, %d {group = 8 : i64, layout.images = #layout.tiled<"NHC8hW">, layout.results = #layout.tiled<"NHC4hW">, pads = array<i64: 0, 0, 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x8x16x12xf32>, tensor<8x1x3x3xf32>) -> tensor<1x8x8x6xf32>
  %2 = sparse.conv %1, %u {layout.images = #layout.tiled<"NHC4hW">} : (tensor<1x8x8x6xf32>, tensor<4x8x1x1xf32>) -> tensor<1x4x8x6xf32>
  %3 = sparse.conv %x, %w {layout.results = #layout.tiled<"NHC8hW">} : (tensor<1x4x16x12xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x16x12xf32>
  %4 = graph.conv %3, %d {group = 8 : i64, layout.images = #layout.tiled<"NHC8hW">, layout.results = #layout.tiled<"NHC8hW">, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x16x12xf32>, tensor<8x1x3x3xf32>) -> tensor<1x8x16x12xf32>
  %5 = sparse.conv %4, %u {layout.images = #layout.tiled<"NHC8hW">} : (tensor<1x8x16x12xf32>, tensor<4x8x1x1xf32>) -> tensor<1x4x16x12xf32>
  %v = graph.constant dense<0.5> : tensor<4x1x3x3xf32>
  %y = graph.conv %x, %v {group = 4 : i64, layout.images = #layout.tiled<"NCHW">, layout.results = #layout.tiled<"NHC8hW">, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x4x16x12xf32>, tensor<4x1x3x3xf32>) -> tensor<1x4x16x12xf32>
  %6 = sparse.conv %y, %w {layout.images = #layout.tiled<"NHC8hW">, layout.results = #layout.tiled<"NHC8hW">} : (tensor<1x4x16x12xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x16x12xf32>
  %7 = graph.conv %6, %d {group = 8 : i64, layout.images = #layout.tiled<"NHC8hW">, layout.results = #layout.tiled<"NHC8hW">, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x16x12xf32>, tensor<8x1x3x3xf32>) -> tensor<1x8x16x12xf32>
  %8 = sparse.conv %7, %u {layout.images = #layout.tiled<"NHC8hW">} : (tensor<1x8x16x12xf32>, tensor<4x8x1x1xf32>) -> tensor<1x4x16x12xf32>
  return %2, %3, %5, %8 : tensor<1x4x8x6xf32>, tensor<1x8x16x12xf32>, tensor<1x4x16x12xf32>, tensor<1x4x16x12xf32>
}
// -----
// Two depthwise convolutions: the first one computes the rows that the windows of the second one read.
func.func @twice(%x: tensor<1x4x16x12xf32>) -> tensor<1x4x16x12xf32> {
  %w = graph.constant dense<0.0> : tensor<8x4x1x1xf32>
  %d = graph.constant dense<0.5> : tensor<8x1x3x3xf32>
  %u = graph.constant dense<0.0> : tensor<4x8x1x1xf32>
  %0 = sparse.conv %x, %w {layout.results = #layout.tiled<"NHC8hW">} : (tensor<1x4x16x12xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x16x12xf32>
  %1 = graph.conv %0, %d {group = 8 : i64, layout.images = #layout.tiled<"NHC8hW">, layout.results = #layout.tiled<"NHC8hW">, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x16x12xf32>, tensor<8x1x3x3xf32>) -> tensor<1x8x16x12xf32>
  %2 = graph.relu %1 : tensor<1x8x16x12xf32>
  %3 = graph.conv %2, %d {group = 8 : i64, layout.images = #layout.tiled<"NHC8hW">, layout.results = #layout.tiled<"NHC8hW">, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x16x12xf32>, tensor<8x1x3x3xf32>) -> tensor<1x8x16x12xf32>
  %4 = sparse.conv %3, %u {layout.images = #layout.tiled<"NHC8hW">} : (tensor<1x8x16x12xf32>, tensor<4x8x1x1xf32>) -> tensor<1x4x16x12xf32>
  return %4 : tensor<1x4x16x12xf32>
}
