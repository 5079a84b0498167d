// RUN: gradus opt %s --allow-unregistered-dialect

func.func @f(%t: tensor<?x4xf32>, %ix: tensor<1x2xindex>) {
  // expected-error@+1 {{gather_dims values must be strictly increasing}}
  %0 = tensor.gather %t[%ix] gather_dims([1,0]) : (tensor<?x4xf32>, tensor<1x2xindex>) -> tensor<1xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>, %ix: tensor<1x2xindex>) {
  // expected-error@+1 {{gather_dims value must be smaller than source rank}}
  %0 = tensor.gather %t[%ix] gather_dims([0,2]) : (tensor<?x4xf32>, tensor<1x2xindex>) -> tensor<1xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>, %ix: tensor<1x2xindex>) {
  // expected-error@+1 {{gather_dims value must be non-negative}}
  %0 = tensor.gather %t[%ix] gather_dims([-1,1]) : (tensor<?x4xf32>, tensor<1x2xindex>) -> tensor<1xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>, %ix: tensor<1x2xindex>) {
  // expected-error@+1 {{gather_dims values must be strictly increasing}}
  %0 = tensor.gather %t[%ix] gather_dims([0,0]) : (tensor<?x4xf32>, tensor<1x2xindex>) -> tensor<1xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>, %ix: tensor<1x2xindex>) {
  // expected-error@+1 {{gather_dims must be non-empty}}
  %0 = tensor.gather %t[%ix] gather_dims([]) : (tensor<?x4xf32>, tensor<1x2xindex>) -> tensor<1xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>, %ix: tensor<1x2xindex>) {
  // expected-error@+1 {{gather_dims length must match the size of last dimension of indices}}
  %0 = tensor.gather %t[%ix] gather_dims([0]) : (tensor<?x4xf32>, tensor<1x2xindex>) -> tensor<1xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>, %ix: tensor<1x2xindex>) {
  // expected-error@+1 {{gather_dims overflow source rank}}
  %0 = tensor.gather %t[%ix] gather_dims([0,1,2]) : (tensor<?x4xf32>, tensor<1x2xindex>) -> tensor<1xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>, %ix: tensor<1x2xindex>) {
  // expected-error@+1 {{result type mismatch: expected 'tensor<1x1x1xf32>' or its rank-reduced variant 'tensor<1xf32>' (got: 'tensor<2xf32>')}}
  %0 = tensor.gather %t[%ix] gather_dims([0,1]) : (tensor<?x4xf32>, tensor<1x2xindex>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>) {
  // expected-error@+1 {{operand #1 must be ranked tensor of signless integer or index values, but got 'tensor<?x4xf32>'}}
  %0 = tensor.gather %t[%t] gather_dims([0,1]) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>, %s0: tensor<index>) {
  // expected-error@+1 {{gather_dims length must match the size of last dimension of indices}}
  %0 = tensor.gather %t[%s0] gather_dims([0]) : (tensor<?x4xf32>, tensor<index>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>, %ix: tensor<1x2xindex>, %v1: tensor<1xf32>) {
  // expected-error@+1 {{requires 'unique' attribute to be set}}
  %0 = tensor.scatter %v1 into %t[%ix] scatter_dims([0,1]) : (tensor<1xf32>, tensor<?x4xf32>, tensor<1x2xindex>) -> tensor<?x4xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>, %ix: tensor<1x2xindex>, %v2: tensor<2xf32>) {
  // expected-error@+1 {{source type mismatch: expected 'tensor<1x1x1xf32>' or its rank-reduced variant 'tensor<1xf32>' (got: 'tensor<2xf32>')}}
  %0 = tensor.scatter %v2 into %t[%ix] scatter_dims([0,1]) unique : (tensor<2xf32>, tensor<?x4xf32>, tensor<1x2xindex>) -> tensor<?x4xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>, %ix: tensor<1x2xindex>, %v1: tensor<1xf32>) {
  // expected-error@+1 {{scatter_dims value must be smaller than dest rank}}
  %0 = tensor.scatter %v1 into %t[%ix] scatter_dims([0,3]) unique : (tensor<1xf32>, tensor<?x4xf32>, tensor<1x2xindex>) -> tensor<?x4xf32>
  return
}
