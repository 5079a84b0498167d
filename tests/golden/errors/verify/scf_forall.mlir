// RUN: gradus opt %s --allow-unregistered-dialect

func.func @f(%c: i1, %a: i32, %l: index) {
  scf.forall (%i) in (%l) {
     // expected-error@+1 {{'scf.forall.in_parallel' op expected only ParallelCombiningOpInterface ops}}
     scf.forall.in_parallel {
       %0 = arith.addi %a, %a : i32
     }
  }
  return
}

// -----

func.func @f(%l: index) {
  // expected-error@+1 {{'scf.forall' op region expects 2 arguments}}
  "scf.forall"(%l) <{operandSegmentSizes = array<i32: 0, 1, 0, 0>, staticLowerBound = array<i64: 0, 0>, staticStep = array<i64: 1>, staticUpperBound = array<i64: -9223372036854775808>}> ({
  ^bb0(%i: index):
    scf.forall.in_parallel {}
  }) : (index) -> ()
  return
}

// -----

func.func @f(%l: index) {
  // expected-error@+1 {{'scf.forall' op expected 0 dynamic upper bound values}}
  "scf.forall"(%l) <{operandSegmentSizes = array<i32: 0, 1, 0, 0>, staticLowerBound = array<i64: 0>, staticStep = array<i64: 1>, staticUpperBound = array<i64: 3>}> ({
  ^bb0(%i: index):
    scf.forall.in_parallel {}
  }) : (index) -> ()
  return
}

// -----

func.func @f(%l: index) {
  // expected-error@+1 {{'scf.forall' op expects 0-th block argument to be an index}}
  "scf.forall"(%l) <{operandSegmentSizes = array<i32: 0, 1, 0, 0>, staticLowerBound = array<i64: 0>, staticStep = array<i64: 1>, staticUpperBound = array<i64: -9223372036854775808>}> ({
  ^bb0(%i: i32):
    scf.forall.in_parallel {}
  }) : (index) -> ()
  return
}

// -----

func.func @f(%l: index) {
  // expected-error@+1 {{'scf.forall' op region expects 1 arguments}}
  "scf.forall"(%l) <{operandSegmentSizes = array<i32: 0, 1, 0, 0>, staticLowerBound = array<i64: 0>, staticStep = array<i64: 1>, staticUpperBound = array<i64: -9223372036854775808>}> ({
  ^bb0(%i: index, %j: index):
    scf.forall.in_parallel {}
  }) : (index) -> ()
  return
}

// -----

func.func @f(%l: index, %t: tensor<4xf32>) {
  // expected-error@+1 {{'scf.forall' op produces 0 results, but has only 1 outputs}}
  "scf.forall"(%l, %t) <{operandSegmentSizes = array<i32: 0, 1, 0, 1>, staticLowerBound = array<i64: 0>, staticStep = array<i64: 1>, staticUpperBound = array<i64: -9223372036854775808>}> ({
  ^bb0(%i: index, %j: tensor<4xf32>):
    scf.forall.in_parallel {}
  }) : (index, tensor<4xf32>) -> ()
  return
}

// -----

func.func @f(%l: index, %t: tensor<4xf32>) {
  // expected-error@+1 {{'scf.forall' op type mismatch between 0-th output and corresponding block argument}}
  "scf.forall"(%l, %t) <{operandSegmentSizes = array<i32: 0, 1, 0, 1>, staticLowerBound = array<i64: 0>, staticStep = array<i64: 1>, staticUpperBound = array<i64: -9223372036854775808>}> ({
  ^bb0(%i: index, %j: tensor<5xf32>):
    scf.forall.in_parallel {}
  }) : (index, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%l: index, %t: tensor<4xf32>) {
  // expected-error@+1 {{'scf.forall' op expected type of operand #1 ('tensor<4xf32>') to match type of corresponding result ('tensor<5xf32>')}}
  "scf.forall"(%l, %t) <{operandSegmentSizes = array<i32: 0, 1, 0, 1>, staticLowerBound = array<i64: 0>, staticStep = array<i64: 1>, staticUpperBound = array<i64: -9223372036854775808>}> ({
  ^bb0(%i: index, %j: tensor<4xf32>):
    scf.forall.in_parallel {}
  }) : (index, tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @f(%l: index, %t: f32) {
  // expected-error@+1 {{'scf.forall' op operand #1 must be variadic of ranked tensor of any type values, but got 'f32'}}
  "scf.forall"(%l, %t) <{operandSegmentSizes = array<i32: 0, 1, 0, 1>, staticLowerBound = array<i64: 0>, staticStep = array<i64: 1>, staticUpperBound = array<i64: -9223372036854775808>}> ({
  ^bb0(%i: index, %j: f32):
    scf.forall.in_parallel {}
  }) : (index, f32) -> f32
  return
}

// -----

func.func @f(%l: index, %t: tensor<4xf32>) {
  // expected-error@+1 {{'scf.forall' op mapping attribute size must match op rank}}
  scf.forall (%i, %j) in (3, 4) {
  } {mapping = [#gpu.thread<x>]}
  return
}

// -----

func.func @f(%l: index, %t: tensor<4xf32>) {
  // expected-error@+1 {{'scf.forall' op attribute 'mapping' failed to satisfy constraint: Device Mapping array attribute}}
  scf.forall (%i, %j) in (3, 4) {
  } {mapping = [4, 5]}
  return
}

// -----

func.func @f(%l: index, %t: tensor<4xf32>) {
  // expected-error@+1 {{'scf.forall' op expected 2 upper bound values, got 1}}
  scf.forall (%i, %j) in (3) {
  }
  return
}

// -----

func.func @f(%l: index, %t: tensor<4xf32>) {
  // expected-error@+1 {{'scf.forall' op expected 2 upper bound values, got 3}}
  scf.forall (%i, %j) in (3, 4, 5) {
  }
  return
}

// -----

func.func @f(%l: index, %t: tensor<4xf32>) {
  scf.forall (%i, %j) in (3, 4) {
   // expected-error@+1 {{'scf.yield' op expects parent op to be one of}}
   scf.yield
  }
  return
}

// -----

func.func @f(%l: index, %t: tensor<4xf32>) {
  // expected-error@+1 {{'scf.forall' op expected 2 step values, got 1}}
  scf.forall (%i, %j) = (3, 4) to (3, 4) step (1) {
  }
  return
}

// -----

func.func @f(%l: index, %t: tensor<4xf32>) {
  // expected-error@+1 {{number of operands and types do not match: got 1 operands and 2 types}}
  scf.forall (%i, %j) in (3, 4) shared_outs(%o = %t) -> (tensor<4xf32>, tensor<4xf32>) {
  }
  return
}

// -----

func.func @f(%l: index, %t: tensor<4xf32>) {
  // expected-error@+1 {{'scf.forall.in_parallel' op expects parent op 'scf.forall'}}
  scf.forall.in_parallel {
  }
}

// -----

func.func @f(%l: index, %t: tensor<4xf32>) {
  scf.forall (%i, %j) in (3, 4) shared_outs(%o = %t) -> (tensor<4xf32>) {
    // expected-error@+2 {{'scf.forall.in_parallel' op expects region #0 to have 0 or 1 blocks}}
    // expected-error@+1 {{empty block: expect at least a terminator}}
    scf.forall.in_parallel {
     ^bb0:
     ^bb1:
    }
  }
  return
}
