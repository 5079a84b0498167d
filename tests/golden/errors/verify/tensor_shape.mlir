// RUN: gradus opt %s --allow-unregistered-dialect

func.func @f(%t: tensor<?x4xf32>) {
  // expected-error@+1 {{operand type 'tensor<?x4xf32>' and result type 'tensor<?x5xf32>' are cast incompatible}}
  %0 = tensor.cast %t : tensor<?x4xf32> to tensor<?x5xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>) {
  // expected-error@+1 {{operand type 'tensor<?x4xf32>' and result type 'tensor<?x4xi32>' are cast incompatible}}
  %0 = tensor.cast %t : tensor<?x4xf32> to tensor<?x4xi32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>) {
  // expected-error@+1 {{result #0 must be tensor of any type values, but got 'f32'}}
  %0 = tensor.cast %t : tensor<?x4xf32> to f32
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>) {
  // expected-error@+1 {{operand type 'tensor<?x4xf32>' and result type 'tensor<?x4xi64>' are cast incompatible}}
  %0 = tensor.bitcast %t : tensor<?x4xf32> to tensor<?x4xi64>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>) {
  // expected-error@+1 {{result #0 must be tensor of signless integer or unsigned integer or signed integer or floating-point values, but got 'tensor<?x4xindex>'}}
  %0 = tensor.bitcast %t : tensor<?x4xf32> to tensor<?x4xindex>
  return
}

// -----

func.func @f(%i: index, %s: tensor<f32>) {
  // expected-error@+1 {{operand #0 must be non-0-ranked or unranked tensor, but got 'tensor<f32>'}}
  %0 = tensor.dim %s, %i : tensor<f32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>, %f: f32) {
  // expected-error@+1 {{operand #1 must be index, but got 'f32'}}
  %0 = "tensor.dim"(%t, %f) : (tensor<?x4xf32>, f32) -> index
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>, %i: index) {
  // expected-error@+1 {{result #0 must be index, but got 'i32'}}
  %0 = "tensor.dim"(%t, %i) : (tensor<?x4xf32>, index) -> i32
  return
}

// -----

func.func @f(%f: f32) {
  // expected-error@+1 {{operand #0 must be tensor of any type values, but got 'f32'}}
  %0 = tensor.rank %f : f32
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>, %s2: tensor<2xindex>) {
  // expected-error@+1 {{length of shape operand differs from the result's tensor rank}}
  %0 = tensor.reshape %t(%s2) : (tensor<?x4xf32>, tensor<2xindex>) -> tensor<?xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>, %s2: tensor<2xindex>) {
  // expected-error@+1 {{element types of source and destination tensor types should be the same}}
  %0 = tensor.reshape %t(%s2) : (tensor<?x4xf32>, tensor<2xindex>) -> tensor<?x4xi32>
  return
}

// -----

func.func @f(%v2: tensor<2xf32>, %s2: tensor<2xindex>) {
  // expected-error@+1 {{source and destination tensor should have the same number of elements}}
  %0 = tensor.reshape %v2(%s2) : (tensor<2xf32>, tensor<2xindex>) -> tensor<2x2xf32>
  return
}

// -----

func.func @f(%v2: tensor<2xf32>, %sd: tensor<?xindex>) {
  // expected-error@+1 {{cannot use shape operand with dynamic length to reshape to statically-ranked tensor type}}
  %0 = tensor.reshape %v2(%sd) : (tensor<2xf32>, tensor<?xindex>) -> tensor<2x1xf32>
  return
}

// -----

func.func @f(%v2: tensor<2xf32>) {
  // expected-error@+1 {{operand #1 must be 1D tensor of signless integer or index values, but got 'tensor<2xf32>'}}
  %0 = tensor.reshape %v2(%v2) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2x1xf32>
  return
}

// -----

func.func @f(%ix: tensor<1x2xindex>, %v2: tensor<2xf32>) {
  // expected-error@+1 {{operand #1 must be 1D tensor of signless integer or index values, but got 'tensor<1x2xindex>'}}
  %0 = tensor.reshape %v2(%ix) : (tensor<2xf32>, tensor<1x2xindex>) -> tensor<2x1xf32>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{requires at least one input}}
  %0 = tensor.concat dim(0) : () -> tensor<f32>
  return
}

// -----

func.func @f(%s: tensor<f32>) {
  // expected-error@+1 {{concatenation dim must be less than the tensor rank}}
  %0 = tensor.concat dim(0) %s : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>) {
  // expected-error@+1 {{result type 'tensor<?x5xf32>'does not match inferred shape 'tensor<?x4xf32>' static sizes}}
  %0 = tensor.concat dim(0) %t, %t : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x5xf32>
  return
}

// -----

func.func @f(%q: tensor<4x5xf32>, %p: tensor<3x5xf32>) {
  // expected-error@+1 {{static concatenation size mismatch along non-concatenated dimension 0}}
  %0 = tensor.concat dim(1) %q, %p : (tensor<4x5xf32>, tensor<3x5xf32>) -> tensor<4x10xf32>
  return
}

// -----

func.func @f(%i: index) {
  // expected-error@+1 {{operand #0 must be non-0-ranked or unranked tensor, but got 'index'}}
  %0 = tensor.dim %i, %i : index
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>, %s2: tensor<2xindex>) { // expected-note {{prior use here}}
  // expected-error@+1 {{use of value '%t' expects different type than prior uses: 'memref<2xf32>' vs 'tensor<?x4xf32>'}}
  %0 = tensor.reshape %t(%s2) : (memref<2xf32>, tensor<2xindex>) -> tensor<?xf32>
  return
}
