// RUN: gradus opt %s

// `memref.collapse_shape` and `memref.expand_shape`.
func.func @not_a_collapse(%m: memref<4xf32>) {
  // expected-error@+1 {{'memref.collapse_shape' op has source rank 1 and result rank 2. This is not a collapse (1 < 2).}}
  %0 = memref.collapse_shape %m [[0]] : memref<4xf32> into memref<4x1xf32>
  return
}

// -----

func.func @not_an_expansion(%m: memref<4x1xf32>) {
  // expected-error@+1 {{'memref.expand_shape' op has source rank 2 and result rank 1. This is not an expansion (2 > 1).}}
  %0 = memref.expand_shape %m [[0]] output_shape [4] : memref<4x1xf32> into memref<4xf32>
  return
}

// -----

func.func @groups(%m: memref<4x5xf32>) {
  // expected-error@+1 {{'memref.collapse_shape' op invalid number of reassociation groups: found 2, expected 1}}
  %0 = memref.collapse_shape %m [[0], [1]] : memref<4x5xf32> into memref<20xf32>
  return
}

// -----

func.func @empty_group(%m: memref<4x5xf32>) {
  // expected-error@+1 {{'memref.collapse_shape' op reassociation indices must not be empty}}
  %0 = memref.collapse_shape %m [[0, 1], []] : memref<4x5xf32> into memref<20x1xf32>
  return
}

// -----

func.func @order(%m: memref<?x?xf32>) {
  // expected-error@+1 {{'memref.collapse_shape' op reassociation indices must be contiguous}}
  %0 = memref.collapse_shape %m [[1], [0]] : memref<?x?xf32> into memref<?x?xf32>
  return
}

// -----

func.func @bounds(%m: memref<?x?xf32>) {
  // expected-error@+1 {{'memref.collapse_shape' op reassociation index 2 is out of bounds}}
  %0 = memref.collapse_shape %m [[0, 1, 2]] : memref<?x?xf32> into memref<?xf32>
  return
}

// -----

func.func @dynamic(%m: memref<4x?xf32>) {
  // expected-error@+1 {{'memref.collapse_shape' op collapsed dim (0) must be dynamic if and only if reassociation group is dynamic}}
  %0 = memref.collapse_shape %m [[0, 1]] : memref<4x?xf32> into memref<20xf32>
  return
}

// -----

func.func @static(%m: memref<4x5xf32>) {
  // expected-error@+1 {{'memref.collapse_shape' op collapsed dim (0) must be dynamic if and only if reassociation group is dynamic}}
  %0 = memref.collapse_shape %m [[0, 1]] : memref<4x5xf32> into memref<?xf32>
  return
}

// -----

func.func @product(%m: memref<4x5xf32>) {
  // expected-error@+1 {{'memref.collapse_shape' op collapsed dim size (21) must equal reassociation group size (20)}}
  %0 = memref.collapse_shape %m [[0, 1]] : memref<4x5xf32> into memref<21xf32>
  return
}

// -----

func.func @ones(%m: memref<1x2xf32>) {
  // expected-error@+1 {{'memref.collapse_shape' op rank 0 memrefs can only be extended/collapsed with/from ones}}
  %0 = memref.collapse_shape %m [] : memref<1x2xf32> into memref<f32>
  return
}

// -----

func.func @missing_dims(%m: memref<4x5x6xf32>) {
  // expected-error@+1 {{'memref.collapse_shape' op expanded rank (3) inconsistent with number of reassociation indices (2)}}
  %0 = memref.collapse_shape %m [[0, 1]] : memref<4x5x6xf32> into memref<20xf32>
  return
}

// -----

func.func @gaps(%m: memref<4x5xf32, strided<[8, 1]>>) {
  // expected-error@+1 {{'memref.collapse_shape' op invalid source layout map or collapsing non-contiguous dims}}
  %0 = memref.collapse_shape %m [[0, 1]] : memref<4x5xf32, strided<[8, 1]>> into memref<20xf32>
  return
}

// -----

func.func @collapsed_type(%m: memref<4x5xf32, strided<[10, 2]>>) {
  // expected-error@+1 {{'memref.collapse_shape' op expected collapsed type to be 'memref<20xf32, strided<[2]>>' but found 'memref<20xf32>'}}
  %0 = memref.collapse_shape %m [[0, 1]] : memref<4x5xf32, strided<[10, 2]>> into memref<20xf32>
  return
}

// -----

func.func @expanded_type(%m: memref<20xf32, strided<[2]>>) {
  // expected-error@+1 {{'memref.expand_shape' op expected expanded type to be 'memref<4x5xf32, strided<[10, 2]>>' but found 'memref<4x5xf32>'}}
  %0 = memref.expand_shape %m [[0, 1]] output_shape [4, 5] : memref<20xf32, strided<[2]>> into memref<4x5xf32>
  return
}

// -----

func.func @bounds_count(%m: memref<20xf32>) {
  // expected-error@+1 {{'memref.expand_shape' op expected number of static shape bounds to be equal to the output rank (2) but found 1 inputs instead}}
  %0 = memref.expand_shape %m [[0, 1]] output_shape [4] : memref<20xf32> into memref<4x5xf32>
  return
}

// -----

func.func @bounds_operands(%m: memref<?xf32>, %n: index) {
  // expected-error@+1 {{'memref.expand_shape' op mismatch in dynamic dims in output_shape and static_output_shape: static_output_shape has 0 dynamic dims while output_shape has 1 values}}
  %0 = "memref.expand_shape"(%m, %n) <{reassociation = [[0, 1]], static_output_shape = array<i64: 4, 5>}> : (memref<?xf32>, index) -> memref<?x5xf32>
  return
}

// -----

func.func @bounds_value(%m: memref<20xf32>) {
  // expected-error@+1 {{'memref.expand_shape' op invalid output shape provided at pos 1}}
  %0 = memref.expand_shape %m [[0, 1]] output_shape [4, 6] : memref<20xf32> into memref<4x5xf32>
  return
}

// -----

func.func @kind(%m: memref<20xf32>) {
  // expected-error@+1 {{'memref.collapse_shape' op attribute 'reassociation' failed to satisfy constraint: Array of 64-bit integer array attributes}}
  %0 = "memref.collapse_shape"(%m) <{reassociation = [0, 1]}> : (memref<20xf32>) -> memref<20xf32>
  return
}
