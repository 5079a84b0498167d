// RUN: gradus opt %s

func.func @f(%m: memref<?xf32>, %i: index, %z0: vector<f32>, %z0i: vector<i32>, %z0b: vector<i1>) {
  // expected-error@+1 {{operand #2 must be vector of integer or index values, but got 'vector<i32>'}}
  "vector.gather"(%m,%i,%z0i,%z0b,%z0) : (memref<?xf32>, index, vector<i32>, vector<i1>, vector<f32>) -> vector<f32>
  return
}

// -----

func.func @f(%m: memref<?xf32>, %i: index, %v4: vector<4xf32>, %vi: vector<4xi32>, %k: vector<4xi1>) {
  // expected-error@+1 {{base and result element type should match}}
  %a = vector.gather %m[%i][%vi], %k, %v4 : memref<?xf32>, vector<4xi32>, vector<4xi1>, vector<4xf32> into vector<4xi32>
  return
}

// -----

func.func @f(%m: memref<?xf32>, %i: index, %v4: vector<4xf32>, %vi: vector<4xi32>, %k: vector<4xi1>) {
  // expected-error@+1 {{requires 1 indices}}
  %a = vector.gather %m[%i,%i][%vi], %k, %v4 : memref<?xf32>, vector<4xi32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  return
}

// -----

func.func @f(%m: memref<?xf32>, %i: index, %v2: vector<2xf32>, %vi: vector<4xi32>, %k: vector<4xi1>) {
  // expected-error@+1 {{expected result dim to match indices dim}}
  %a = vector.gather %m[%i][%vi], %k, %v2 : memref<?xf32>, vector<4xi32>, vector<4xi1>, vector<2xf32> into vector<2xf32>
  return
}

// -----

func.func @f(%m: memref<?xf32>, %i: index, %v2: vector<2xf32>, %vi: vector<4xi32>, %k: vector<4xi1>) {
  // expected-error@+1 {{expected pass_thru of same type as result type}}
  %a = vector.gather %m[%i][%vi], %k, %v2 : memref<?xf32>, vector<4xi32>, vector<4xi1>, vector<2xf32> into vector<4xf32>
  return
}

// -----

func.func @f(%i: index, %v4: vector<4xf32>, %vi: vector<4xi32>, %k: vector<4xi1>, %ut: tensor<*xf32>) {
  // expected-error@+1 {{requires base to be a memref or ranked tensor type}}
  %a = vector.gather %ut[%i][%vi], %k, %v4 : tensor<*xf32>, vector<4xi32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  return
}

// -----

func.func @f(%m: memref<?xf32>, %i: index, %v2: vector<2xf32>, %vi: vector<4xi32>, %k: vector<4xi1>) {
  // expected-error@+1 {{expected valueToStore dim to match indices dim}}
  vector.scatter %m[%i][%vi], %k, %v2 : memref<?xf32>, vector<4xi32>, vector<4xi1>, vector<2xf32>
  return
}

// -----

func.func @f(%m: memref<?xf32>, %i: index, %v4: vector<4xf32>, %vi: vector<4xi32>, %k: vector<4xi1>) {
  // expected-error@+1 {{requires 1 indices}}
  vector.scatter %m[%i,%i][%vi], %k, %v4 : memref<?xf32>, vector<4xi32>, vector<4xi1>, vector<4xf32>
  return
}

// -----

func.func @f(%m: memref<?xf32>, %i: index, %vi: vector<4xi32>, %k: vector<4xi1>) {
  // expected-error@+1 {{base and valueToStore element type should match}}
  vector.scatter %m[%i][%vi], %k, %vi : memref<?xf32>, vector<4xi32>, vector<4xi1>, vector<4xi32>
  return
}

// -----

func.func @f(%m: memref<?xf32>, %i: index, %v2: vector<2xf32>, %vi: vector<4xi32>, %k: vector<4xi1>) {
  // expected-error@+1 {{expected result dim to match indices dim}}
  vector.gather %m[%i] [%vi], %k, %v2 : memref<?xf32>, vector<4xi32>, vector<4xi1>, vector<2xf32> into vector<2xf32>
  return
}

// -----

func.func @f(%m: memref<?xf32>, %i: index, %v4: vector<4xf32>, %vi: vector<4xi32>, %k2: vector<2x4xi1>) {
  // expected-error@+1 {{expected result dim to match mask dim}}
  %a = vector.gather %m[%i] [%vi], %k2, %v4 : memref<?xf32>, vector<4xi32>, vector<2x4xi1>, vector<4xf32> into vector<4xf32>
  return
}

// -----

func.func @f(%m: memref<?xf32>, %i: index, %v4: vector<4xf32>, %vi: vector<4xi32>, %k2: vector<2x4xi1>) {
  // expected-error@+1 {{expected valueToStore dim to match mask dim}}
  vector.scatter %m[%i] [%vi], %k2, %v4 : memref<?xf32>, vector<4xi32>, vector<2x4xi1>, vector<4xf32>
  return
}
