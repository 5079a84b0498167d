// RUN: gradus opt %s --allow-unregistered-dialect

func.func @f(%c: i1, %a: i32) {
  // expected-error@+1 {{'scf.while' op along control flow edge from Operation scf.condition to parent: successor operand type #0 'i32' should match successor input type #0 'i64'}}
  scf.while (%x = %a) : (i32) -> i64 {
    scf.condition(%c) %x : i32 // expected-note {{region branch point}}
  } do {
  ^bb0(%y: i64):
    scf.yield %a : i32
  }
  return
}

// -----

func.func @f(%c: i1, %a: i32) {
  // expected-error@+1 {{'scf.while' op along control flow edge from Operation scf.condition to Region #1: successor operand type #0 'i32' should match successor input type #0 'i64'}}
  scf.while (%x = %a) : (i32) -> i32 {
    scf.condition(%c) %x : i32 // expected-note {{region branch point}}
  } do {
  ^bb0(%y: i64):
    scf.yield %a : i32
  }
  return
}

// -----

func.func @f(%c: i1, %a: i32) {
  // expected-error@+1 {{'scf.while' op along control flow edge from Operation scf.yield to Region #0: successor operand type #0 'i1' should match successor input type #0 'i32'}}
  scf.while (%x = %a) : (i32) -> i32 {
    scf.condition(%c) %x : i32
  } do {
  ^bb0(%y: i32):
    scf.yield %c : i1 // expected-note {{region branch point}}
  }
  return
}

// -----

func.func @f(%c: i1, %a: i32) {
  // expected-error@+1 {{'scf.while' op expects the 'before' region to terminate with 'scf.condition'}}
  scf.while (%x = %a) : (i32) -> i32 {
    scf.yield
  } do {
  ^bb0(%y: i32):
    scf.yield %c : i1
  }
  return
}

// -----

func.func @f(%c: i1, %a: i32) {
  // expected-error@+1 {{expected as many input types as operands (expected 1 got 2)}}
  scf.while (%x = %a) : (i32, i32) -> i32 {
    scf.condition(%c) %x : i32
  } do {
  ^bb0(%y: i32):
    scf.yield %c : i1
  }
  return
}

// -----

func.func @f(%c: i1, %a: i32, %l: index) {
  // expected-error@+1 {{'scf.while' op along control flow edge from parent to Region #0: successor operand type #0 'i32' should match successor input type #0 'i64'}}
  "scf.while"(%a) ({ // expected-note {{region branch point}}
  ^bb0(%x: i64):
    scf.condition(%c) %x : i64
  }, {
  ^bb0(%x: i64):
    scf.yield %x : i64
  }) : (i32) -> (i64)
  return
}

// -----

func.func @f(%c: i1, %a: i32, %l: index) {
  // expected-error@+1 {{'scf.while' op along control flow edge from parent to Region #0: region branch point has 1 operands, but region successor needs 0 inputs}}
  "scf.while"(%a) ({ // expected-note {{region branch point}}
    scf.condition(%c)
  }, {
    scf.yield
  }) : (i32) -> ()
  return
}

// -----

func.func @f(%c: i1, %a: i32, %l: index) {
  // expected-error@+1 {{'scf.while' op expects the 'after' region to terminate with 'scf.yield'}}
  scf.while : () -> () {
    scf.condition(%c)
  } do {
    "test.x"() : () -> ()
  }
  return
}

// -----

func.func @f(%c: i1, %a: i32, %l: index) {
  // expected-error@+1 {{'scf.while' op expects the 'after' region to terminate with 'scf.yield'}}
  scf.while : () -> () {
    scf.condition(%c)
  } do {
    scf.condition(%c)
  }
  return
}

// -----

func.func @f(%c: i1) {
  scf.while : () -> () {
    scf.condition(%c)
  // expected-error@+1 {{expected 'do'}}
  } {
    scf.yield
  }
  return
}
