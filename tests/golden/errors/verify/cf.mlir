// RUN: gradus opt %s --allow-unregistered-dialect

func.func @f(%c: i1) {
  // expected-error@+1 {{'cf.cond_br' op expects number of branch weights to match number of successors: 1 vs 2}}
  cf.cond_br %c weights([1]), ^bb1, ^bb1
^bb1:
  return
}

// -----

func.func @f(%c: i1) {
  // expected-error@+1 {{branch has 1 operands for successor #0, but target block has 0}}
  cf.cond_br %c, ^bb1(%c : i1), ^bb1
^bb1:
  return
}

// -----

func.func @f(%c: i1) {
  // expected-error@+1 {{type mismatch for bb argument #0 of successor #0}}
  cf.br ^bb1(%c : i1)
^bb1(%x: i32):
  return
}

// -----

func.func @f(%c: i32) {
  // expected-error@+1 {{'cf.switch' op number of case values (0) should match number of case destinations (1)}}
  "cf.switch"(%c)[^bb1, ^bb1] <{case_operand_segments = array<i32: 0>, operandSegmentSizes = array<i32: 1, 0, 0>}> : (i32) -> ()
^bb1:
  return
}

// -----

func.func @f(%c: i32) {
  // expected-error@+1 {{'cf.switch' op 'flag' type ('i32') should match case value type ('i64')}}
  "cf.switch"(%c)[^bb1, ^bb1] <{case_operand_segments = array<i32: 0>, case_values = dense<[1]> : vector<1xi64>, operandSegmentSizes = array<i32: 1, 0, 0>}> : (i32) -> ()
^bb1:
  return
}

// -----

func.func @f(%c: i32) {
  // expected-error@+1 {{'cf.switch' op number of case values (2) should match number of case destinations (1)}}
  "cf.switch"(%c)[^bb1, ^bb1] <{case_operand_segments = array<i32: 0>, case_values = dense<[1, 2]> : vector<2xi32>, operandSegmentSizes = array<i32: 1, 0, 0>}> : (i32) -> ()
^bb1:
  return
}

// -----

func.func @f(%c: i32) {
  // expected-error@+1 {{'cf.switch' op caseOperands count (0) does not match with the total size (1) specified in attribute 'case_operand_segments'}}
  "cf.switch"(%c)[^bb1, ^bb1] <{case_operand_segments = array<i32: 1>, case_values = dense<[1]> : vector<1xi32>, operandSegmentSizes = array<i32: 1, 0, 0>}> : (i32) -> ()
^bb1:
  return
}

// -----

func.func @f(%c: index) {
  // expected-error@+1 {{invalid kind of type specified: expected builtin.integer, but found 'index'}}
  cf.switch %c : index, [
    default: ^bb1,
    1: ^bb1,
    2: ^bb1
  ]
^bb1:
  return
}

// -----

func.func @f(%c: i8) {
  cf.switch %c : i8, [
    // expected-error@+1 {{expected 'default'}}
    3: ^bb1,
    2: ^bb1
  ]
^bb1:
  return
}

// -----

func.func @f(%c: i128) {
  cf.switch %c : i128, [
    default: ^bb1,
    // expected-error@+1 {{integer constant out of range for attribute}}
    -2: ^bb1, 4: ^bb1, 36893488147419103232: ^bb1
  ]
^bb1:
  return
}

// -----

func.func @f(%c: i1) {
  // expected-error@+1 {{'cf.br' op requires 1 successor but found 2}}
  "cf.br"()[^bb1, ^bb1] : () -> ()
^bb1:
  return
}

// -----

func.func @f(%c: i1) {
  // expected-error@+1 {{'cf.assert' op requires attribute 'msg'}}
  "cf.assert"(%c) : (i1) -> ()
  return
}

// -----

func.func @f(%c: i64) {
  // expected-error@+1 {{branch has 0 operands for successor #2, but target block has 1}}
  cf.switch %c : i64, [
    default: ^bb2, 3: ^bb1(%c: i64),
    5: ^bb1
  ]
^bb1(%x : i64):
  return
^bb2:
  return
}

// -----

func.func @f(%c: i1) {
  // expected-error@+1 {{branch weights cannot all be zero}}
  cf.cond_br %c weights([0, 0]), ^bb1, ^bb1
^bb1:
  return
}

// -----

func.func @f(%c: i32) {
  // expected-error@+1 {{'case_operand_segments' has 2 entries for 1 case destinations}}
  "cf.switch"(%c)[^bb1, ^bb1] <{case_operand_segments = array<i32: 0, 0>, case_values = dense<[1]> : vector<1xi32>, operandSegmentSizes = array<i32: 1, 0, 0>}> : (i32) -> ()
^bb1:
  return
}

// -----

func.func @f(%c: i32) {
  cf.switch %c : i32, [
    default: ^bb1,
    // expected-error@+1 {{expected attribute value}}
    seven: ^bb1
  ]
^bb1:
  return
}

// -----

func.func @f(%c: i32) {
  cf.switch %c : i32, [
    default: ^bb1,
    // expected-error@+1 {{1 operands present, but expected 2}}
    7: ^bb2(%c : i32, i32)
  ]
^bb1:
  return
^bb2(%x: i32):
  return
}

// -----

func.func @f(%c: i1) {
  %d = arith.constant 1 : i32
  // expected-error@+1 {{operand #0 must be 1-bit signless integer, but got 'i32'}}
  "cf.assert"(%d) <{msg = "d"}> : (i32) -> ()
  return
}
