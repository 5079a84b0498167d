// RUN: gradus opt %s --split-input-file --verify-diagnostics

// Syntax and verification of `affine.for`.
func.func @no_to() {
  // expected-error@+1 {{custom op 'affine.for' expected 'to' between bounds}}
  affine.for %i = 0 5 {
  }
  return
}

// -----

func.func @step_missing() {
  // expected-error@+1 {{expected attribute value}}
  affine.for %i = 0 to 5 step {
  }
  return
}

// -----

func.func @step_negative() {
  // expected-error@+1 {{custom op 'affine.for' expected step to be representable as a positive signed integer}}
  affine.for %i = 0 to 5 step -1 {
  }
  return
}

// -----

func.func @carried(%x: f32) {
  // expected-error@+1 {{custom op 'affine.for' mismatch between the number of loop-carried values and results}}
  %0 = affine.for %i = 0 to 5 iter_args(%a = %x, %b = %x) -> (f32) {
    affine.yield %a : f32
  }
  return
}

// -----

func.func @two_operands(%n: index, %m: index) {
  // expected-error@+1 {{custom op 'affine.for' expected only one loop bound operand}}
  affine.for %i = %n, %m to 5 {
  }
  return
}

// -----

func.func @no_map() {
  // expected-error@+1 {{custom op 'affine.for' expected valid affine map representation for loop bounds}}
  affine.for %i = "bound" to 5 {
  }
  return
}

// -----

func.func @dims(%n: index) {
  // expected-error@+1 {{custom op 'affine.for' dim operand count and affine map dim count must match}}
  affine.for %i = affine_map<(d0) -> (d0)>(%n, %n) to 5 {
  }
  return
}

// -----

func.func @symbols(%n: index) {
  // expected-error@+1 {{custom op 'affine.for' symbol operand count and affine map symbol count must match}}
  affine.for %i = affine_map<()[s0] -> (s0)>() to 5 {
  }
  return
}

// -----

func.func @max(%n: index) {
  // expected-error@+1 {{custom op 'affine.for' lower loop bound affine map with multiple results requires 'max' prefix}}
  affine.for %i = affine_map<()[s0] -> (s0, 0)>()[%n] to 5 {
  }
  return
}

// -----

func.func @min(%n: index) {
  // expected-error@+1 {{custom op 'affine.for' upper loop bound affine map with multiple results requires 'min' prefix}}
  affine.for %i = 0 to affine_map<()[s0] -> (s0, 0)>()[%n] {
  }
  return
}

// -----

func.func @no_lower_bounds() {
  // expected-error@+1 {{expected lower bound map to have at least one result}}
  affine.for %i = max affine_map<() -> ()>() to 5 {
  }
  return
}

// -----

func.func @no_upper_bounds() {
  // expected-error@+1 {{expected upper bound map to have at least one result}}
  affine.for %i = 0 to min affine_map<() -> ()>() {
  }
  return
}

// -----

func.func @not_dim(%m: memref<?xindex>, %j: index) {
  %c0 = arith.constant 0 : index
  affine.for %i = 0 to 5 {
    %n = affine.load %m[%i] : memref<?xindex>
    // expected-error@+1 {{operand cannot be used as a dimension id}}
    affine.for %k = 0 to affine_map<(d0) -> (d0)>(%n) {
    }
  }
  return
}

// -----

func.func @not_symbol() {
  affine.for %i = 0 to 5 {
    // expected-error@+1 {{operand cannot be used as a symbol}}
    affine.for %k = 0 to %i {
    }
  }
  return
}

// -----

func.func @no_argument() {
  // expected-error@+1 {{expected body to have a single index argument for the induction variable}}
  "affine.for"() <{lowerBoundMap = affine_map<() -> (0)>, operandSegmentSizes = array<i32: 0, 0, 0>, step = 1 : index, upperBoundMap = affine_map<() -> (10)>}> ({
    "affine.yield"() : () -> ()
  }) : () -> ()
  return
}

// -----

func.func @argument_type() {
  // expected-error@+1 {{expected body to have a single index argument for the induction variable}}
  "affine.for"() <{lowerBoundMap = affine_map<() -> (0)>, operandSegmentSizes = array<i32: 0, 0, 0>, step = 1 : index, upperBoundMap = affine_map<() -> (10)>}> ({
  ^bb0(%i: i32):
    "affine.yield"() : () -> ()
  }) : () -> ()
  return
}

// -----

func.func @operands(%n: index) {
  "affine.for"(%n) <{lowerBoundMap = affine_map<() -> (0)>, operandSegmentSizes = array<i32: 1, 0, 0>, step = 1 : index, upperBoundMap = affine_map<() -> (10)>}> ({
  ^bb0(%i: index):
    "affine.yield"() : () -> ()
  // expected-error@+1 {{expected 1 operand types but had 0}}
  }) : () -> ()
  return
}

// -----

func.func @results(%x: f32) {
  // expected-error@+1 {{mismatch between the number of loop-carried values and results}}
  %0 = "affine.for"() <{lowerBoundMap = affine_map<() -> (0)>, operandSegmentSizes = array<i32: 0, 0, 0>, step = 1 : index, upperBoundMap = affine_map<() -> (10)>}> ({
  ^bb0(%i: index):
    "affine.yield"(%x) : (f32) -> ()
  }) : () -> f32
  return
}

// -----

func.func @step_type() {
  // expected-error@+1 {{attribute 'step' failed to satisfy constraint: index attribute}}
  "affine.for"() <{lowerBoundMap = affine_map<() -> (0)>, operandSegmentSizes = array<i32: 0, 0, 0>, step = 1 : i32, upperBoundMap = affine_map<() -> (10)>}> ({
  ^bb0(%i: index):
    "affine.yield"() : () -> ()
  }) : () -> ()
  return
}

// -----

func.func @arguments(%x: f32) {
  // expected-error@+1 {{different number of inits and region iter_args: 1 != 0}}
  %0 = "affine.for"(%x) <{lowerBoundMap = affine_map<() -> (0)>, operandSegmentSizes = array<i32: 0, 0, 1>, step = 1 : index, upperBoundMap = affine_map<() -> (10)>}> ({
  ^bb0(%i: index):
    "affine.yield"(%x) : (f32) -> ()
  }) : (f32) -> f32
  return
}

// -----

func.func @argument_types(%x: f32) {
  // expected-error@+1 {{0-th init and 0-th region iter_arg have different type: 'f32' != 'f64'}}
  %0 = "affine.for"(%x) <{lowerBoundMap = affine_map<() -> (0)>, operandSegmentSizes = array<i32: 0, 0, 1>, step = 1 : index, upperBoundMap = affine_map<() -> (10)>}> ({
  ^bb0(%i: index, %a: f64):
    "affine.yield"(%x) : (f32) -> ()
  }) : (f32) -> f32
  return
}

// -----

func.func @yields_nothing(%x: f32) {
  %0 = affine.for %i = 0 to 10 iter_args(%a = %x) -> (f32) {
    // expected-error@+1 {{parent of yield must have same number of results as the yield operands}}
    "affine.yield"() : () -> ()
  }
  return
}

// -----

func.func @yields_another(%x: f32, %y: f64) {
  %0 = affine.for %i = 0 to 10 iter_args(%a = %x) -> (f32) {
    // expected-error@+1 {{types mismatch between yield op and its parent}}
    affine.yield %y : f64
  }
  return
}

// -----

func.func @yield_alone(%x: f32, %c: i1) {
  scf.if %c {
    // expected-error@+1 {{only terminates affine.if/for/parallel regions}}
    "affine.yield"() : () -> ()
  }
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{'affine.for' op expected step to be representable as a positive signed integer}}
  "affine.for"() <{lowerBoundMap = affine_map<() -> (0)>, operandSegmentSizes = array<i32: 0, 0, 0>, step = -3 : index, upperBoundMap = affine_map<() -> (14)>}> ({
  ^bb0(%i: index):
    affine.yield
  }) : () -> ()
  return
}
