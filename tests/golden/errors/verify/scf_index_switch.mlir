// RUN: gradus opt %s --allow-unregistered-dialect

func.func @f(%c: i1, %a: i32, %l: index) {
  // expected-error@+1 {{'scf.index_switch' op region #1 ('caseRegions') failed to verify constraint: region with 1 blocks}}
  scf.index_switch %l 
  case 0 {
  }
  default { 
  }
  return
}

// -----

func.func @f(%c: i1, %a: i32, %l: index) {
  // expected-error@+1 {{'scf.index_switch' op expected region to end with scf.yield, but got test.x}}
  scf.index_switch %l 
  case 0 {
    "test.x"() : () -> ()
  }
  default { 
  }
  return
}

// -----

func.func @f(%c: i1, %a: i32, %l: index) {
  // expected-error@+1 {{'scf.index_switch' op has duplicate case value: 0}}
  scf.index_switch %l 
  case 0 {
    "test.x"() : () -> ()
    scf.yield
  }
  case 0 {
    scf.yield
  }
  default { 
    "test.x"() : () -> ()
  }
  return
}

// -----

func.func @f(%c: i1, %a: i32, %l: index) {
  // expected-error@+1 {{'scf.index_switch' op expected each region to return 1 values, but case region #0 returns 0}}
  %0 = scf.index_switch %l -> i32
  case 0 {
    scf.yield
  }
  default { 
    scf.yield %a : i32
  }
  return
}

// -----

func.func @f(%c: i1, %a: i32, %l: index) {
  // expected-error@+1 {{'scf.index_switch' op expected result #0 of each region to be 'i32'}}
  %0 = scf.index_switch %l -> i32
  case 0 {
    scf.yield %c : i1
  }
  default { 
    scf.yield %a : i32
  }
  return
}

// -----

func.func @f(%c: i1, %a: i32, %l: index) {
  // expected-error@+1 {{'scf.index_switch' op expected result #0 of each region to be 'i32'}}
  %0 = scf.index_switch %l -> i32
  case 0 {
    scf.yield %a : i32
  }
  default { 
    scf.yield %c : i1
  }
  return
}

// -----

func.func @f(%c: i1, %a: i32, %l: index) {
  // expected-error@+1 {{'scf.index_switch' op has 1 case regions but 2 case values}}
  "scf.index_switch"(%l) <{cases = array<i64: 1, 2>}> ({scf.yield}, {scf.yield}): (index) -> ()
  return
}

// -----

func.func @f(%c: i1, %a: i32, %l: index) {
  // expected-error@+1 {{'scf.index_switch' op along control flow edge from parent to Region #1: region branch point has 0 operands, but region successor needs 1 inputs}}
  "scf.index_switch"(%l) <{cases = array<i64: 1>}> ({scf.yield}, { // expected-note {{region branch point}}
   ^bb0(%x: i32): scf.yield}): (index) -> ()
  return
}

// -----

func.func @f(%i: index) {
  scf.index_switch %i
  case 1 {
    scf.yield
  }
  // expected-error@+1 {{expected 'default'}}
  return
}

// -----

func.func @f(%i: index) {
  scf.index_switch %i
  // expected-error@+1 {{expected attribute value}}
  case one {
    scf.yield
  }
  // expected-error@+1 {{unregistered operation 'default'}}
  default {
  }
  return
}
