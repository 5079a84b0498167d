// RUN: gradus opt %s --allow-unregistered-dialect

func.func @f(%t: tensor<?x4xf32>) {
  // expected-error@+1 {{expected reassociation map #0 to have size equal to the expanded rank (2), but it is  1.}}
  %0 = tensor.collapse_shape %t [[0]] : tensor<?x4xf32> into tensor<?xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>) {
  // expected-error@+1 {{expected dimension 0 of collapsed type to be dynamic since one or more of the corresponding dimensions in the expanded type is dynamic}}
  %0 = tensor.collapse_shape %t [[0,1]] : tensor<?x4xf32> into tensor<4xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>) {
  // expected-error@+1 {{expected reassociation map #0 to be valid and contiguous.}}
  %0 = tensor.collapse_shape %t [[1,0]] : tensor<?x4xf32> into tensor<?xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>) {
  // expected-error@+1 {{expected reassociation map #0 to have size equal to the expanded rank (2), but it is  3.}}
  %0 = tensor.collapse_shape %t [[0,2]] : tensor<?x4xf32> into tensor<?xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>) {
  // expected-error@+1 {{reassociation indices must not be empty}}
  %0 = tensor.collapse_shape %t [[0,1], []] : tensor<?x4xf32> into tensor<?x1xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>) {
  // expected-error@+1 {{expected collapsed rank (2) to equal the number of reassociation maps (1).}}
  %0 = tensor.collapse_shape %t [[0,1]] : tensor<?x4xf32> into tensor<?x?xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>) {
  // expected-error@+1 {{expected collapsed type to be 'tensor<?xf32>', but got 'tensor<?xi32>'}}
  %0 = tensor.collapse_shape %t [[0,1]] : tensor<?x4xf32> into tensor<?xi32>
  return
}

// -----

func.func @f(%t3: tensor<1x1x2xf32>) {
  // expected-error@+1 {{expected dimension 0 of collapsed type to be static value of 2}}
  %0 = tensor.collapse_shape %t3 [[0,1,2]] : tensor<1x1x2xf32> into tensor<3xf32>
  return
}

// -----

func.func @f(%t3: tensor<1x1x2xf32>) {
  // expected-error@+1 {{expected dimension 0 of collapsed type to be static value of 2}}
  %0 = tensor.collapse_shape %t3 [[0,1,2]] : tensor<1x1x2xf32> into tensor<?xf32>
  return
}

// -----

func.func @f(%t3: tensor<1x1x2xf32>) {
  // expected-error@+1 {{expected collapsed rank (0) to equal the number of reassociation maps (2).}}
  %0 = tensor.collapse_shape %t3 [[0],[1,2]] : tensor<1x1x2xf32> into tensor<f32>
  return
}

// -----

func.func @f(%t3: tensor<1x1x2xf32>) {
  // expected-error@+1 {{expected reassociation map #1 to be valid and contiguous.}}
  %0 = tensor.collapse_shape %t3 [[0,1],[1,2]] : tensor<1x1x2xf32> into tensor<1x2xf32>
  return
}

// -----

func.func @f(%t3: tensor<1x1x2xf32>) {
  // expected-error@+1 {{expected reassociation map #1 to be valid and contiguous.}}
  %0 = tensor.collapse_shape %t3 [[0],[2]] : tensor<1x1x2xf32> into tensor<1x2xf32>
  return
}

// -----

func.func @f(%t3: tensor<1x1x2xf32>) {
  // expected-error@+1 {{expected reassociation map #0 to have size equal to the expanded rank (3), but it is  4.}}
  %0 = tensor.collapse_shape %t3 [[0, 1, 2, 3]] : tensor<1x1x2xf32> into tensor<2xf32>
  return
}

// -----

func.func @f(%u: tensor<*xf32>) {
  // expected-error@+1 {{requires ranked tensors}}
  %0 = tensor.collapse_shape %u [[0, 1]] : tensor<*xf32> into tensor<?xf32>
  return
}

// -----

func.func @f(%t3: tensor<1x1x2xf32>) {
  // expected-error@+1 {{attribute 'reassociation' failed to satisfy constraint: Array of 64-bit integer array attributes}}
  %0 = tensor.collapse_shape %t3 [0, 1, 2] : tensor<1x1x2xf32> into tensor<2xf32>
  return
}

// -----

func.func @f(%v2: tensor<2xf32>) {
  // expected-error@+1 {{expected dimension 0 of collapsed type to be static value of 4}}
  %0 = tensor.expand_shape %v2 [[0, 1]] output_shape [2, 2] : tensor<2xf32> into tensor<2x2xf32>
  return
}

// -----

func.func @f(%v2: tensor<2xf32>) {
  // expected-error@+1 {{expected number of static shape dims to be equal to the output rank (2) but found 1 inputs instead}}
  %0 = tensor.expand_shape %v2 [[0, 1]] output_shape [2] : tensor<2xf32> into tensor<2x1xf32>
  return
}

// -----

func.func @f(%v2: tensor<2xf32>) {
  // expected-error@+1 {{expected dimension 0 of collapsed type to be dynamic since one or more of the corresponding dimensions in the expanded type is dynamic}}
  %0 = tensor.expand_shape %v2 [[0, 1]] output_shape [2, 1] : tensor<2xf32> into tensor<?x1xf32>
  return
}

// -----

func.func @f(%i: index, %v2: tensor<2xf32>) {
  // expected-error@+1 {{expected dimension 0 of collapsed type to be dynamic since one or more of the corresponding dimensions in the expanded type is dynamic}}
  %0 = tensor.expand_shape %v2 [[0, 1]] output_shape [%i, 1] : tensor<2xf32> into tensor<?x1xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>) {
  // expected-error@+1 {{expected dimension 0 of collapsed type to be static value of 6}}
  %0 = tensor.expand_shape %t [[0, 1], [2]] output_shape [2, 3, 4] : tensor<?x4xf32> into tensor<2x3x4xf32>
  return
}

// -----

func.func @f(%v2: tensor<2xf32>) {
  // expected-error@+1 {{mismatch in dynamic dims in output_shape and static_output_shape: static_output_shape has 1 dynamic dims while output_shape has 0 values}}
  %0 = "tensor.expand_shape"(%v2) <{reassociation = [[0, 1]], static_output_shape = array<i64: -9223372036854775808, 1>}> : (tensor<2xf32>) -> tensor<?x1xf32>
  return
}

// -----

func.func @f(%v2: tensor<2xf32>) {
  // expected-error@+1 {{requires attribute 'static_output_shape'}}
  %0 = "tensor.expand_shape"(%v2) <{reassociation = [[0, 1]]}> : (tensor<2xf32>) -> tensor<2x1xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>) {
  // expected-error@+1 {{expected collapsed rank (1) to equal the number of reassociation maps (2).}}
  %0 = tensor.collapse_shape %t [[0],[2]] : tensor<?x4xf32> into tensor<?xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>) {
  // expected-error@+1 {{reassociation indices must not be empty}}
  %0 = tensor.collapse_shape %t [[0],[],[2]] : tensor<?x4xf32> into tensor<?xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>) {
  // expected-error@+1 {{expected dimension 0 of collapsed type to be dynamic since one or more of the corresponding dimensions in the expanded type is dynamic}}
  %0 = tensor.collapse_shape %t [[0,1]] : tensor<?x4xf32> into tensor<4xi32>
  return
}

// -----

func.func @f(%t3: tensor<1x1x2xf32>) {
  // expected-error@+1 {{expected reassociation map #0 to be valid and contiguous.}}
  %0 = tensor.collapse_shape %t3 [[1,0],[2]] : tensor<1x1x2xf32> into tensor<5x2xf32>
  return
}

// -----

func.func @f(%t3: tensor<1x1x2xf32>) {
  // expected-error@+1 {{expected reassociation map #1 to be valid and contiguous.}}
  %0 = tensor.collapse_shape %t3 [[0],[2,1]] : tensor<1x1x2xf32> into tensor<5x2xf32>
  return
}

// -----

func.func @f(%t3: tensor<1x1x2xf32>) {
  // expected-error@+1 {{expected reassociation map #0 to be valid and contiguous.}}
  %0 = tensor.collapse_shape %t3 [[1],[2]] : tensor<1x1x2xf32> into tensor<1x2xf32>
  return
}

// -----

func.func @f(%t3: tensor<1x1x2xf32>) {
  // expected-error@+1 {{expected reassociation map #0 to have size equal to the expanded rank (3), but it is  2.}}
  %0 = tensor.collapse_shape %t3 [[0],[1]] : tensor<1x1x2xf32> into tensor<1x1xf32>
  return
}

// -----

func.func @f(%t3: tensor<1x1x2xf32>) {
  // expected-error@+1 {{expected reassociation map #0 to have size equal to the expanded rank (3), but it is  2.}}
  %0 = tensor.collapse_shape %t3 [[0],[1],[-1]] : tensor<1x1x2xf32> into tensor<1x1x1xf32>
  return
}

// -----

func.func @f(%t3: tensor<1x1x2xf32>) {
  // expected-error@+1 {{expected the expanded type, 'tensor<1x2xf32>' to have a higher (or same) rank than the collapsed type, 'tensor<1x1x2xf32>'.}}
  %0 = tensor.expand_shape %t3 [[0],[1],[2]] output_shape [1,1] : tensor<1x1x2xf32> into tensor<1x2xf32>
  return
}

// -----

func.func @f(%t3: tensor<1x1x2xf32>) {
  // expected-error@+1 {{expected the expanded type, 'tensor<1x2xf32>' to have a higher (or same) rank than the collapsed type, 'tensor<1x1x2xf32>'.}}
  %0 = tensor.expand_shape %t3 [[0],[1]] output_shape [1,2] : tensor<1x1x2xf32> into tensor<1x2xf32>
  return
}

// -----

func.func @f(%v2: tensor<2xf32>) {
  // expected-error@+1 {{expected collapsed type to be 'tensor<2xi32>', but got 'tensor<2xf32>'}}
  %0 = tensor.expand_shape %v2 [[0,1]] output_shape [1,2] : tensor<2xf32> into tensor<1x2xi32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>, %i: index) {
  // expected-error@+1 {{expected number of static shape dims to be equal to the output rank (3) but found 2 inputs instead}}
  %0 = tensor.expand_shape %t [[0],[1,2]] output_shape [%i,2] : tensor<?x4xf32> into tensor<?x2x2xf32>
  return
}

// -----

func.func @f(%t: tensor<?x4xf32>, %i: index) {
  // expected-error@+1 {{mismatch in dynamic dims in output_shape and static_output_shape: static_output_shape has 1 dynamic dims while output_shape has 2 values}}
  %0 = "tensor.expand_shape"(%t, %i, %i) <{reassociation = [[0], [1, 2]], static_output_shape = array<i64: -9223372036854775808, 2, 2>}> : (tensor<?x4xf32>, index, index) -> tensor<?x2x2xf32>
  return
}

// -----

func.func @f(%u: tensor<*xf32>) {
  // expected-error@+1 {{requires ranked tensors}}
  %0 = tensor.expand_shape %u [[0, 1]] output_shape [1,2] : tensor<*xf32> into tensor<1x2xf32>
  return
}

// -----

func.func @f(%t3: tensor<1x1x2xf32>) {
  // expected-error@+1 {{expected reassociation map #0 to have size equal to the expanded rank (3), but it is  9223372036854775807.}}
  %0 = tensor.collapse_shape %t3 [[0,1,2,9223372036854775807]] : tensor<1x1x2xf32> into tensor<2xf32>
  return
}

// -----

func.func @f(%t3: tensor<1x1x2xf32>) {
  // expected-error@+1 {{requires ranked tensors}}
  %0 = tensor.collapse_shape %t3 [[0,1],[2]] : tensor<1x1x2xf32> into tensor<*xf32>
  return
}
