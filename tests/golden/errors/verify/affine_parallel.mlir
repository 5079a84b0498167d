// RUN: gradus opt %s --split-input-file --verify-diagnostics

// Syntax and verification of `affine.parallel`.
func.func @word(%n: index) {
  // expected-error@+1 {{expected 'to'}}
  affine.parallel (%i) = (0) until (10) {
  }
  return
}

// -----

func.func @upper_count(%n: index) {
  // expected-error@+1 {{the number of region arguments (1) and the number of map groups for lower (1) and upper bound (2), and the number of steps (1) must all match}}
  affine.parallel (%i) = (0) to (10, 11) {
  }
  return
}

// -----

func.func @lower_count(%n: index) {
  // expected-error@+1 {{the number of region arguments (1) and the number of map groups for lower (2) and upper bound (1), and the number of steps (1) must all match}}
  affine.parallel (%i) = (0, 1) to (10) {
  }
  return
}

// -----

func.func @step_count(%n: index) {
  // expected-error@+1 {{the number of region arguments (1) and the number of map groups for lower (1) and upper bound (1), and the number of steps (2) must all match}}
  affine.parallel (%i) = (0) to (10) step (1, 2) {
  }
  return
}

// -----

func.func @kind(%x: f32) {
  // expected-error@+1 {{custom op 'affine.parallel' invalid reduction value: "xor"}}
  %0 = affine.parallel (%i) = (0) to (10) reduce ("xor") -> (f32) {
    affine.yield %x : f32
  }
  return
}

// -----

func.func @kind_count(%x: f32) {
  // expected-error@+1 {{a reduction must be specified for each output}}
  %0 = affine.parallel (%i) = (0) to (10) reduce ("addf", "mulf") -> (f32) {
    affine.yield %x : f32
  }
  return
}

// -----

func.func @kind_type(%x: i32) {
  // expected-error@+1 {{result type cannot match reduction attribute}}
  %0 = affine.parallel (%i) = (0) to (10) reduce ("addf") -> (i32) {
    affine.yield %x : i32
  }
  return
}

// -----

func.func @symbol() {
  affine.for %i = 0 to 4 {
    // expected-error@+1 {{operand cannot be used as a symbol}}
    affine.parallel (%j) = (0) to (symbol(%i)) {
    }
  }
  return
}

// -----

func.func @dim(%m: memref<4xindex>) {
  affine.for %i = 0 to 4 {
    %k = affine.load %m[%i] : memref<4xindex>
    // expected-error@+1 {{operand cannot be used as a dimension id}}
    affine.parallel (%j) = (0) to (%k) {
    }
  }
  return
}

// -----

func.func @groups() {
  // expected-error@+1 {{expected lower bounds map to have 2 results}}
  "affine.parallel"() <{lowerBoundsGroups = dense<2> : tensor<1xi32>, lowerBoundsMap = affine_map<() -> (0)>, reductions = [], steps = [1], upperBoundsGroups = dense<1> : tensor<1xi32>, upperBoundsMap = affine_map<() -> (10)>}> ({
  ^bb0(%i: index):
    "affine.yield"() : () -> ()
  }) : () -> ()
  return
}

// -----

func.func @operands(%n: index) {
  // expected-error@+1 {{operand count and affine map dimension and symbol count must match}}
  "affine.parallel"(%n) <{lowerBoundsGroups = dense<1> : tensor<1xi32>, lowerBoundsMap = affine_map<() -> (0)>, reductions = [], steps = [1], upperBoundsGroups = dense<1> : tensor<1xi32>, upperBoundsMap = affine_map<() -> (10)>}> ({
  ^bb0(%i: index):
    "affine.yield"() : () -> ()
  }) : (index) -> ()
  return
}

// -----

func.func @yields(%x: f32) {
  %0 = affine.parallel (%i) = (0) to (10) reduce ("addf") -> (f32) {
    // expected-error@+1 {{parent of yield must have same number of results as the yield operands}}
    affine.yield %x, %x : f32, f32
  }
  return
}

// -----

// As a constant step of scf.parallel, which it becomes.
func.func @step() {
  // expected-error@+1 {{expected each step to be positive, but found 0}}
  affine.parallel (%i, %j) = (0, 0) to (10, 10) step (1, 0) {
  }
  return
}

// -----

func.func @negative_step() {
  // expected-error@+1 {{expected each step to be positive, but found -2}}
  affine.parallel (%i) = (0) to (10) step (-2) {
  }
  return
}
