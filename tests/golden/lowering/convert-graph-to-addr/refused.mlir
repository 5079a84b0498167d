// RUN: gradus opt %s --convert-graph-to-addr --split-input-file --verify-diagnostics

func.func @batches(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) -> tensor<2x3x5xf32> {
  // expected-remark@+1 {{'graph.matmul' stays in graph: a right operand of 3 axes, which is no matrix (operand 'b')}}
  %0 = graph.matmul %a, %b : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return %0 : tensor<2x3x5xf32>
}

// -----

func.func @extents(%x: tensor<1x8x?x4xf32>, %w: tensor<2x8x1x1xf32>) -> tensor<1x2x?x4xf32> {
  // expected-remark@+1 {{'graph.conv' stays in graph: an unknown extent (operand 'x')}}
  %0 = graph.conv %x, %w : (tensor<1x8x?x4xf32>, tensor<2x8x1x1xf32>) -> tensor<1x2x?x4xf32>
  return %0 : tensor<1x2x?x4xf32>
}

// -----

func.func @integers(%a: tensor<3x4xi32>, %b: tensor<4x5xi32>) -> tensor<3x5xi32> {
  // expected-remark@+1 {{'graph.matmul' stays in graph: elements other than floats (operand 'a')}}
  %0 = graph.matmul %a, %b : (tensor<3x4xi32>, tensor<4x5xi32>) -> tensor<3x5xi32>
  return %0 : tensor<3x5xi32>
}

// -----

func.func @means(%x: tensor<1x2x4x4xf16>) -> tensor<1x2x1x1xf16> {
  // expected-remark@+1 {{'graph.global_average_pool' stays in graph: means of f16, whose sums may overflow (operand 'x')}}
  %0 = graph.global_average_pool %x : (tensor<1x2x4x4xf16>) -> tensor<1x2x1x1xf16>
  return %0 : tensor<1x2x1x1xf16>
}

// -----

func.func @weights(%a: tensor<3x4xui8>, %b: tensor<4x5xui8>) -> tensor<3x5xi32> {
  // expected-remark@+1 {{'graph.matmul_integer' stays in graph: a parameter that is not constant (operand 'b')}}
  %0 = graph.matmul_integer %a, %b : (tensor<3x4xui8>, tensor<4x5xui8>) -> tensor<3x5xi32>
  return %0 : tensor<3x5xi32>
}
