// RUN: gradus opt %s --convert-matmul-to-nna --split-input-file --verify-diagnostics

func.func @other_op(%x: tensor<1x8xi8>) -> tensor<8x1xi8> {
  // expected-remark@+1 {{'graph.transpose' stays on the host: not a product of integers}}
  %0 = graph.transpose %x : (tensor<1x8xi8>) -> tensor<8x1xi8>
  return %0 : tensor<8x1xi8>
}

// -----

func.func @batch(%a: tensor<20x20x4x8xi8>, %b: tensor<20x20x8x3xi8>) -> tensor<20x20x4x3xi32> {
  // expected-remark@+1 {{'graph.matmul_integer' stays on the host: a batch of 400 products, of which at most 256 are calls}}
  %0 = graph.matmul_integer %a, %b : (tensor<20x20x4x8xi8>, tensor<20x20x8x3xi8>) -> tensor<20x20x4x3xi32>
  return %0 : tensor<20x20x4x3xi32>
}

// -----

func.func @zeros(%a: tensor<8xi8>, %b: tensor<8x3xi8>, %z: tensor<8xi8>) -> tensor<3xi32> {
  // expected-remark@+1 {{'graph.matmul_integer' stays on the host: zero points that differ along the reduction (operand 'a_zero_point')}}
  %0 = graph.matmul_integer %a, %b a_zero %z : (tensor<8xi8>, tensor<8x3xi8>, tensor<8xi8>) -> tensor<3xi32>
  return %0 : tensor<3xi32>
}

// -----

func.func @scales(%a: tensor<8xi8>, %b: tensor<8x3xi8>) -> tensor<3xi8> {
  %c = graph.constant dense<0.5> : tensor<f32>
  %s = graph.constant dense<[0.5, 0.25, 0.1]> : tensor<3xf32>
  %z = graph.constant dense<0> : tensor<i8>
  // expected-remark@+1 {{'graph.qlinear_matmul' stays on the host: several scales of a product with a vector}}
  %0 = graph.qlinear_matmul %a, %c, %z, %b, %s, %z, %c, %z : (tensor<8xi8>, tensor<f32>, tensor<i8>, tensor<8x3xi8>, tensor<3xf32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<3xi8>
  return %0 : tensor<3xi8>
}

// -----

func.func @extents(%a: tensor<?x8xi8>, %b: tensor<8x3xi8>) -> tensor<?x3xi32> {
  // expected-remark@+1 {{'graph.matmul_integer' stays on the host: an unknown extent (operand 'a')}}
  %0 = graph.matmul_integer %a, %b : (tensor<?x8xi8>, tensor<8x3xi8>) -> tensor<?x3xi32>
  return %0 : tensor<?x3xi32>
}

// -----

func.func @scale(%a: tensor<4x8xi8>, %b: tensor<8x3xi8>, %s: tensor<f32>) -> tensor<4x3xi8> {
  %c = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<0> : tensor<i8>
  // expected-remark@+1 {{'graph.qlinear_matmul' stays on the host: a parameter that is not constant (operand 'y_scale')}}
  %0 = graph.qlinear_matmul %a, %c, %z, %b, %c, %z, %s, %z : (tensor<4x8xi8>, tensor<f32>, tensor<i8>, tensor<8x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<4x3xi8>
  return %0 : tensor<4x3xi8>
}

// -----

func.func @sums(%a: tensor<1x9000xi8>, %b: tensor<9000x1xi8>) -> tensor<1x1xi8> {
  %c = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<0> : tensor<i8>
  // expected-remark@+1 {{'graph.qlinear_matmul' stays on the host: sums that may exceed 2^29}}
  %0 = graph.qlinear_matmul %a, %c, %z, %b, %c, %z, %c, %z : (tensor<1x9000xi8>, tensor<f32>, tensor<i8>, tensor<9000x1xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<1x1xi8>
  return %0 : tensor<1x1xi8>
}

// -----

func.func @large(%a: tensor<20000x900xi8>, %b: tensor<900x20000xi8>) -> tensor<20000x20000xi32> {
  // expected-remark@+1 {{'graph.matmul_integer' stays on the host: a product of 20000x900x20000 for which the machine has no plan}}
  %0 = graph.matmul_integer %a, %b : (tensor<20000x900xi8>, tensor<900x20000xi8>) -> tensor<20000x20000xi32>
  return %0 : tensor<20000x20000xi32>
}
