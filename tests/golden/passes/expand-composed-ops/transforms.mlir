// RUN: gradus opt %s --expand-composed-ops --canonicalize --split-input-file

func.func @dft(%x: tensor<?x4x1xf64>, %y: tensor<4x3x2xf32>) -> (tensor<?x3x2xf64>, tensor<4x3x2xf32>) {
  %axis = graph.constant dense<0> : tensor<i64>
  %0 = graph.dft %x {onesided = 1 : i64} : (tensor<?x4x1xf64>) -> tensor<?x3x2xf64>
  %1 = graph.dft %y axis %axis {inverse = 1 : i64} : (tensor<4x3x2xf32>, tensor<i64>) -> tensor<4x3x2xf32>
  return %0, %1 : tensor<?x3x2xf64>, tensor<4x3x2xf32>
}

// -----

// The omitted half of a spectrum adds its conjugates.
func.func @inverse(%x: tensor<2x3x2xf32>) -> tensor<2x4x1xf32> {
  %0 = graph.dft %x {inverse = 1 : i64, onesided = 1 : i64} : (tensor<2x3x2xf32>) -> tensor<2x4x1xf32>
  return %0 : tensor<2x4x1xf32>
}

// -----

// A longer axis is cropped, a shorter one has rows for its elements only.
func.func @length(%x: tensor<1x4x1xf32>) -> (tensor<1x2x2xf32>, tensor<1x6x2xf32>) {
  %two = graph.constant dense<2> : tensor<i64>
  %six = graph.constant dense<6> : tensor<i64>
  %0 = graph.dft %x length %two : (tensor<1x4x1xf32>, tensor<i64>) -> tensor<1x2x2xf32>
  %1 = graph.dft %x length %six : (tensor<1x4x1xf32>, tensor<i64>) -> tensor<1x6x2xf32>
  return %0, %1 : tensor<1x2x2xf32>, tensor<1x6x2xf32>
}

// -----

func.func @stft(%x: tensor<?x?x1xf32>) -> tensor<?x?x3x2xf32> {
  %step = graph.constant dense<2> : tensor<i64>
  %window = graph.constant dense<[0.5, 1.0, 1.0, 0.5]> : tensor<4xf32>
  %0 = graph.stft %x, %step window %window : (tensor<?x?x1xf32>, tensor<i64>, tensor<4xf32>) -> tensor<?x?x3x2xf32>
  return %0 : tensor<?x?x3x2xf32>
}
