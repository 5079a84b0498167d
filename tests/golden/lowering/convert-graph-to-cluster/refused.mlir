// RUN: gradus opt %s --convert-graph-to-cluster --split-input-file --verify-diagnostics

func.func @other_op(%x: tensor<1x8xf32>) -> tensor<1x8xf32> {
  // expected-remark@+1 {{'graph.exp' stays on the host: not an op of the clusters}}
  %0 = graph.exp %x : tensor<1x8xf32>
  return %0 : tensor<1x8xf32>
}

// -----

func.func @batch(%x: tensor<2x8x4x4xf32>) -> tensor<2x8x4x4xf32> {
  // expected-remark@+1 {{'graph.relu' stays on the host: a batch of 2 images (result 'y')}}
  %0 = graph.relu %x : tensor<2x8x4x4xf32>
  return %0 : tensor<2x8x4x4xf32>
}

// -----

func.func @extents(%x: tensor<1x8x?x4xf32>) -> tensor<1x8x?x4xf32> {
  // expected-remark@+1 {{'graph.relu' stays on the host: an unknown extent (result 'y')}}
  %0 = graph.relu %x : tensor<1x8x?x4xf32>
  return %0 : tensor<1x8x?x4xf32>
}

// -----

func.func @doubles(%x: tensor<1x8xf64>) -> tensor<1x8xf64> {
  // expected-remark@+1 {{'graph.relu' stays on the host: elements other than f32, f16 and bytes (result 'y')}}
  %0 = graph.relu %x : tensor<1x8xf64>
  return %0 : tensor<1x8xf64>
}

// -----

func.func @weights(%x: tensor<1x8x4x4xf32>, %w: tensor<2x8x1x1xf32>) -> tensor<1x2x4x4xf32> {
  // expected-remark@+1 {{'graph.conv' stays on the host: a parameter that is not constant (operand 'w')}}
  %0 = graph.conv %x, %w : (tensor<1x8x4x4xf32>, tensor<2x8x1x1xf32>) -> tensor<1x2x4x4xf32>
  return %0 : tensor<1x2x4x4xf32>
}

// -----

func.func @scaled(%x: tensor<1x8xf32>) -> tensor<1x4xf32> {
  %w = graph.constant dense<0.5> : tensor<8x4xf32>
  // expected-remark@+1 {{'graph.gemm' stays on the host: a factor of the product (attribute 'alpha')}}
  %0 = graph.gemm %x, %w {alpha = 2.0 : f32} : (tensor<1x8xf32>, tensor<8x4xf32>) -> tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}

// -----

func.func @rows(%x: tensor<1x3x4xf32>, %y: tensor<1x3x4xf32>) -> tensor<1x3x8xf32> {
  // expected-remark@+1 {{'graph.concat' stays on the host: another axis than that of the channels (attribute 'axis')}}
  %0 = graph.concat %x, %y {axis = 2 : i64} : (tensor<1x3x4xf32>, tensor<1x3x4xf32>) -> tensor<1x3x8xf32>
  return %0 : tensor<1x3x8xf32>
}

// -----

func.func @repeated(%x: tensor<1x8x4x4xf32>, %y: tensor<1x8x1x1xf32>) -> tensor<1x8x4x4xf32> {
  // expected-remark@+1 {{'graph.add' stays on the host: an operand that is repeated along an axis (operand 'b')}}
  %0 = graph.add %x, %y : (tensor<1x8x4x4xf32>, tensor<1x8x1x1xf32>) -> tensor<1x8x4x4xf32>
  return %0 : tensor<1x8x4x4xf32>
}

// -----

func.func @view(%x: tensor<1x4xf16>) -> tensor<1x4xf16> {
  // expected-remark@+1 {{'graph.flatten' stays on the host: a program that computes nothing}}
  %0 = graph.flatten %x : (tensor<1x4xf16>) -> tensor<1x4xf16>
  return %0 : tensor<1x4xf16>
}
