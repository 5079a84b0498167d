// RUN: gradus opt %s --split-input-file --verify-diagnostics

func.func @f(%a: tensor<4x16xf32>, %o: tensor<2xi32>, %v: tensor<3xf32>, %e: tensor<2xi32>) {
  // expected-error@+1 {{requires as many offsets as values}}
  %0 = addr.sparse_gemm %a[%o], %v rows %e : (tensor<4x16xf32>, tensor<2xi32>, tensor<3xf32>, tensor<2xi32>) -> tensor<2x16xf32>
  return
}

// -----

func.func @f(%a: tensor<4x16xf32>, %o: tensor<3xi32>, %v: tensor<3xf32>, %e: tensor<3xi32>) {
  // expected-error@+1 {{requires an end for each of 2 rows}}
  %0 = addr.sparse_gemm %a[%o], %v rows %e : (tensor<4x16xf32>, tensor<3xi32>, tensor<3xf32>, tensor<3xi32>) -> tensor<2x16xf32>
  return
}

// -----

func.func @f(%a: tensor<4x16xf32>, %o: tensor<3xi32>, %v: tensor<3xf64>, %e: tensor<2xi32>) {
  // expected-error@+1 {{requires elements of one type}}
  %0 = addr.sparse_gemm %a[%o], %v rows %e : (tensor<4x16xf32>, tensor<3xi32>, tensor<3xf64>, tensor<2xi32>) -> tensor<2x16xf32>
  return
}

// -----

func.func @f(%a: tensor<4x16xi32>, %o: tensor<3xi32>, %v: tensor<3xi32>, %e: tensor<2xi32>) {
  // expected-error@+1 {{requires floats}}
  %0 = addr.sparse_gemm %a[%o], %v rows %e : (tensor<4x16xi32>, tensor<3xi32>, tensor<3xi32>, tensor<2xi32>) -> tensor<2x16xi32>
  return
}

// -----

func.func @f(%a: tensor<?x16xf32>, %o: tensor<3xi32>, %v: tensor<3xf32>, %e: tensor<2xi32>) {
  // expected-error@+1 {{requires a buffer and a result of static shape}}
  %0 = addr.sparse_gemm %a[%o], %v rows %e : (tensor<?x16xf32>, tensor<3xi32>, tensor<3xf32>, tensor<2xi32>) -> tensor<2x16xf32>
  return
}

// -----

func.func @f(%a: tensor<4x16xf32>, %o: tensor<3xi32>, %v: tensor<3xf32>, %e: tensor<2xi32>, %b: tensor<3xf32>) {
  // expected-error@+1 {{requires 'bias' of type tensor<2xf32>}}
  %0 = addr.sparse_gemm %a[%o], %v rows %e bias %b : (tensor<4x16xf32>, tensor<3xi32>, tensor<3xf32>, tensor<2xi32>, tensor<3xf32>) -> tensor<2x16xf32>
  return
}

// -----

func.func @f(%a: tensor<4x16xf32>, %o: tensor<3xi32>, %v: tensor<3xf32>, %e: tensor<2xi32>) {
  // expected-error@+1 {{requires strips that divide 1 bands of 16 columns}}
  %0 = addr.sparse_gemm %a[%o], %v rows %e strips 3 pitch 4 : (tensor<4x16xf32>, tensor<3xi32>, tensor<3xf32>, tensor<2xi32>) -> tensor<2x16xf32>
  return
}

// -----

func.func @f(%a: tensor<4x16xf32>, %o: tensor<3xi32>, %v: tensor<3xf32>, %e: tensor<2xi32>) {
  // expected-error@+1 {{requires at most 1048576 strips that begin in its operand}}
  %0 = addr.sparse_gemm %a[%o], %v rows %e strips 2 pitch 65 : (tensor<4x16xf32>, tensor<3xi32>, tensor<3xf32>, tensor<2xi32>) -> tensor<2x16xf32>
  return
}
