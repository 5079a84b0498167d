// RUN: gradus opt %s

// `memref.subview`.
func.func @offset_count(%m: memref<8x8xf32>) {
  // expected-error@+1 {{'memref.subview' op expected mixed offsets rank to match mixed sizes rank (1 vs 2) so the rank of the result type is well-formed.}}
  %0 = memref.subview %m[0] [1, 1] [1, 1] : memref<8x8xf32> to memref<1x1xf32, strided<[8, 1]>>
  return
}

// -----

func.func @stride_count(%m: memref<8x8xf32>) {
  // expected-error@+1 {{'memref.subview' op expected mixed sizes rank to match mixed strides rank (2 vs 1) so the rank of the result type is well-formed.}}
  %0 = memref.subview %m[0, 0] [1, 1] [1] : memref<8x8xf32> to memref<1x1xf32, strided<[8, 1]>>
  return
}

// -----

func.func @rank_count(%m: memref<8x8xf32>) {
  // expected-error@+1 {{'memref.subview' op expected 2 offset values, got 1}}
  %0 = memref.subview %m[0] [1] [1] : memref<8x8xf32> to memref<1xf32, strided<[8]>>
  return
}

// -----

func.func @operands(%m: memref<8xf32>, %n: index) {
  // expected-error@+1 {{'memref.subview' op expected the number of 'sizes' to match the number of dynamic entries in 'static_sizes' (1 vs 0)}}
  %0 = "memref.subview"(%m, %n) <{operandSegmentSizes = array<i32: 1, 0, 1, 0>, static_offsets = array<i64: 0>, static_sizes = array<i64: 1>, static_strides = array<i64: 1>}> : (memref<8xf32>, index) -> memref<1xf32>
  return
}

// -----

func.func @negative_offset(%m: memref<8xf32>) {
  // expected-error@+1 {{'memref.subview' op expected offsets to be non-negative, but got -1}}
  %0 = memref.subview %m[-1] [2] [1] : memref<8xf32> to memref<2xf32, strided<[1], offset: -1>>
  return
}

// -----

func.func @negative_size(%m: memref<8xf32>) {
  // expected-error@+1 {{'memref.subview' op expected sizes to be non-negative, but got -2}}
  %0 = memref.subview %m[0] [-2] [1] : memref<8xf32> to memref<?xf32>
  return
}

// -----

func.func @space(%m: memref<8xf32>) {
  // expected-error@+1 {{'memref.subview' op different memory spaces specified for base memref type 'memref<8xf32>' and subview memref type 'memref<2xf32, strided<[1]>, 1>'}}
  %0 = memref.subview %m[0] [2] [1] : memref<8xf32> to memref<2xf32, strided<[1]>, 1>
  return
}

// -----

func.func @not_strided(%m: memref<8xf32, affine_map<(d0) -> (d0 mod 2)>>) {
  // expected-error@+1 {{'memref.subview' op base type 'memref<8xf32, affine_map<(d0) -> (d0 mod 2)>>' is not strided}}
  %0 = memref.subview %m[0] [2] [1] : memref<8xf32, affine_map<(d0) -> (d0 mod 2)>> to memref<2xf32>
  return
}

// -----

func.func @rank(%m: memref<8xf32>) {
  // expected-error@+1 {{'memref.subview' op expected result rank to be smaller or equal to the source rank, but got 'memref<2x1xf32>'}}
  %0 = memref.subview %m[0] [2] [1] : memref<8xf32> to memref<2x1xf32>
  return
}

// -----

func.func @sizes(%m: memref<8xf32>) {
  // expected-error@+1 {{'memref.subview' op expected result type to be 'memref<2xf32, strided<[1]>>' or a rank-reduced version. (mismatch of result sizes), but got 'memref<3xf32, strided<[1]>>'}}
  %0 = memref.subview %m[0] [2] [1] : memref<8xf32> to memref<3xf32, strided<[1]>>
  return
}

// -----

func.func @element(%m: memref<8xf32>) {
  // expected-error@+1 {{'memref.subview' op expected result element type to be 'f32', but got 'memref<2xi32, strided<[1]>>'}}
  %0 = memref.subview %m[0] [2] [1] : memref<8xf32> to memref<2xi32, strided<[1]>>
  return
}

// -----

func.func @offset(%m: memref<8xf32>) {
  // expected-error@+1 {{'memref.subview' op expected result type to be 'memref<2xf32, strided<[1], offset: 1>>' or a rank-reduced version. (mismatch of result layout), but got 'memref<2xf32, strided<[1]>>'}}
  %0 = memref.subview %m[1] [2] [1] : memref<8xf32> to memref<2xf32, strided<[1]>>
  return
}

// -----

func.func @strides(%m: memref<8xf32>) {
  // expected-error@+1 {{'memref.subview' op expected result type to be 'memref<2xf32, strided<[2]>>' or a rank-reduced version. (mismatch of result layout), but got 'memref<2xf32, strided<[1]>>'}}
  %0 = memref.subview %m[0] [2] [2] : memref<8xf32> to memref<2xf32, strided<[1]>>
  return
}

// -----

func.func @reduced_strides(%m: memref<7x22x333x4444xi32>) {
  // expected-error@+1 {{'memref.subview' op expected result type to be 'memref<7x11x1x4444xi32, strided<[32556744, 2959704, 4444, 1]>>' or a rank-reduced version. (mismatch of result layout), but got 'memref<7x11x4444xi32>'}}
  %0 = memref.subview %m[0, 0, 0, 0] [7, 11, 1, 4444] [1, 2, 1, 1] : memref<7x22x333x4444xi32> to memref<7x11x4444xi32>
  return
}

// -----

func.func @which(%m: memref<4x8x16xf32>) {
  // expected-error@+1 {{'memref.subview' op expected result type to be 'memref<1x1x16xf32, strided<[128, 16, 1]>>' or a rank-reduced version. (mismatch of result layout), but got 'memref<1x16xf32, strided<[5, 1]>>'}}
  %0 = memref.subview %m[0, 0, 0] [1, 1, 16] [1, 1, 1] : memref<4x8x16xf32> to memref<1x16xf32, strided<[5, 1]>>
  return
}

// -----

func.func @begins_outside(%m: memref<8xf32>) {
  // expected-error@+1 {{'memref.subview' op offset 0 is out-of-bounds: 8 >= 8}}
  %0 = memref.subview %m[8] [1] [1] : memref<8xf32> to memref<1xf32, strided<[1], offset: 8>>
  return
}

// -----

func.func @ends_outside(%m: memref<4x8xf32>) {
  // expected-error@+1 {{'memref.subview' op slice along dimension 1 runs out-of-bounds: 8 >= 8}}
  %0 = memref.subview %m[0, 2] [4, 4] [1, 2] : memref<4x8xf32> to memref<4x4xf32, strided<[8, 2], offset: 2>>
  return
}
