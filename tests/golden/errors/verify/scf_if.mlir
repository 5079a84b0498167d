// RUN: gradus opt %s --allow-unregistered-dialect

func.func @f(%c: i1, %a: i32) -> i32 {
  // expected-error@+1 {{'scf.if' op along control flow edge from Operation scf.yield to parent: region branch point has 2 operands, but region successor needs 1 inputs}}
  %0 = "scf.if"(%c) ({ "scf.yield"(%a, %a) : (i32, i32) -> () }, { "scf.yield"(%a) : (i32) -> () }) : (i1) -> i32 // expected-note {{region branch point}}
  return %0 : i32
}

// -----

func.func @f(%c: i1, %a: i32) -> i64 {
  // expected-error@+1 {{'scf.if' op along control flow edge from Operation scf.yield to parent: successor operand type #0 'i32' should match successor input type #0 'i64'}}
  %0 = "scf.if"(%c) ({ "scf.yield"(%a) : (i32) -> () }, { "scf.yield"(%a) : (i32) -> () }) : (i1) -> i64 // expected-note {{region branch point}}
  return %0 : i64
}

// -----

func.func @f(%c: i1, %a: i32) {
  // expected-error@+1 {{'scf.if' op must have an else block if defining values}}
  scf.if %c -> i32 {
    scf.yield %a : i32
  }
  return
}

// -----

func.func @f(%c: i1, %a: i32) {
  // expected-error@+1 {{'scf.if' op along control flow edge from Operation scf.yield to parent: region branch point has 0 operands, but region successor needs 1 inputs}}
  scf.if %c -> i32 { // expected-note {{region branch point}}
    scf.yield %a : i32
  } else {
  }
  return
}

// -----

func.func @f(%c: i1, %a: i32) {
  // expected-error@+1 {{'scf.if' op along control flow edge from Operation scf.yield to parent: region branch point has 0 operands, but region successor needs 1 inputs}}
  scf.if %c -> i32 { // expected-note {{region branch point}}
  } else {
    scf.yield %a : i32
  }
  return
}

// -----

func.func @f(%c: i1, %a: i32, %l: index) {
  // expected-error@+1 {{'scf.yield' op expects parent op to be one of 'scf.execute_region, scf.for, scf.if, scf.index_switch, scf.while'}}
  scf.yield
}

// -----

func.func @f(%c: i1, %a: i32, %l: index) {
  // expected-error@+1 {{'scf.reduce' op expects parent op 'scf.parallel'}}
  scf.reduce
}

// -----

func.func @f(%c: i1) {
  // expected-error@+1 {{region #0 should have no arguments}}
  "scf.if"(%c) ({
  ^bb0(%x: i32):
    scf.yield
  }, {
  }) : (i1) -> ()
  return
}

// -----

func.func @f(%c: i1) {
  // expected-error@+1 {{region #0 ('thenRegion') failed to verify constraint: region with 1 blocks}}
  "scf.if"(%c) ({
  }, {
  }) : (i1) -> ()
  return
}

// -----

func.func @f(%c: i1) {
  // expected-error@+1 {{expected '{'}}
  scf.if %c
  return
}
