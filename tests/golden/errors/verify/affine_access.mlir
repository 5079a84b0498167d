// RUN: gradus opt %s --split-input-file --verify-diagnostics

// `affine.load`, `affine.store` and their vector forms.
func.func @no_subscripts(%m: memref<4xf32>) {
  // expected-error@+1 {{expected '[' in affine map}}
  %0 = affine.load %m : memref<4xf32>
  return
}

// -----

func.func @rank(%m: memref<4xf32>, %i: index) {
  // expected-error@+1 {{affine map num results must equal memref rank}}
  %0 = affine.load %m[%i, %i] : memref<4xf32>
  return
}

// -----

func.func @store_rank(%m: memref<4x4xf32>, %i: index, %x: f32) {
  // expected-error@+1 {{affine map num results must equal memref rank}}
  affine.store %x, %m[%i] : memref<4x4xf32>
  return
}

// -----

func.func @no_memref(%m: tensor<4xf32>, %i: index) {
  // expected-error@+1 {{custom op 'affine.load' invalid kind of type specified: expected builtin.memref, but found 'tensor<4xf32>'}}
  %0 = affine.load %m[%i] : tensor<4xf32>
  return
}

// -----

func.func @inputs(%m: memref<4xf32>, %i: index) {
  // expected-error@+1 {{expects as many subscripts as affine map inputs}}
  %0 = "affine.load"(%m, %i) <{map = affine_map<(d0, d1) -> (d0)>}> : (memref<4xf32>, index) -> f32
  return
}

// -----

func.func @result(%m: memref<4xf32>, %i: index) {
  // expected-error@+1 {{result type must match element type of memref}}
  %0 = "affine.load"(%m, %i) <{map = affine_map<(d0) -> (d0)>}> : (memref<4xf32>, index) -> f64
  return
}

// -----

func.func @value(%m: memref<4xf32>, %i: index, %x: f64) {
  // expected-error@+1 {{value to store must have the same type as memref element type}}
  "affine.store"(%x, %m, %i) <{map = affine_map<(d0) -> (d0)>}> : (f64, memref<4xf32>, index) -> ()
  return
}

// -----

func.func @store_inputs(%m: memref<4xf32>, %i: index, %x: f32) {
  // expected-error@+1 {{expects as many subscripts as affine map inputs}}
  "affine.store"(%x, %m) <{map = affine_map<(d0) -> (d0)>}> : (f32, memref<4xf32>) -> ()
  return
}

// -----

func.func @load_not_dim(%m: memref<4xindex>) {
  affine.for %i = 0 to 4 {
    %j = affine.load %m[%i] : memref<4xindex>
    // expected-error@+1 {{operand cannot be used as a dimension id}}
    %0 = affine.load %m[%j] : memref<4xindex>
  }
  return
}

// -----

func.func @store_not_dim(%m: memref<4xindex>) {
  affine.for %i = 0 to 4 {
    %j = affine.load %m[%i] : memref<4xindex>
    // expected-error@+1 {{operand cannot be used as a dimension id}}
    affine.store %j, %m[%j + 1] : memref<4xindex>
  }
  return
}

// -----

func.func @load_not_symbol(%m: memref<4xindex>) {
  affine.for %i = 0 to 4 {
    // expected-error@+1 {{operand cannot be used as a symbol}}
    %0 = affine.load %m[symbol(%i)] : memref<4xindex>
  }
  return
}

// -----

func.func @product(%m: memref<4xindex>, %i: index, %j: index) {
  // expected-error@+1 {{non-affine expression: at least one of the multiply operands has to be either a constant or symbolic}}
  %0 = affine.load %m[%i * %j] : memref<4xindex>
  return
}

// -----

func.func @quotient(%m: memref<4xindex>, %i: index, %j: index) {
  // expected-error@+1 {{non-affine expression: right operand of floordiv has to be either a constant or symbolic}}
  %0 = affine.load %m[%i floordiv %j] : memref<4xindex>
  return
}

// -----

func.func @rounded_up(%m: memref<4xindex>, %i: index, %j: index) {
  // expected-error@+1 {{non-affine expression: right operand of ceildiv has to be either a constant or symbolic}}
  %0 = affine.load %m[%i ceildiv %j] : memref<4xindex>
  return
}

// -----

func.func @remainder(%m: memref<4xindex>, %i: index, %j: index) {
  // expected-error@+1 {{non-affine expression: right operand of mod has to be either a constant or symbolic}}
  %0 = affine.load %m[%i mod %j] : memref<4xindex>
  return
}

// -----

func.func @nothing(%m: memref<4xindex>, %i: index) {
  // expected-error@+1 {{missing right operand of binary operator}}
  %0 = affine.load %m[%i + ] : memref<4xindex>
  return
}

// -----

func.func @elements(%m: memref<4xf32>, %i: index) {
  // expected-error@+1 {{requires memref and vector types of the same elemental type}}
  %0 = affine.vector_load %m[%i] : memref<4xf32>, vector<2xf64>
  return
}

// -----

func.func @stored_elements(%m: memref<4xf32>, %i: index, %v: vector<2xf64>) {
  // expected-error@+1 {{requires memref and vector types of the same elemental type}}
  affine.vector_store %v, %m[%i] : memref<4xf32>, vector<2xf64>
  return
}

// -----

func.func @vector_rank(%m: memref<4xf32>, %i: index) {
  // expected-error@+1 {{affine map num results must equal memref rank}}
  %0 = affine.vector_load %m[%i, %i] : memref<4xf32>, vector<2xf32>
  return
}

// -----

func.func @vector_store_not_dim(%m: memref<4xindex>, %v: vector<2xindex>) {
  affine.for %i = 0 to 4 {
    %j = affine.load %m[%i] : memref<4xindex>
    // expected-error@+1 {{operand cannot be used as a dimension id}}
    affine.vector_store %v, %m[%j] : memref<4xindex>, vector<2xindex>
  }
  return
}

// -----

func.func @prefetch_word(%m: memref<4xf32>, %i: index) {
  // expected-error@+1 {{custom op 'affine.prefetch' rw specifier has to be 'read' or 'write'}}
  affine.prefetch %m[%i], look, locality<3>, data : memref<4xf32>
  return
}

// -----

func.func @prefetch_cache(%m: memref<4xf32>, %i: index) {
  // expected-error@+1 {{custom op 'affine.prefetch' cache type has to be 'data' or 'instr'}}
  affine.prefetch %m[%i], read, locality<3>, instructions : memref<4xf32>
  return
}

// -----

func.func @prefetch_locality(%m: memref<4xf32>, %i: index) {
  // expected-error@+1 {{attribute 'localityHint' failed to satisfy constraint: 32-bit signless integer attribute whose minimum value is 0 whose maximum value is 3}}
  affine.prefetch %m[%i], read, locality<4>, data : memref<4xf32>
  return
}

// -----

func.func @prefetch_rank(%m: memref<4xf32>, %i: index) {
  // expected-error@+1 {{affine.prefetch affine map num results must equal memref rank}}
  affine.prefetch %m[%i, %i], read, locality<3>, data : memref<4xf32>
  return
}

// -----

func.func @prefetch_inputs(%m: memref<4xf32>, %i: index) {
  // expected-error@+1 {{expects as many subscripts as affine map inputs}}
  "affine.prefetch"(%m) <{isDataCache = true, isWrite = false, localityHint = 3 : i32, map = affine_map<(d0) -> (d0)>}> : (memref<4xf32>) -> ()
  return
}
