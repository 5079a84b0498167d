// RUN: gradus opt %s --split-input-file --verify-diagnostics

func.func @floats(%a: tensor<4x18xf32>, %b: tensor<18x64xf32>) {
  // expected-error@+1 {{operand #0 must be tensor of 8-bit integer values, but got 'tensor<4x18xf32>'}}
  %0 = nna.matmul dense %a, %b : (tensor<4x18xf32>, tensor<18x64xf32>) -> tensor<4x64xf32>
  return
}

// -----

func.func @narrow(%a: tensor<4x18xi8>, %b: tensor<18x64xi8>) {
  // expected-error@+1 {{inferred type 'tensor<4x64xi32>' is incompatible with the result's type 'tensor<4x64xi8>'}}
  %0 = nna.matmul dense %a, %b : (tensor<4x18xi8>, tensor<18x64xi8>) -> tensor<4x64xi8>
  return
}

// -----

func.func @vector(%a: tensor<4x18xi8>, %b: tensor<18xi8>) {
  // expected-error@+1 {{requires matrices}}
  %0 = nna.matmul dense %a, %b : (tensor<4x18xi8>, tensor<18xi8>) -> tensor<4xi32>
  return
}

// -----

func.func @zero(%a: tensor<4x18xui8>, %b: tensor<18x64xi8>, %z: tensor<i8>) {
  // expected-error@+1 {{requires operands of the same element type, but got 'ui8' and 'i8'}}
  %0 = nna.matmul dense %a, %b a_zero %z : (tensor<4x18xui8>, tensor<18x64xi8>, tensor<i8>) -> tensor<4x64xi32>
  return
}
