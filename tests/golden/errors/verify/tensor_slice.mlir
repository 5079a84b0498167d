// RUN: gradus opt %s --allow-unregistered-dialect

func.func @f(%t: tensor<?x4xf32>) {
  // expected-error@+1 {{expected mixed offsets rank to match mixed sizes rank (1 vs 2) so the rank of the result type is well-formed.}}
  %0 = tensor.extract_slice %t[0] [1, 1] [1, 1] : tensor<?x4xf32> to tensor<1x1xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>) {
  // expected-error@+1 {{expected mixed offsets rank to match mixed sizes rank (2 vs 1) so the rank of the result type is well-formed.}}
  %0 = tensor.extract_slice %t[0, 0] [1] [1, 1] : tensor<?x4xf32> to tensor<1x1xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>) {
  // expected-error@+1 {{expected mixed sizes rank to match mixed strides rank (2 vs 1) so the rank of the result type is well-formed.}}
  %0 = tensor.extract_slice %t[0, 0] [1, 1] [1] : tensor<?x4xf32> to tensor<1x1xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>) {
  // expected-error@+1 {{expected 2 offset values, got 3}}
  %0 = tensor.extract_slice %t[0, 0, 0] [1, 1, 1] [1, 1, 1] : tensor<?x4xf32> to tensor<1x1xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>) {
  // expected-error@+1 {{expected offsets to be non-negative, but got -1}}
  %0 = tensor.extract_slice %t[0, -1] [1, 1] [1, 1] : tensor<?x4xf32> to tensor<1x1xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>) {
  // expected-error@+1 {{expected sizes to be non-negative, but got -1}}
  %0 = tensor.extract_slice %t[0, 0] [1, -1] [1, 1] : tensor<?x4xf32> to tensor<1x1xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>) {
  // expected-error@+1 {{offset 1 is out-of-bounds: 4 >= 4}}
  %0 = tensor.extract_slice %t[0, 4] [1, 1] [1, 1] : tensor<?x4xf32> to tensor<1x1xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>) {
  // expected-error@+1 {{slice along dimension 1 runs out-of-bounds: 4 >= 4}}
  %0 = tensor.extract_slice %t[0, 2] [1, 3] [1, 1] : tensor<?x4xf32> to tensor<1x3xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>) {
  // expected-error@+1 {{slice along dimension 1 runs out-of-bounds: 4 >= 4}}
  %0 = tensor.extract_slice %t[0, 0] [1, 3] [1, 2] : tensor<?x4xf32> to tensor<1x3xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>) {
  // expected-error@+1 {{expected type to be 'tensor<1x3xf32>' or a rank-reduced version. (size mismatch)}}
  %0 = tensor.extract_slice %t[0, 0] [1, 3] [1, 1] : tensor<?x4xf32> to tensor<1x2xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>) {
  // expected-error@+1 {{expected element type to be 'f32'}}
  %0 = tensor.extract_slice %t[0, 0] [1, 3] [1, 1] : tensor<?x4xf32> to tensor<1x3xi32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>) {
  // expected-error@+1 {{expected rank to be smaller or equal to the other rank.}}
  %0 = tensor.extract_slice %t[0, 0] [1, 3] [1, 1] : tensor<?x4xf32> to tensor<1x1x3xf32>
  return
}

// -----

func.func @f(%u: tensor<*xf32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of any type values, but got 'tensor<*xf32>'}}
  %0 = tensor.extract_slice %u[0, 0] [1, 3] [1, 1] : tensor<*xf32> to tensor<3xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>) {
  // expected-error@+1 {{offset 1 is out-of-bounds: 5 >= 4}}
  %0 = tensor.extract_slice %t[0, 5] [1, 0] [1, 1] : tensor<?x4xf32> to tensor<1x0xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>) {
  // expected-error@+1 {{offset 1 is out-of-bounds: 4 >= 4}}
  %0 = tensor.extract_slice %t[0, 4] [1, 0] [1, 1] : tensor<?x4xf32> to tensor<1x0xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>) {
  // expected-error@+1 {{expected the number of 'offsets' to match the number of dynamic entries in 'static_offsets' (0 vs 1)}}
  %0 = "tensor.extract_slice"(%t) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 0, -9223372036854775808>, static_sizes = array<i64: 1, 1>, static_strides = array<i64: 1, 1>}> : (tensor<?x4xf32>) -> tensor<1x1xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>, %i: index) {
  // expected-error@+1 {{expected the number of 'offsets' to match the number of dynamic entries in 'static_offsets' (1 vs 0)}}
  %0 = "tensor.extract_slice"(%t, %i) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>, static_offsets = array<i64: 0, 0>, static_sizes = array<i64: 1, 1>, static_strides = array<i64: 1, 1>}> : (tensor<?x4xf32>, index) -> tensor<1x1xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>, %v2: tensor<2xf32>) {
  // expected-error@+1 {{expected type to be 'tensor<1x3xf32>' or a rank-reduced version. (size mismatch)}}
  %0 = tensor.insert_slice %v2 into %t[0, 0] [1, 3] [1, 1] : tensor<2xf32> into tensor<?x4xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>, %v2: tensor<2xf32>) {
  // expected-error@+1 {{expected mixed offsets rank to match mixed sizes rank (2 vs 1) so the rank of the result type is well-formed.}}
  %0 = tensor.insert_slice %v2 into %t[0, 0] [1] [1, 1] : tensor<2xf32> into tensor<?x4xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>, %v2: tensor<2xf32>) {
  // expected-error@+1 {{slice along dimension 1 runs out-of-bounds: 4 >= 4}}
  %0 = tensor.insert_slice %v2 into %t[0, 3] [1, 2] [1, 1] : tensor<2xf32> into tensor<?x4xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>, %w2: tensor<2xi32>) {
  // expected-error@+1 {{expected element type to be 'f32'}}
  %0 = tensor.insert_slice %w2 into %t[0, 0] [1, 2] [1, 1] : tensor<2xi32> into tensor<?x4xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>, %t3: tensor<1x1x2xf32>) {
  // expected-error@+1 {{expected rank to be smaller or equal to the other rank.}}
  %0 = tensor.insert_slice %t3 into %t[0, 0] [1, 2] [1, 1] : tensor<1x1x2xf32> into tensor<?x4xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>, %v2: tensor<2xf32>) {
  // expected-error@+1 {{failed to verify that expected result type to match dest type}}
  %0 = "tensor.insert_slice"(%v2, %t) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 0>, static_offsets = array<i64: 0, 0>, static_sizes = array<i64: 1, 2>, static_strides = array<i64: 1, 1>}> : (tensor<2xf32>, tensor<?x4xf32>) -> tensor<?x?xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>, %f: f32) { // expected-note {{prior use here}}
  // expected-error@+1 {{use of value '%f' expects different type than prior uses: 'index' vs 'f32'}}
  %0 = tensor.extract_slice %t[0, 0] [%f, 3] [1, 1] : tensor<?x4xf32> to tensor<?x3xf32>
  return
}
