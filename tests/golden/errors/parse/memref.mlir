// RUN: gradus opt %s

func.func @prefetch(%m: memref<4xf32>, %i: index) {
  // expected-error@+1 {{rw specifier has to be 'read' or 'write'}}
  memref.prefetch %m[%i], look, locality<1>, data : memref<4xf32>
  return
}

// -----

func.func @cache(%m: memref<4xf32>, %i: index) {
  // expected-error@+1 {{cache type has to be 'data' or 'instr'}}
  memref.prefetch %m[%i], read, locality<1>, code : memref<4xf32>
  return
}

// -----

func.func @entry(%m: memref<4xf32>) {
  // expected-error@+1 {{expected SSA value or integer}}
  %0 = memref.subview %m[a] [1] [1] : memref<4xf32> to memref<1xf32>
  return
}

// -----

// expected-error@+1 {{inferred shape of elements literal ([2]) does not match type ([4])}}
memref.global @g : memref<4xf32> = dense<[1.0, 2.0]>

// -----

func.func @elements() {
  // expected-error@+1 {{cannot name an operation with no results}}
  %0 = memref.global @g : memref<4xf32>
  return
}

// -----

func.func @permutation(%m: memref<4x4xf32>) {
  // expected-error@+1 {{use of undeclared identifier}}
  %0 = memref.transpose %m (i, j) -> (k, i) : memref<4x4xf32> to memref<4x4xf32>
  return
}

// -----

func.func @no_permutation(%m: memref<4x4xf32>) {
  // expected-error@+1 {{expected a bracket}}
  %0 = memref.transpose %m, (i, j) -> (j, i) : memref<4x4xf32> to memref<4x4xf32, strided<[1, 4]>>
  return
}

// -----

func.func @open_permutation(%m: memref<4x4xf32>) {
  // expected-error@+1 {{this bracket is never closed}}
  %0 = memref.transpose %m (i, j -> (j, i) : memref<4x4xf32> to memref<4x4xf32, strided<[1, 4]>>
  return
}

// -----

func.func @words(%m: memref<4xf32>, %i: index, %v: f32) {
  // expected-error@+1 {{for attribute 'kind' [addf, addi, andi, assign}}
  %0 = memref.atomic_rmw plus %v, %m[%i] : (f32, memref<4xf32>) -> f32
  return
}
