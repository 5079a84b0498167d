// RUN: gradus opt %s

func.func @decode(%q: tensor<1x4x1x8xf32>, %k: tensor<1x2x1x8xf32>, %v: tensor<1x2x1x8xf32>, %pk: tensor<1x2x3x8xf32>, %pv: tensor<1x2x3x8xf32>) -> (tensor<1x4x1x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>) {
  %y:3 = graph.attention %q, %k, %v past_key %pk past_value %pv {is_causal = 1 : i64} : (tensor<1x4x1x8xf32>, tensor<1x2x1x8xf32>, tensor<1x2x1x8xf32>, tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>) -> (tensor<1x4x1x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>)
  return %y#0, %y#1, %y#2 : tensor<1x4x1x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>
}
func.func @masked(%x: tensor<2x3x16xf32>, %mask: tensor<3x3xi1>, %n: tensor<2xi64>) -> tensor<2x3x16xf32> {
  %y = graph.attention %x, %x, %x mask %mask lengths %n {kv_num_heads = 4 : i64, left_window_size = 1 : i64, q_num_heads = 4 : i64, softcap = 2.0 : f32} : (tensor<2x3x16xf32>, tensor<2x3x16xf32>, tensor<2x3x16xf32>, tensor<3x3xi1>, tensor<2xi64>) -> tensor<2x3x16xf32>
  return %y : tensor<2x3x16xf32>
}
func.func @rotated(%x: tensor<2x4x3x8xf32>, %cos: tensor<4x2xf32>, %sin: tensor<4x2xf32>) -> tensor<2x4x3x8xf32> {
  %at = graph.constant dense<[[0, 1, 2], [1, 2, 3]]> : tensor<2x3xi64>
  %y = graph.rotary_embedding %x, %cos, %sin, %at {interleaved = 1 : i64, rotary_embedding_dim = 4 : i64} : (tensor<2x4x3x8xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<2x3xi64>) -> tensor<2x4x3x8xf32>
  %z = graph.swiglu %y, %x : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  return %z : tensor<2x4x3x8xf32>
}
func.func @recurrent(%x: tensor<5x2x4xf32>, %w: tensor<2x12x4xf32>, %r: tensor<2x12x3xf32>, %b: tensor<2x24xf32>) -> tensor<2x2x3xf32> {
  %y:3 = graph.lstm %x, %w, %r bias %b {activations = ["HardSigmoid", "Tanh", "Tanh", "Sigmoid", "Relu", "Tanh"], activation_alpha = array<f32: 0.3>, direction = "bidirectional"} : (tensor<5x2x4xf32>, tensor<2x12x4xf32>, tensor<2x12x3xf32>, tensor<2x24xf32>) -> (tensor<5x2x2x3xf32>, tensor<2x2x3xf32>, tensor<2x2x3xf32>)
  return %y#2 : tensor<2x2x3xf32>
}
