// The convolution of `modes.mlir`, a function for each of its programs.
func.func @mode_8k8d(%x: tensor<1x16x4x5xi8>, %w: tensor<8x16x2x3xi8>) -> tensor<1x8x3x3xi8> {
  %half = graph.constant dense<0.5> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %x_zero = graph.constant dense<3> : tensor<i8>
  %w_zero = graph.constant dense<0> : tensor<i8>
  %y_zero = graph.constant dense<5> : tensor<i8>
  %0 = graph.qlinear_conv %x, %half, %x_zero, %w, %half, %w_zero, %one, %y_zero : (tensor<1x16x4x5xi8>, tensor<f32>, tensor<i8>, tensor<8x16x2x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<1x8x3x3xi8>
  return %0 : tensor<1x8x3x3xi8>
}
func.func @mode_2k4d(%x: tensor<1x16x4x5xi8>, %w: tensor<8x16x2x3xi8>) -> tensor<1x8x3x3xi8> {
  %half = graph.constant dense<0.5> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %x_zero = graph.constant dense<3> : tensor<i8>
  %w_zero = graph.constant dense<0> : tensor<i8>
  %y_zero = graph.constant dense<5> : tensor<i8>
  %0 = graph.qlinear_conv %x, %half, %x_zero, %w, %half, %w_zero, %one, %y_zero : (tensor<1x16x4x5xi8>, tensor<f32>, tensor<i8>, tensor<8x16x2x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<1x8x3x3xi8>
  return %0 : tensor<1x8x3x3xi8>
}
func.func @mode_8w4d(%x: tensor<1x16x4x5xi8>, %w: tensor<8x16x2x3xi8>) -> tensor<1x8x3x3xi8> {
  %half = graph.constant dense<0.5> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %x_zero = graph.constant dense<3> : tensor<i8>
  %w_zero = graph.constant dense<0> : tensor<i8>
  %y_zero = graph.constant dense<5> : tensor<i8>
  %0 = graph.qlinear_conv %x, %half, %x_zero, %w, %half, %w_zero, %one, %y_zero : (tensor<1x16x4x5xi8>, tensor<f32>, tensor<i8>, tensor<8x16x2x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<1x8x3x3xi8>
  return %0 : tensor<1x8x3x3xi8>
}
func.func @mode_4w4d(%x: tensor<1x16x4x5xi8>, %w: tensor<8x16x2x3xi8>) -> tensor<1x8x3x3xi8> {
  %half = graph.constant dense<0.5> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %x_zero = graph.constant dense<3> : tensor<i8>
  %w_zero = graph.constant dense<0> : tensor<i8>
  %y_zero = graph.constant dense<5> : tensor<i8>
  %0 = graph.qlinear_conv %x, %half, %x_zero, %w, %half, %w_zero, %one, %y_zero : (tensor<1x16x4x5xi8>, tensor<f32>, tensor<i8>, tensor<8x16x2x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<1x8x3x3xi8>
  return %0 : tensor<1x8x3x3xi8>
}
func.func @mode_2w(%x: tensor<1x16x4x5xi8>, %w: tensor<8x16x2x3xi8>) -> tensor<1x8x3x3xi8> {
  %half = graph.constant dense<0.5> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %x_zero = graph.constant dense<3> : tensor<i8>
  %w_zero = graph.constant dense<0> : tensor<i8>
  %y_zero = graph.constant dense<5> : tensor<i8>
  %0 = graph.qlinear_conv %x, %half, %x_zero, %w, %half, %w_zero, %one, %y_zero : (tensor<1x16x4x5xi8>, tensor<f32>, tensor<i8>, tensor<8x16x2x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<1x8x3x3xi8>
  return %0 : tensor<1x8x3x3xi8>
}
func.func @mode_4w(%x: tensor<1x16x4x5xi8>, %w: tensor<8x16x2x3xi8>) -> tensor<1x8x3x3xi8> {
  %half = graph.constant dense<0.5> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %x_zero = graph.constant dense<3> : tensor<i8>
  %w_zero = graph.constant dense<0> : tensor<i8>
  %y_zero = graph.constant dense<5> : tensor<i8>
  %0 = graph.qlinear_conv %x, %half, %x_zero, %w, %half, %w_zero, %one, %y_zero : (tensor<1x16x4x5xi8>, tensor<f32>, tensor<i8>, tensor<8x16x2x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<1x8x3x3xi8>
  return %0 : tensor<1x8x3x3xi8>
}
// TWO: npu.conv feature [{{.*}}] weights [{{[0-9]+}}, 1, 2, 4,
