// RUN: gradus opt %s --convert-sparse-to-x64="isa=avx2 convs=rows"

// Nonzeros by rows, with the elements at which their rows of the dense operand begin, and the ends of the rows; the bias and the clamp are
// computed with them.
func.func @product(%b: tensor<4x16xf32>) -> tensor<2x16xf32> {
  %a = arith.constant dense<[[1.0, 0.0, 0.0, 2.0], [0.0, 3.0, 0.0, 0.0]]> : tensor<2x4xf32>
  %c = sparse.matmul csr %a, %b : (tensor<2x4xf32>, tensor<4x16xf32>) -> tensor<2x16xf32>
  %bias = arith.constant dense<[[0.5], [-1.0]]> : tensor<2x1xf32>
  %d = graph.add %c, %bias : (tensor<2x16xf32>, tensor<2x1xf32>) -> tensor<2x16xf32>
  %e = graph.relu %d : tensor<2x16xf32>
  return %e : tensor<2x16xf32>
}

// The product of the transposes.
func.func @right(%a: tensor<9x2xf32>) -> tensor<9x3xf32> {
  %b = arith.constant dense<[[0.0, 4.0, 0.0], [3.0, 0.0, 0.0]]> : tensor<2x3xf32>
  %c = sparse.matmul csr right %a, %b : (tensor<9x2xf32>, tensor<2x3xf32>) -> tensor<9x3xf32>
  return %c : tensor<9x3xf32>
}

// Addresses are those of the channels of the image; the residual is added.
func.func @pointwise(%x: tensor<1x2x3x3xf32>, %r: tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32> {
  %w = arith.constant dense<[[[[2.0]], [[0.0]]], [[[0.0]], [[3.0]]]]> : tensor<2x2x1x1xf32>
  %y = sparse.conv %x, %w : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %z = graph.add %y, %r : (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  return %z : tensor<1x2x3x3xf32>
}

// The image is padded, and addresses are those of the taps; the rows of the result are strips, or what is between them is sliced off.
func.func @windows(%x: tensor<1x1x4x16xf32>) -> tensor<1x1x4x16xf32> {
  %w = arith.constant dense<[[[[0.0, 0.0, 5.0], [0.0, 4.0, 0.0], [0.0, 0.0, 0.0]]]]> : tensor<1x1x3x3xf32>
  %y = sparse.conv %x, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x1x4x16xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x4x16xf32>
  return %y : tensor<1x1x4x16xf32>
}

// Bands of the image and of the result: strips of 8 elements, 16 elements apart.
func.func @bands(%x: tensor<1x2x4x4xf32>) -> tensor<1x3x4x4xf32> {
  %w = arith.constant dense<[[[[2.0]], [[0.0]]], [[[0.0]], [[3.0]]], [[[0.0]], [[0.0]]]]> : tensor<3x2x1x1xf32>
  %y = sparse.conv %x, %w {layout.images = #layout.tiled<"NHC2hW">, layout.results = #layout.tiled<"NHC2hW">} : (tensor<1x2x4x4xf32>, tensor<3x2x1x1xf32>) -> tensor<1x3x4x4xf32>
  return %y : tensor<1x3x4x4xf32>
}
