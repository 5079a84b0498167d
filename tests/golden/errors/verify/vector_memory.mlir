// RUN: gradus opt %s

func.func @f(%m2: memref<?x?xf32>, %i: index) {
  // expected-error@+1 {{requires 2 indices}}
  %a = vector.load %m2[%i] : memref<?x?xf32>, vector<4xf32>
  return
}

// -----

func.func @f(%m: memref<?xf32>, %i: index) {
  // expected-error@+1 {{base and result element types should match}}
  %a = vector.load %m[%i] : memref<?xf32>, vector<4xi32>
  return
}

// -----

func.func @f(%m: memref<?xf32>, %i: index) {
  // expected-error@+1 {{destination memref has lower rank than the result vector}}
  %a = vector.load %m[%i] : memref<?xf32>, vector<2x4xf32>
  return
}

// -----

func.func @f(%i: index, %mt: memref<4x4xf32, affine_map<(d0,d1)->(d1,d0)>>) {
  // expected-error@+1 {{most minor memref dim must have unit stride}}
  %a = "vector.load"(%mt, %i, %i) : (memref<4x4xf32, affine_map<(d0,d1)->(d1,d0)>>, index, index) -> vector<4xf32>
  return
}

// -----

func.func @f(%i: index, %mv: memref<?xvector<4xf32>>) {
  // expected-error@+1 {{base memref and result vector types should match}}
  %a = "vector.load"(%mv, %i) : (memref<?xvector<4xf32>>, index) -> vector<2xf32>
  return
}

// -----

func.func @f(%m: memref<?xf32>, %i: index) {
  // expected-error@+1 {{attribute 'alignment' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive and whose value is a power of two > 0}}
  %a = "vector.load"(%m, %i) <{alignment = 3 : i64}> : (memref<?xf32>, index) -> vector<2xf32>
  return
}

// -----

func.func @f(%i: index, %v4: vector<4xf32>, %mt: memref<4x4xf32, affine_map<(d0,d1)->(d1,d0)>>) {
  // expected-error@+1 {{most minor memref dim must have unit stride}}
  "vector.store"(%v4, %mt, %i, %i) : (vector<4xf32>, memref<4x4xf32, affine_map<(d0,d1)->(d1,d0)>>, index, index) -> ()
  return
}

// -----

func.func @f(%m2: memref<?x?xf32>, %i: index, %v4: vector<4xf32>) {
  // expected-error@+1 {{requires 2 indices}}
  vector.store %v4, %m2[%i] : memref<?x?xf32>, vector<4xf32>
  return
}

// -----

func.func @f(%m: memref<?xf32>, %i: index, %vi: vector<4xi32>) {
  // expected-error@+1 {{base and valueToStore element type should match}}
  vector.store %vi, %m[%i] : memref<?xf32>, vector<4xi32>
  return
}

// -----

func.func @f(%m: memref<?xf32>, %i: index, %v24: vector<2x4xf32>) {
  // expected-error@+1 {{source memref has lower rank than the vector to store}}
  vector.store %v24, %m[%i] : memref<?xf32>, vector<2x4xf32>
  return
}

// -----

func.func @f(%i: index, %v2: vector<2xf32>, %mv: memref<?xvector<4xf32>>) {
  // expected-error@+1 {{base memref and valueToStore vector types should match}}
  "vector.store"(%v2, %mv, %i) : (vector<2xf32>, memref<?xvector<4xf32>>, index) -> ()
  return
}

// -----

func.func @f(%m: memref<?xf32>, %i: index, %v4: vector<4xf32>, %k: vector<4xi1>) {
  // expected-error@+1 {{base and result element type should match}}
  %a = vector.maskedload %m[%i], %k, %v4 : memref<?xf32>, vector<4xi1>, vector<4xf32> into vector<4xi32>
  return
}

// -----

func.func @f(%m: memref<?xf32>, %i: index, %v4: vector<4xf32>, %k: vector<4xi1>) {
  // expected-error@+1 {{requires 1 indices}}
  %a = vector.maskedload %m[%i,%i], %k, %v4 : memref<?xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  return
}

// -----

func.func @f(%m: memref<?xf32>, %i: index, %v2: vector<2xf32>, %k: vector<4xi1>) {
  // expected-error@+1 {{expected pass_thru of same type as result type}}
  %a = vector.maskedload %m[%i], %k, %v2 : memref<?xf32>, vector<4xi1>, vector<2xf32> into vector<4xf32>
  return
}

// -----

func.func @f(%m: memref<?xf32>, %i: index, %vi: vector<4xi32>, %k: vector<4xi1>) {
  // expected-error@+1 {{base and valueToStore element type should match}}
  vector.maskedstore %m[%i], %k, %vi : memref<?xf32>, vector<4xi1>, vector<4xi32>
  return
}

// -----

func.func @f(%m: memref<?xf32>, %i: index, %v4: vector<4xf32>, %k: vector<4xi1>) {
  // expected-error@+1 {{requires 1 indices}}
  vector.maskedstore %m[%i,%i], %k, %v4 : memref<?xf32>, vector<4xi1>, vector<4xf32>
  return
}

// -----

func.func @f(%m: memref<?xf32>, %i: index, %v2: vector<2xf32>, %k: vector<4xi1>) {
  // expected-error@+1 {{expected valueToStore shape to match mask shape}}
  vector.maskedstore %m[%i], %k, %v2 : memref<?xf32>, vector<4xi1>, vector<2xf32>
  return
}

// -----

func.func @f(%m: memref<?xf32>, %i: index, %v2: vector<2xf32>, %k: vector<4xi1>) {
  // expected-error@+1 {{expected result dim to match mask dim}}
  %a = vector.expandload %m[%i], %k, %v2 : memref<?xf32>, vector<4xi1>, vector<2xf32> into vector<2xf32>
  return
}

// -----

func.func @f(%m: memref<?xf32>, %i: index, %v4: vector<4xf32>, %k: vector<4xi1>) {
  // expected-error@+1 {{requires 1 indices}}
  %a = vector.expandload %m[%i,%i], %k, %v4 : memref<?xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  return
}

// -----

func.func @f(%m: memref<?xf32>, %i: index, %v2: vector<2xf32>, %k: vector<4xi1>) {
  // expected-error@+1 {{expected valueToStore dim to match mask dim}}
  vector.compressstore %m[%i], %k, %v2 : memref<?xf32>, vector<4xi1>, vector<2xf32>
  return
}

// -----

func.func @f(%m: memref<?xf32>, %i: index, %vi: vector<4xi32>, %k: vector<4xi1>) {
  // expected-error@+1 {{base and valueToStore element type should match}}
  vector.compressstore %m[%i], %k, %vi : memref<?xf32>, vector<4xi1>, vector<4xi32>
  return
}

// -----

func.func @f(%m: memref<?xf32>) {
  // expected-error@+1 {{operand #0 must be statically shaped memref of any type values, but got 'memref<?xf32>'}}
  %a = vector.type_cast %m : memref<?xf32> to memref<vector<4xf32>>
  return
}

// -----

func.func @f(%m44: memref<4x4xf32>) {
  // expected-error@+1 {{expects concatenated result and operand shapes to be equal: 'memref<vector<4xf32>>'}}
  %a = vector.type_cast %m44 : memref<4x4xf32> to memref<vector<4xf32>>
  return
}

// -----

func.func @f(%m44: memref<4x4xf32>) {
  // expected-error@+1 {{expects result in same memory space}}
  %a = vector.type_cast %m44 : memref<4x4xf32> to memref<vector<4x4xf32>, 3>
  return
}

// -----

func.func @f(%m44: memref<4x4xf32>) {
  // expected-error@+1 {{expects result and operand with same underlying scalar type: 'memref<vector<4x4xi32>>'}}
  %a = vector.type_cast %m44 : memref<4x4xf32> to memref<vector<4x4xi32>>
  return
}

// -----

func.func @f(%mt: memref<4x4xf32, affine_map<(d0,d1)->(d1,d0)>>) {
  // expected-error@+1 {{expects operand to be a memref with identity layout}}
  %a = vector.type_cast %mt : memref<4x4xf32, affine_map<(d0,d1)->(d1,d0)>> to memref<vector<4x4xf32>>
  return
}

// -----

func.func @f(%m44: memref<4x4xf32>) {
  // expected-error@+1 {{expects result to be a memref with identity layout}}
  %a = "vector.type_cast"(%m44) : (memref<4x4xf32>) -> memref<vector<4x4xf32>, strided<[], offset: 1>>
  return
}
