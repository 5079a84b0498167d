// RUN: gradus opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics

// A block ends in a terminator; a branch stays in its region and does not target the entry block.
func.func @empty() {
  // expected-error@+1 {{empty block: expect at least a terminator}}
  "t.region"() ({
  ^first:
    "t.jump"()[^second] : () -> ()
  ^second:
  }) : () -> ()
  return
}

// -----

// expected-error@+1 {{expected non-empty function body}}
func.func @empty() {
}

// -----

// expected-note@+1 {{in a region of this operation}}
func.func @open(%a: i32) {
  // expected-error@+1 {{block with no terminator, has this operation at its end}}
  %0 = arith.addi %a, %a : i32
}

// -----

func.func @entry() {
  "t.jump"()[^next] : () -> ()
^next:
  "t.jump"()[^next] : () -> ()
}
func.func @to_entry() {
  "t.region"() ({
  ^entry:
    // expected-error@+1 {{entry block of region may not have predecessors}}
    "t.jump"()[^entry] : () -> ()
  }) : () -> ()
  return
}

// -----

func.func @middle() {
  // expected-error@+1 {{with block successors must terminate its parent block}}
  "t.jump"()[^next] : () -> ()
  "t.x"() : () -> ()
^next:
  return
}
