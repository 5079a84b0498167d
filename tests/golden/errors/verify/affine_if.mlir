// RUN: gradus opt %s --split-input-file --verify-diagnostics

// Syntax and verification of `affine.if`.
func.func @no_set() {
  // expected-error@+1 {{custom op 'affine.if' invalid kind of attribute specified}}
  affine.if affine_map<() -> (0)>() {
  }
  return
}

// -----

func.func @dims(%n: index) {
  // expected-error@+1 {{custom op 'affine.if' dim operand count and integer set dim count must match}}
  affine.if affine_set<(d0) : (d0 >= 0)>() {
  }
  return
}

// -----

func.func @symbols(%n: index) {
  // expected-error@+1 {{custom op 'affine.if' symbol operand count and integer set symbol count must match}}
  affine.if affine_set<()[s0] : (s0 >= 0)>() {
  }
  return
}

// -----

func.func @operands(%n: index) {
  // expected-error@+1 {{operand count and condition integer set dimension and symbol count must match}}
  "affine.if"(%n, %n) <{condition = affine_set<()[s0] : (s0 >= 0)>}> ({
    "affine.yield"() : () -> ()
  }, {
  }) : (index, index) -> ()
  return
}

// -----

func.func @condition_kind(%n: index) {
  // expected-error@+1 {{attribute 'condition' failed to satisfy constraint: IntegerSet attribute}}
  "affine.if"(%n) <{condition = affine_map<()[s0] -> (s0)>}> ({
    "affine.yield"() : () -> ()
  }, {
  }) : (index) -> ()
  return
}

// -----

func.func @no_then(%n: index) {
  // expected-error@+1 {{region #0 ('thenRegion') failed to verify constraint: region with 1 blocks}}
  "affine.if"(%n) <{condition = affine_set<()[s0] : (s0 >= 0)>}> ({
  }, {
  }) : (index) -> ()
  return
}

// -----

func.func @arguments(%n: index) {
  // expected-error@+1 {{region #0 should have no arguments}}
  "affine.if"(%n) <{condition = affine_set<()[s0] : (s0 >= 0)>}> ({
  ^bb0(%a: index):
    "affine.yield"() : () -> ()
  }, {
  }) : (index) -> ()
  return
}

// -----

func.func @else_arguments(%n: index) {
  // expected-error@+1 {{region #1 should have no arguments}}
  "affine.if"(%n) <{condition = affine_set<()[s0] : (s0 >= 0)>}> ({
    "affine.yield"() : () -> ()
  }, {
  ^bb0(%a: index):
    "affine.yield"() : () -> ()
  }) : (index) -> ()
  return
}

// -----

func.func @not_dim(%m: memref<?xindex>) {
  affine.for %i = 0 to 5 {
    %n = affine.load %m[%i] : memref<?xindex>
    // expected-error@+1 {{operand cannot be used as a dimension id}}
    affine.if affine_set<(d0) : (d0 >= 0)>(%n) {
    }
  }
  return
}

// -----

func.func @not_symbol() {
  affine.for %i = 0 to 5 {
    // expected-error@+1 {{operand cannot be used as a symbol}}
    affine.if affine_set<()[s0] : (s0 >= 0)>()[%i] {
    }
  }
  return
}

// -----

func.func @no_else(%n: index, %x: f32) -> f32 {
  // expected-error@+2 {{along control flow edge from parent to parent: region branch point has 0 operands, but region successor needs 1 inputs}}
  // expected-note@+1 {{region branch point}}
  %0 = affine.if affine_set<()[s0] : (s0 >= 0)>()[%n] -> f32 {
    affine.yield %x : f32
  }
  return %0 : f32
}

// -----

func.func @yields(%n: index, %x: f32) -> f32 {
  %0 = affine.if affine_set<()[s0] : (s0 >= 0)>()[%n] -> f32 {
    // expected-error@+1 {{parent of yield must have same number of results as the yield operands}}
    affine.yield %x, %x : f32, f32
  } else {
    affine.yield %x : f32
  }
  return %0 : f32
}

// -----

func.func @yields_another(%n: index, %x: f32, %y: f64) -> f32 {
  %0 = affine.if affine_set<()[s0] : (s0 >= 0)>()[%n] -> f32 {
    affine.yield %x : f32
  } else {
    // expected-error@+1 {{types mismatch between yield op and its parent}}
    affine.yield %y : f64
  }
  return %0 : f32
}
