// RUN: gradus opt %s --convert-sparse-to-x64=isa=avx2 --split-input-file --verify-diagnostics

func.func @computed(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>) -> tensor<4x16xf32> {
  // expected-remark@+1 {{'sparse.matmul' stays interpreted: a parameter that is not constant (operand 'a')}}
  %c = sparse.matmul unrolled %a, %b : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  return %c : tensor<4x16xf32>
}

// -----

func.func @extents(%b: tensor<4x?xf32>) -> tensor<1x?xf32> {
  %a = arith.constant dense<[[1.0, 0.0, 0.0, 2.0]]> : tensor<1x4xf32>
  // expected-remark@+1 {{'sparse.matmul' stays interpreted: an unknown extent (operand 'b')}}
  %c = sparse.matmul unrolled %a, %b : (tensor<1x4xf32>, tensor<4x?xf32>) -> tensor<1x?xf32>
  return %c : tensor<1x?xf32>
}
