// RUN: gradus opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics

// Definitions dominate uses and do not cross a region isolated from above.
func.func @order() {
  // expected-error@+1 {{operand #0 does not dominate this use}}
  %0 = arith.addi %1, %1 : i32
  // expected-note@+1 {{operand defined here (op in the same block)}}
  %1 = arith.constant 1 : i32
  return
}

// -----

func.func @branches(%c: i1) {
  "t.branch"()[^left, ^right] : () -> ()
^left:
  // expected-note@+1 {{operand defined here (op in the same region)}}
  %0 = arith.constant 1 : i32
  "t.jump"()[^right] : () -> ()
^right:
  // expected-error@+1 {{operand #0 does not dominate this use}}
  "t.use"(%0) : (i32) -> ()
  return
}

// -----

%outer = arith.constant 1 : i32
func.func @isolated() {
  // expected-error@+1 {{use of undeclared SSA value name '%outer'}}
  "t.use"(%outer) : (i32) -> ()
  return
}

// -----

func.func @sibling() {
  "t.region"() ({
    %0 = arith.constant 1 : i32
    "t.end"() : () -> ()
  }) : () -> ()
  // expected-error@+1 {{undeclared SSA value name '%0'}}
  "t.use"(%0) : (i32) -> ()
  return
}

// -----

// A region with several blocks is an SSACFG region, whatever its parent op.
func.func @blocks() {
  "t.region"() ({
    // expected-error@+1 {{operand #0 does not dominate this use}}
    "t.use"(%later) : (i32) -> ()
    cf.br ^next
  ^next:
    // expected-note@+1 {{operand defined here (op in the same region)}}
    %later = arith.constant 0 : i32
    "t.end"() : () -> ()
  }) : () -> ()
  return
}
