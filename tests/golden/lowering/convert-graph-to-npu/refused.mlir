// RUN: gradus opt %s --convert-graph-to-npu --split-input-file --verify-diagnostics

func.func @other_op(%x: tensor<1x8x1x1xi8>) -> tensor<1x8x4x4xi8> {
  %s = graph.constant dense<[1, 8, 4, 4]> : tensor<4xi64>
  // expected-remark@+1 {{'graph.expand' stays on the host: not an op of the npu}}
  %0 = graph.expand %x, %s : (tensor<1x8x1x1xi8>, tensor<4xi64>) -> tensor<1x8x4x4xi8>
  return %0 : tensor<1x8x4x4xi8>
}

// -----

func.func @indices(%x: tensor<1x8x4x4xi8>) -> (tensor<1x8x2x2xi8>, tensor<1x8x2x2xi64>) {
  // expected-remark@+1 {{'graph.max_pool' stays on the host: elements other than bytes (result 'indices')}}
  %0, %1 = graph.max_pool %x {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x8x4x4xi8>) -> (tensor<1x8x2x2xi8>, tensor<1x8x2x2xi64>)
  return %0, %1 : tensor<1x8x2x2xi8>, tensor<1x8x2x2xi64>
}

// -----

func.func @rows_of_a_batch(%x: tensor<2x8x4x4xi8>) -> tensor<2x8x2x4xi8> {
  %a = graph.constant dense<1> : tensor<1xi64>
  %b = graph.constant dense<3> : tensor<1xi64>
  %c = graph.constant dense<2> : tensor<1xi64>
  // expected-remark@+1 {{'graph.slice' stays on the host: an axis that is a part of the rows, columns or channels of its feature}}
  %0 = graph.slice %x, %a, %b axes %c : (tensor<2x8x4x4xi8>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x8x2x4xi8>
  return %0 : tensor<2x8x2x4xi8>
}

// -----

func.func @between(%x: tensor<1x8x4x4xi8>) -> tensor<1x8x7x4xi8> {
  %s = graph.constant dense<[1, 8, 7, 4]> : tensor<4xi64>
  // expected-remark@+1 {{'graph.resize' stays on the host: elements between those of the operand, or outside of it}}
  %0 = graph.resize %x sizes %s {mode = "linear"} : (tensor<1x8x4x4xi8>, tensor<4xi64>) -> tensor<1x8x7x4xi8>
  return %0 : tensor<1x8x7x4xi8>
}

// -----

func.func @table(%x: tensor<1x8x4x4xi8>, %t: tensor<256xi8>) -> tensor<1x8x4x4xi8> {
  // expected-remark@+1 {{'graph.table' stays on the host: a parameter that is not constant (operand 'table')}}
  %0 = graph.table %x, %t : (tensor<1x8x4x4xi8>, tensor<256xi8>) -> tensor<1x8x4x4xi8>
  return %0 : tensor<1x8x4x4xi8>
}

// -----

func.func @floats(%x: tensor<1x8x4x4xf32>) -> tensor<1x4x8x4xf32> {
  // expected-remark@+1 {{'graph.transpose' stays on the host: elements other than bytes (result 'y')}}
  %0 = graph.transpose %x {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x8x4x4xf32>) -> tensor<1x4x8x4xf32>
  return %0 : tensor<1x4x8x4xf32>
}

// -----

func.func @groups(%x: tensor<1x256x4x4xi8>) -> tensor<1x128x4x4xi8> {
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<1> : tensor<i8>
  %w = graph.constant dense<2> : tensor<128x2x1x1xi8>
  // expected-remark@+1 {{'graph.qlinear_conv' stays on the host: 128 groups, more than 64 (attribute 'group')}}
  %0 = graph.qlinear_conv %x, %s, %z, %w, %s, %z, %s, %z {group = 128 : i64} : (tensor<1x256x4x4xi8>, tensor<f32>, tensor<i8>, tensor<128x2x1x1xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<1x128x4x4xi8>
  return %0 : tensor<1x128x4x4xi8>
}

// -----

func.func @zero_points(%x: tensor<1x8x4x4xi8>) -> tensor<1x2x4x4xi8> {
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<1> : tensor<i8>
  %w = graph.constant dense<2> : tensor<2x8x1x1xi8>
  %ws = graph.constant dense<0.5> : tensor<2xf32>
  %wz = graph.constant dense<[0, 1]> : tensor<2xi8>
  // expected-remark@+1 {{'graph.qlinear_conv' stays on the host: zero points of the weights that differ between kernels (operand 'w_zero_point')}}
  %0 = graph.qlinear_conv %x, %s, %z, %w, %ws, %wz, %s, %z : (tensor<1x8x4x4xi8>, tensor<f32>, tensor<i8>, tensor<2x8x1x1xi8>, tensor<2xf32>, tensor<2xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x4x4xi8>
  return %0 : tensor<1x2x4x4xi8>
}

// -----

func.func @factors(%x: tensor<1x8x4x4xi8>, %y: tensor<1x8x4x4xi8>) -> tensor<1x8x4x4xi8> {
  %a = graph.constant dense<0.9762> : tensor<f32>
  %b = graph.constant dense<1.7867> : tensor<f32>
  %c = graph.constant dense<0.7802> : tensor<f32>
  %z = graph.constant dense<8> : tensor<i8>
  // expected-remark@+1 {{'graph.qlinear_add' stays on the host: factors that are not exact: results are a step from the reference for 2 of 65536 pairs of bytes}}
  %0 = graph.qlinear_add %x, %a, %z, %y, %b, %z, %c, %z : (tensor<1x8x4x4xi8>, tensor<f32>, tensor<i8>, tensor<1x8x4x4xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<1x8x4x4xi8>
  return %0 : tensor<1x8x4x4xi8>
}

// -----

// The reshape cuts the channels of a feature in another place than at an axis.
func.func @reshape(%x: tensor<1x8x4x4xi8>, %t: tensor<256xi8>) -> tensor<1x4x8x4xi8> {
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<1> : tensor<i8>
  %w = graph.constant dense<2> : tensor<6x8x1x1xi8>
  %0 = graph.qlinear_conv %x, %s, %z, %w, %s, %z, %s, %z : (tensor<1x8x4x4xi8>, tensor<f32>, tensor<i8>, tensor<6x8x1x1xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<1x6x4x4xi8>
  %1 = graph.constant dense<[1, 4, 6, 4]> : tensor<4xi64>
  // expected-remark@+1 {{'graph.reshape' stays on the host: a reshape that cuts an axis of a feature elsewhere (result 'y')}}
  %2 = graph.reshape %0, %1 : (tensor<1x6x4x4xi8>, tensor<4xi64>) -> tensor<1x4x6x4xi8>
  %3 = graph.constant dense<1> : tensor<1x4x2x4xi8>
  // expected-remark@+1 {{'graph.concat' stays on the host: a constant instead of a feature (operand 'inputs')}}
  %4 = graph.concat %2, %3 {axis = 2 : i64} : (tensor<1x4x6x4xi8>, tensor<1x4x2x4xi8>) -> tensor<1x4x8x4xi8>
  return %4 : tensor<1x4x8x4xi8>
}

// -----

func.func @region(%x: tensor<1x8x4x4xi8>, %c: i1) -> tensor<1x4x8x4xi8> {
  %0 = scf.if %c -> tensor<1x4x8x4xi8> {
    // expected-remark@+1 {{'graph.transpose' stays on the host: a place other than the only block of a function}}
    %1 = graph.transpose %x {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x8x4x4xi8>) -> tensor<1x4x8x4xi8>
    scf.yield %1 : tensor<1x4x8x4xi8>
  } else {
    %2 = graph.constant dense<0> : tensor<1x4x8x4xi8>
    scf.yield %2 : tensor<1x4x8x4xi8>
  }
  return %0 : tensor<1x4x8x4xi8>
}
