// RUN: gradus opt %s --allow-unregistered-dialect

func.func @f(%f: f32) { // expected-note {{prior use here}}
  // expected-error@+1 {{use of value '%f' expects different type than prior uses: 'index' vs 'f32'}}
  %0 = tensor.empty(%f) : tensor<?xf32>
  return
}

// -----

func.func @f(%i: index) {
  // expected-error@+1 {{result #0 must be ranked tensor of any type values, but got 'tensor<*xf32>'}}
  %0 = "tensor.empty"(%i) : (index) -> tensor<*xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>, %i: index) {
  // expected-error@+1 {{incorrect number of indices for extract_element}}
  %0 = tensor.extract %t[%i] : tensor<?x4xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>, %i: index) {
  // expected-error@+1 {{failed to verify that result type matches element type of tensor}}
  %0 = "tensor.extract"(%t, %i, %i) : (tensor<?x4xf32>, index, index) -> i32
  return
}

// -----

func.func @f(%i: index, %u: tensor<*xf32>) {
  // expected-error@+1 {{the result types of 'tensor.extract' cannot be inferred}}
  %0 = tensor.extract %u[%i] : tensor<*xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>, %f: f32, %i: index) {
  // expected-error@+1 {{incorrect number of indices}}
  %0 = tensor.insert %f into %t[%i] : tensor<?x4xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>, %k: i32, %i: index) {
  // expected-error@+1 {{failed to verify that scalar type matches element type of dest}}
  %0 = "tensor.insert"(%k, %t, %i, %i) : (i32, tensor<?x4xf32>, index, index) -> tensor<?x4xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>, %f: f32, %i: index) {
  // expected-error@+1 {{failed to verify that result type matches type of dest}}
  %0 = "tensor.insert"(%f, %t, %i, %i) : (f32, tensor<?x4xf32>, index, index) -> tensor<?x?xf32>
  return
}

// -----

func.func @f(%f: f32) {
  // expected-error@+1 {{failed to verify that operand types match result element type}}
  %0 = "tensor.from_elements"(%f) : (f32) -> tensor<2xf32>
  return
}

// -----

func.func @f(%f: f32, %k: i32) {
  // expected-error@+1 {{failed to verify that operand types match result element type}}
  %0 = "tensor.from_elements"(%f, %k) : (f32, i32) -> tensor<2xf32>
  return
}

// -----

func.func @f(%f: f32) {
  // expected-error@+1 {{result #0 must be statically shaped tensor of any type values, but got 'tensor<?xf32>'}}
  %0 = "tensor.from_elements"(%f) : (f32) -> tensor<?xf32>
  return
}

// -----

func.func @f(%f: f32) {
  // expected-error@+1 {{result #0 must be statically shaped tensor of any type values, but got 'tensor<?xf32>'}}
  %0 = tensor.from_elements %f : tensor<?xf32>
  return
}

// -----

func.func @f(%k: i32) { // expected-note {{prior use here}}
  // expected-error@+1 {{use of value '%k' expects different type than prior uses: 'f32' vs 'i32'}}
  %0 = tensor.from_elements %k : tensor<1xf32>
  return
}

// -----

func.func @f(%f: f32, %i: index) {
  // expected-error@+1 {{incorrect number of dynamic sizes, has 1, expected 0}}
  %0 = tensor.splat %f[%i] : tensor<2xf32>
  return
}

// -----

func.func @f(%f: f32) {
  // expected-error@+1 {{incorrect number of dynamic sizes, has 0, expected 1}}
  %0 = tensor.splat %f : tensor<?xf32>
  return
}

// -----

func.func @f(%f: f32) {
  // expected-error@+1 {{failed to verify that operand type matches element type of result}}
  %0 = "tensor.splat"(%f) : (f32) -> tensor<2xi32>
  return
}

// -----

func.func @f(%f: f32) {
  // expected-error@+1 {{result #0 must be ranked tensor of any type values, but got 'tensor<*xf32>'}}
  %0 = tensor.splat %f : tensor<*xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>) {
  // expected-error@+1 {{invalid tensor element type}}
  %0 = tensor.splat %t : tensor<2xtensor<?x4xf32>>
  return
}
