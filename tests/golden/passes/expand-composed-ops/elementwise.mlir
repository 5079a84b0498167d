// RUN: gradus opt %s --expand-composed-ops --canonicalize --split-input-file

// The number of operands is divided by where its reciprocal is no power of two.
func.func @mean(%a: tensor<4x3xf32>, %b: tensor<3xf32>, %c: tensor<?x3xf16>) -> (tensor<4x3xf32>, tensor<4x3xf32>, tensor<?x3xf16>) {
  %0 = graph.mean %a, %b, %b : (tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  %1 = graph.mean %a, %b : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  %2 = graph.mean %c : (tensor<?x3xf16>) -> tensor<?x3xf16>
  return %0, %1, %2 : tensor<4x3xf32>, tensor<4x3xf32>, tensor<?x3xf16>
}

// -----

func.func @swiglu(%a: tensor<2x?xbf16>, %b: tensor<2x?xbf16>) -> tensor<2x?xbf16> {
  %0 = graph.swiglu %a, %b {alpha = 2.0 : f32} : (tensor<2x?xbf16>, tensor<2x?xbf16>) -> tensor<2x?xbf16>
  return %0 : tensor<2x?xbf16>
}

// -----

func.func @tests(%x: tensor<*xf32>) -> (tensor<*xi1>, tensor<*xi1>, tensor<*xi1>, tensor<*xi1>) {
  %0 = graph.is_nan %x : (tensor<*xf32>) -> tensor<*xi1>
  %1 = graph.is_inf %x : (tensor<*xf32>) -> tensor<*xi1>
  %2 = graph.is_inf %x {detect_positive = 0 : i64} : (tensor<*xf32>) -> tensor<*xi1>
  %3 = graph.is_inf %x {detect_positive = 0 : i64, detect_negative = 0 : i64} : (tensor<*xf32>) -> tensor<*xi1>
  return %0, %1, %2, %3 : tensor<*xi1>, tensor<*xi1>, tensor<*xi1>, tensor<*xi1>
}

// -----

// The cosines and sines of all positions are gathered; elements behind the rotated ones stay.
func.func @rotary(%x: tensor<?x3x12xf32>, %cos: tensor<5x2xf32>, %sin: tensor<5x2xf32>, %at: tensor<?x3xi64>) -> tensor<?x3x12xf32> {
  %0 = graph.rotary_embedding %x, %cos, %sin, %at {num_heads = 2 : i64, rotary_embedding_dim = 4 : i64} : (tensor<?x3x12xf32>, tensor<5x2xf32>, tensor<5x2xf32>, tensor<?x3xi64>) -> tensor<?x3x12xf32>
  return %0 : tensor<?x3x12xf32>
}

// -----

func.func @interleaved(%x: tensor<1x2x3x4xf32>, %cos: tensor<1x3x2xf32>, %sin: tensor<1x3x2xf32>) -> tensor<1x2x3x4xf32> {
  %0 = graph.rotary_embedding %x, %cos, %sin {interleaved = 1 : i64} : (tensor<1x2x3x4xf32>, tensor<1x3x2xf32>, tensor<1x3x2xf32>) -> tensor<1x2x3x4xf32>
  return %0 : tensor<1x2x3x4xf32>
}
