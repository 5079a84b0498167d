// RUN: gradus opt %s --expand-composed-ops --split-input-file --verify-diagnostics

func.func @norms(%x: tensor<1x2x?xf32>, %y: tensor<*xf32>, %a: tensor<2xf32>) {
  // expected-remark@+1 {{'graph.batch_normalization' stays one op: a tensor of unknown rank (operand 'x')}}
  %1 = graph.batch_normalization %y, %a, %a, %a, %a : (tensor<*xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<*xf32>
  // expected-remark@+1 {{'graph.group_normalization' stays one op: groups of unknown extents (operand 'x')}}
  %2 = graph.group_normalization %x, %a, %a {num_groups = 2 : i64} : (tensor<1x2x?xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x?xf32>
  return
}

// -----

func.func @elements(%x: tensor<4xi32>, %y: tensor<4xf8E4M3FN>, %axes: tensor<1xi64>, %z: tensor<4xf32>) {
  // expected-remark@+1 {{'graph.reduce_log_sum_exp' stays one op: an element type other than f16, bf16, f32 and f64 (operand 'x')}}
  %0 = graph.reduce_log_sum_exp %x : (tensor<4xi32>) -> tensor<1xi32>
  // expected-remark@+1 {{'graph.reduce_log_sum_exp' stays one op: an operand that is not constant (operand 'axes')}}
  %1 = graph.reduce_log_sum_exp %z, %axes : (tensor<4xf32>, tensor<1xi64>) -> tensor<?xf32>
  // expected-remark@+1 {{'graph.is_inf' stays one op: an element type other than f16, bf16, f32 and f64 (operand 'x')}}
  %2 = graph.is_inf %y : (tensor<4xf8E4M3FN>) -> tensor<4xi1>
  // expected-remark@+1 {{'graph.mean' stays one op: elements that are no floats (operand 'inputs')}}
  %3 = graph.mean %x, %x : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @pools(%x: tensor<1x1x?xf32>) {
  // expected-remark@+1 {{'graph.lp_pool' stays one op: windows at the end of an image of unknown extents}}
  %0 = graph.lp_pool %x {kernel_shape = array<i64: 2>, ceil_mode = 1 : i64} : (tensor<1x1x?xf32>) -> tensor<1x1x?xf32>
  return
}

// -----

func.func @products(%a: tensor<3x3xf32>, %b: tensor<?x3xf32>, %c: tensor<1x3xf32>, %d: tensor<2x3x?x?xf32>, %e: tensor<2x3x?xf32>) {
  // expected-remark@+1 {{'graph.einsum' stays one op: a diagonal (attribute 'equation')}}
  %0 = graph.einsum %a {equation = "ii"} : (tensor<3x3xf32>) -> tensor<f32>
  // expected-remark@+1 {{'graph.einsum' stays one op: a summed axis whose extents are not known to be equal}}
  %1 = graph.einsum %a, %b {equation = "ij,jk->ik"} : (tensor<3x3xf32>, tensor<?x3xf32>) -> tensor<3x3xf32>
  // expected-remark@+1 {{'graph.einsum' stays one op: a summed axis whose extents are not known to be equal}}
  %2 = graph.einsum %a, %c {equation = "ij,jk->ik"} : (tensor<3x3xf32>, tensor<1x3xf32>) -> tensor<3x3xf32>
  // expected-remark@+1 {{'graph.einsum' stays one op: several extents that are not known}}
  %3 = graph.einsum %e, %d {equation = "bij,bikl->bjkl"} : (tensor<2x3x?xf32>, tensor<2x3x?x?xf32>) -> tensor<2x?x?x?xf32>
  return
}

// -----

func.func @transforms(%x: tensor<1x?x1xf32>, %y: tensor<1x2049x1xf32>, %n: tensor<i64>, %w: tensor<4xf32>, %z: tensor<1x2000x2xf32>) {
  %step = graph.constant dense<2> : tensor<i64>
  // expected-remark@+1 {{'graph.dft' stays one op: an axis of unknown extent}}
  %0 = graph.dft %x : (tensor<1x?x1xf32>) -> tensor<1x?x2xf32>
  // expected-remark@+1 {{'graph.dft' stays one op: a transform of other than 1 to 2048 elements}}
  %1 = graph.dft %y : (tensor<1x2049x1xf32>) -> tensor<1x2049x2xf32>
  // expected-remark@+1 {{'graph.dft' stays one op: an operand that is not constant (operand 'dft_length')}}
  %2 = graph.dft %y length %n : (tensor<1x2049x1xf32>, tensor<i64>) -> tensor<1x?x2xf32>
  // expected-remark@+1 {{'graph.dft' stays one op: a matrix of 16000000 elements, of at most 8388608}}
  %3 = graph.dft %z : (tensor<1x2000x2xf32>) -> tensor<1x2000x2xf32>
  // expected-remark@+1 {{'graph.stft' stays one op: an operand that is not constant (operand 'window')}}
  %4 = graph.stft %x, %step window %w : (tensor<1x?x1xf32>, tensor<i64>, tensor<4xf32>) -> tensor<1x?x3x2xf32>
  return
}

// -----

func.func @rotary(%x: tensor<1x2x3x?xf32>, %c: tensor<1x3x2xf32>) {
  // expected-remark@+1 {{'graph.rotary_embedding' stays one op: extents that are not known}}
  %0 = graph.rotary_embedding %x, %c, %c : (tensor<1x2x3x?xf32>, tensor<1x3x2xf32>, tensor<1x3x2xf32>) -> tensor<1x2x3x?xf32>
  return
}
