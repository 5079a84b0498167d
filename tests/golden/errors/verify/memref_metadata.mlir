// RUN: gradus opt %s

// `memref.extract_strided_metadata`.
func.func @not_strided(%m: memref<4xf32, affine_map<(d0) -> (d0 mod 2)>>) {
  // expected-error@+1 {{'memref.extract_strided_metadata' op operand #0 must be strided memref of any type values, but got 'memref<4xf32, affine_map<(d0) -> (d0 mod 2)>>'}}
  %0:4 = memref.extract_strided_metadata %m : memref<4xf32, affine_map<(d0) -> (d0 mod 2)>> -> memref<f32>, index, index, index
  return
}

// -----

func.func @types(%m: memref<4xf32>) {
  // expected-error@+1 {{'memref.extract_strided_metadata' op result #3 must be variadic of index, but got 'i32'}}
  %0:4 = memref.extract_strided_metadata %m : memref<4xf32> -> memref<f32>, index, index, i32
  return
}

// -----

func.func @base(%m: memref<4xf32>) {
  // expected-error@+1 {{'memref.extract_strided_metadata' op result #0 must be strided memref of any type values of rank 0, but got 'memref<4xf32>'}}
  %0:4 = memref.extract_strided_metadata %m : memref<4xf32> -> memref<4xf32>, index, index, index
  return
}

// -----

func.func @sizes_and_strides(%m: memref<4xf32>) {
  // expected-error@+1 {{'memref.reinterpret_cast' op expected mixed sizes rank to match mixed strides rank (2 vs 1) so the rank of the result type is well-formed.}}
  %0 = memref.reinterpret_cast %m to offset: [0], sizes: [2, 2], strides: [1] : memref<4xf32> to memref<2x2xf32>
  return
}

// -----

func.func @ranks(%m: memref<4xf32>) {
  // expected-error@+1 {{'memref.reinterpret_cast' op expected 2 size values, got 1}}
  %0 = memref.reinterpret_cast %m to offset: [0], sizes: [2], strides: [1] : memref<4xf32> to memref<2x2xf32>
  return
}

// -----

func.func @offsets(%m: memref<4xf32>) {
  // expected-error@+1 {{'memref.reinterpret_cast' op expected mixed offsets rank to match mixed sizes rank (2 vs 1) so the rank of the result type is well-formed.}}
  %0 = memref.reinterpret_cast %m to offset: [0, 0], sizes: [2], strides: [1] : memref<4xf32> to memref<2xf32>
  return
}

// -----

func.func @space(%m: memref<4xf32>) {
  // expected-error@+1 {{'memref.reinterpret_cast' op different memory spaces specified for source type 'memref<4xf32>' and result memref type 'memref<2xf32, 1>'}}
  %0 = memref.reinterpret_cast %m to offset: [0], sizes: [2], strides: [1] : memref<4xf32> to memref<2xf32, 1>
  return
}

// -----

func.func @element(%m: memref<4xf32>) {
  // expected-error@+1 {{'memref.reinterpret_cast' op different element types specified for source type 'memref<4xf32>' and result memref type 'memref<2xi32>'}}
  %0 = memref.reinterpret_cast %m to offset: [0], sizes: [2], strides: [1] : memref<4xf32> to memref<2xi32>
  return
}

// -----

func.func @size(%m: memref<*xf32>, %n: index) {
  // expected-error@+1 {{'memref.reinterpret_cast' op expected result type with size = dynamic instead of 2 in dim = 0}}
  %0 = memref.reinterpret_cast %m to offset: [0], sizes: [%n], strides: [1] : memref<*xf32> to memref<2xf32>
  return
}

// -----

func.func @offset(%m: memref<*xf32>, %n: index) {
  // expected-error@+1 {{'memref.reinterpret_cast' op expected result type with offset = 1 instead of 0}}
  %0 = memref.reinterpret_cast %m to offset: [1], sizes: [2], strides: [1] : memref<*xf32> to memref<2xf32>
  return
}

// -----

func.func @stride(%m: memref<*xf32>, %n: index) {
  // expected-error@+1 {{'memref.reinterpret_cast' op expected result type with stride = dynamic instead of 1 in dim = 0}}
  %0 = memref.reinterpret_cast %m to offset: [0], sizes: [2], strides: [%n] : memref<*xf32> to memref<2xf32>
  return
}

// -----

func.func @result_layout(%m: memref<*xf32>) {
  // expected-error@+1 {{'memref.reinterpret_cast' op result #0 must be strided memref of any type values, but got 'memref<2xf32, affine_map<(d0) -> (d0 mod 2)>>'}}
  %0 = memref.reinterpret_cast %m to offset: [0], sizes: [2], strides: [1] : memref<*xf32> to memref<2xf32, affine_map<(d0) -> (d0 mod 2)>>
  return
}

// -----

func.func @negative_size(%m: memref<*xf32>) {
  // expected-error@+1 {{'memref.reinterpret_cast' op expected sizes to be non-negative, but got -2}}
  %0 = memref.reinterpret_cast %m to offset: [0], sizes: [-2], strides: [1] : memref<*xf32> to memref<?xf32>
  return
}
