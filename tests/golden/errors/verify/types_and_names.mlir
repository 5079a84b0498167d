// RUN: gradus opt %s --split-input-file --verify-diagnostics

func.func @dims(%a: tensor<2xindex>) -> tensor<?xi64> {
  // expected-error@+1 {{failed to verify that input and output have the same tensor dimensions}}
  %0 = arith.index_cast %a : tensor<2xindex> to tensor<?xi64>
  return %0 : tensor<?xi64>
}

// -----

func.func @kinds(%a: vector<2xi32>) {
  // expected-error@+1 {{all non-scalar operands/results must have the same shape and base type}}
  %0, %1 = "arith.addui_extended"(%a, %a) : (vector<2xi32>, vector<2xi32>) -> (vector<2xi32>, tensor<2xi1>)
  return
}

// -----

func.func @undefined() {
  // expected-error@+1 {{reference to undefined function 'nowhere'}}
  %0 = func.constant @nowhere : () -> ()
  return
}

// -----

func.func private @callee(i32)

func.func @mistyped() {
  // expected-error@+1 {{reference to function with mismatched type}}
  %0 = func.constant @callee : () -> ()
  return
}

// -----

func.func @shared(%a: tensor<8xi32>, %b: tensor<8xi32>, %s: tensor<1xi32>) -> tensor<8xi32> {
  %r = scf.forall (%i) in (8) shared_outs(%o = %a) -> tensor<8xi32> {
    scf.forall.in_parallel {
      // expected-error@+1 {{may only insert into an output block argument}}
      tensor.parallel_insert_slice %s into %b[%i] [1] [1] : tensor<1xi32> into tensor<8xi32>
    }
  }
  return %r : tensor<8xi32>
}

// -----

// expected-error@+1 {{can only contain attributes with dialect-prefixed names, found: 'name'}}
module attributes {name = 1 : i32} {
}

// -----

// expected-error@+1 {{arguments may only have dialect attributes}}
func.func @argument(%a: i32 {name = 1 : i32}) {
  return
}

// -----

// expected-error@+1 {{results may only have dialect attributes}}
func.func @result(%a: i32) -> (i32 {name = 1 : i32}) {
  return %a : i32
}
