// RUN: gradus check %s --target=cpu | FileCheck %s

// Recurrent layers by their kernel.
// CHECK: @rnn: no difference
func.func @rnn(%x: tensor<2x3x4xf32>, %w: tensor<1x5x4xf32>, %r: tensor<1x5x5xf32>) -> tensor<1x3x5xf32> {
  %0:2 = graph.rnn %x, %w, %r {activations = ["Relu"]} : (tensor<2x3x4xf32>, tensor<1x5x4xf32>, tensor<1x5x5xf32>) -> (tensor<2x1x3x5xf32>, tensor<1x3x5xf32>)
  return %0#1 : tensor<1x3x5xf32>
}
// CHECK: @bidirectional: no difference
func.func @bidirectional(%x: tensor<7x2x3xf32>, %w: tensor<2x8x3xf32>, %r: tensor<2x8x2xf32>, %b: tensor<2x16xf32>) -> (tensor<7x2x2x2xf32>, tensor<2x2x2xf32>, tensor<2x2x2xf32>) {
  %0:3 = graph.lstm %x, %w, %r bias %b {direction = "bidirectional"} : (tensor<7x2x3xf32>, tensor<2x8x3xf32>, tensor<2x8x2xf32>, tensor<2x16xf32>) -> (tensor<7x2x2x2xf32>, tensor<2x2x2xf32>, tensor<2x2x2xf32>)
  return %0#0, %0#1, %0#2 : tensor<7x2x2x2xf32>, tensor<2x2x2xf32>, tensor<2x2x2xf32>
}
// CHECK: @lstm: no difference
func.func @lstm(%x: tensor<2x3x4xf32>, %w: tensor<1x8x4xf32>, %r: tensor<1x8x2xf32>, %h: tensor<2x1x2xf32>, %c: tensor<2x1x2xf32>, %p: tensor<1x6xf32>) -> (tensor<2x3x1x2xf32>, tensor<2x1x2xf32>) {
  %0:3 = graph.lstm %x, %w, %r state %h cell %c peepholes %p {clip = 5.000000e-01 : f32, input_forget = 1 : i64, layout = 1 : i64} : (tensor<2x3x4xf32>, tensor<1x8x4xf32>, tensor<1x8x2xf32>, tensor<2x1x2xf32>, tensor<2x1x2xf32>, tensor<1x6xf32>) -> (tensor<2x3x1x2xf32>, tensor<2x1x2xf32>, tensor<2x1x2xf32>)
  return %0#0, %0#1 : tensor<2x3x1x2xf32>, tensor<2x1x2xf32>
}
// CHECK: @gru: no difference
func.func @gru(%x: tensor<3x2x4xf32>, %w: tensor<1x6x4xf32>, %r: tensor<1x6x2xf32>, %b: tensor<1x12xf32>) -> (tensor<3x1x2x2xf32>, tensor<3x1x2x2xf32>) {
  %0 = graph.gru %x, %w, %r bias %b {linear_before_reset = 1 : i64} : (tensor<3x2x4xf32>, tensor<1x6x4xf32>, tensor<1x6x2xf32>, tensor<1x12xf32>) -> tensor<3x1x2x2xf32>
  %1 = graph.gru %x, %w, %r bias %b {direction = "reverse"} : (tensor<3x2x4xf32>, tensor<1x6x4xf32>, tensor<1x6x2xf32>, tensor<1x12xf32>) -> tensor<3x1x2x2xf32>
  return %0, %1 : tensor<3x1x2x2xf32>, tensor<3x1x2x2xf32>
}
// CHECK: @dynamic: unchanged
func.func @dynamic(%x: tensor<?x2x4xf32>, %w: tensor<1x2x4xf32>, %r: tensor<1x2x2xf32>) -> (tensor<?x1x2x2xf32>, tensor<1x2x2xf32>) {
  %0:2 = graph.rnn %x, %w, %r : (tensor<?x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x2xf32>) -> (tensor<?x1x2x2xf32>, tensor<1x2x2xf32>)
  return %0#0, %0#1 : tensor<?x1x2x2xf32>, tensor<1x2x2xf32>
}
// CHECK: @no_steps: no difference
func.func @no_steps(%x: tensor<0x2x4xf32>, %w: tensor<1x2x4xf32>, %r: tensor<1x2x2xf32>, %h: tensor<1x2x2xf32>) -> (tensor<0x1x2x2xf32>, tensor<1x2x2xf32>) {
  %0:2 = graph.rnn %x, %w, %r state %h : (tensor<0x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x2xf32>, tensor<1x2x2xf32>) -> (tensor<0x1x2x2xf32>, tensor<1x2x2xf32>)
  return %0#0, %0#1 : tensor<0x1x2x2xf32>, tensor<1x2x2xf32>
}
// A threshold that is not positive clips nothing.
// CHECK: @no_clip: no difference
func.func @no_clip(%x: tensor<2x1x1xf32>, %w: tensor<1x1x1xf32>, %r: tensor<1x1x1xf32>) -> tensor<2x1x1x1xf32> {
  %0 = graph.rnn %x, %w, %r {clip = 0.000000e+00 : f32} : (tensor<2x1x1xf32>, tensor<1x1x1xf32>, tensor<1x1x1xf32>) -> tensor<2x1x1x1xf32>
  return %0 : tensor<2x1x1x1xf32>
}
