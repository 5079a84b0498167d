// RUN: gradus opt %s --allow-unregistered-dialect

func.func @f(%c: i1, %a: i32, %l: index) {
  // expected-error@+1 {{expected 2 operands}}
  scf.parallel (%i, %j) = (%l) to (%l, %l) step (%l, %l) {
  }
  return
}

// -----

func.func @f(%c: i1, %a: i32, %l: index) {
  // expected-error@+1 {{number of operands and types do not match: got 1 operands and 2 types}}
  scf.parallel (%i) = (%l) to (%l) step (%l) init (%a) -> (i32, i32) {
  }
  return
}

// -----

func.func @f(%c: i1, %a: i32, %l: index) {
  // expected-error@+1 {{'scf.parallel' op expects number of results: 1 to be the same as number of reductions: 0}}
  scf.parallel (%i) = (%l) to (%l) step (%l) init (%a) -> i32 {
  }
  return
}

// -----

func.func @f(%c: i1, %a: i32, %l: index) {
  scf.parallel (%i) = (%l) to (%l) step (%l) init (%a) -> i32 {
    // expected-error@+1 {{'scf.reduce' op expects type of 0-th reduction operand: 'i1' to be the same as the 0-th result type: 'i32'}}
    scf.reduce(%c : i1) {
      ^bb0(%x: i1, %y: i1): 
      scf.reduce.return %x : i1
    }
  }
  return
}

// -----

func.func @f(%c: i1, %a: i32, %l: index) {
  scf.parallel (%i) = (%l) to (%l) step (%l) init (%a) -> i32 {
    // expected-error@+1 {{'scf.reduce' op expected two block arguments with type 'i32' in the 0-th reduction region}}
    scf.reduce(%a : i32) {
      ^bb0(%x: i32, %y: i1): 
      scf.reduce.return %x : i32
    }
  }
  return
}

// -----

func.func @f(%c: i1, %a: i32, %l: index) {
  scf.parallel (%i) = (%l) to (%l) step (%l) init (%a) -> i32 {
    // expected-error@+1 {{'scf.reduce' op expected two block arguments with type 'i32' in the 0-th reduction region}}
    scf.reduce(%a : i32) {
      ^bb0(%x: i32): 
      scf.reduce.return %x : i32
    }
  }
  return
}

// -----

func.func @f(%c: i1, %a: i32, %l: index) {
  scf.parallel (%i) = (%l) to (%l) step (%l) init (%a) -> i32 {
    scf.reduce(%a : i32) {
      ^bb0(%x: i32, %y: i32): 
      // expected-error@+1 {{'scf.reduce.return' op must have type 'i32' (the type of the reduction inputs)}}
      scf.reduce.return %c : i1
    }
  }
  return
}

// -----

func.func @f(%c: i1, %a: i32, %l: index) {
  scf.parallel (%i) = (%l) to (%l) step (%l) init (%a) -> i32 {
    // expected-error@+1 {{'scf.reduce' op reduction bodies must be terminated with an 'scf.reduce.return' op}}
    scf.reduce(%a : i32) {
      ^bb0(%x: i32, %y: i32): 
      "test.x"() : () -> ()
    }
  }
  return
}

// -----

func.func @f(%c: i1, %a: i32, %l: index) {
  scf.parallel (%i) = (%l) to (%l) step (%l) init (%a) -> i32 {
    // expected-error@+1 {{'scf.reduce' op region #0 ('reductions') failed to verify constraint: region with 1 blocks}}
    scf.reduce(%a : i32) {
    }
  }
  return
}

// -----

func.func @f(%c: i1, %a: i32, %l: index) {
  // expected-error@+1 {{'scf.parallel' op expects number of results: 1 to be the same as number of reductions: 0}}
  scf.parallel (%i) = (%l) to (%l) step (%l) init (%a) -> i32 {
    // expected-error@+1 {{'scf.reduce' op expects number of operands: 1 to be the same as number of reductions: 0}}
    "scf.reduce"(%a) : (i32) -> ()
  }
  return
}

// -----

func.func @f(%c: i1, %a: i32, %l: index) {
  // expected-error@+1 {{'scf.parallel' op needs at least one tuple element for lowerBound, upperBound and step}}
  scf.parallel () = () to () step () {
  }
  return
}

// -----

func.func @f(%c: i1, %a: i32, %l: index) {
  // expected-error@+1 {{'scf.parallel' op expects the same number of induction variables: 0 as bound and step values: 1}}
  "scf.parallel"(%l, %l, %l) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
   ^bb0:
   scf.reduce
  }) : (index, index, index) -> ()
  return
}

// -----

func.func @f(%c: i1, %a: i32, %l: index) {
  // expected-error@+1 {{'scf.parallel' op expects arguments for the induction variable to be of index type}}
  "scf.parallel"(%l, %l, %l) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
   ^bb0(%x: i32):
   scf.reduce
  }) : (index, index, index) -> ()
  return
}

// -----

func.func @f(%c: i1, %a: i32, %l: index) {
  // expected-error@+1 {{'scf.parallel' op expects body to terminate with 'scf.reduce'}}
  "scf.parallel"(%l, %l, %l) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
   ^bb0(%x: index):
   // expected-error@+1 {{'scf.yield' op expects parent op to be one of}}
   scf.yield
  }) : (index, index, index) -> ()
  return
}

// -----

func.func @f(%c: i1, %a: i32, %l: index) {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{'scf.parallel' op constant step operand must be positive}}
  scf.parallel (%i) = (%l) to (%l) step (%c0) {
  }
  return
}

// -----

func.func @f(%c: i1, %a: i32, %l: index) {
  // expected-error@+1 {{'scf.parallel' op expects number of results: 1 to be the same as number of reductions: 2}}
  scf.parallel (%i) = (%l) to (%l) step (%l) init (%a) -> i32 {
    // expected-error@+1 {{'scf.reduce' op expects number of operands: 1 to be the same as number of reductions: 2}}
    scf.reduce(%a : i32) {
      ^bb0(%x: i32, %y: i32): 
      scf.reduce.return %x : i32
    }, {
      ^bb0(%x: i32, %y: i32): 
      scf.reduce.return %x : i32
    }
  }
  return
}

// -----

func.func @f(%l: index) {
  // expected-error@+1 {{'scf.parallel' op expects the same number of lower bounds, upper bounds and steps}}
  "scf.parallel"(%l, %l, %l, %l) <{operandSegmentSizes = array<i32: 2, 1, 1, 0>}> ({
  ^bb0(%i: index):
    scf.reduce
  }) : (index, index, index, index) -> ()
  return
}

// -----

func.func @f(%l: index, %x: i32) {
  // expected-error@+1 {{'scf.parallel' op expects number of results: 1 to be the same as number of initial values: 0}}
  %0 = "scf.parallel"(%l, %l, %l) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: index):
    scf.reduce(%x : i32) {
    ^bb0(%a: i32, %b: i32):
      scf.reduce.return %a : i32
    }
  }) : (index, index, index) -> i32
  return
}

// -----

func.func @f(%l: index, %x: i32, %y: i64) {
  // expected-error@+1 {{'scf.parallel' op expects type of 0-th initial value: 'i64' to be the same as the 0-th result type: 'i32'}}
  %0 = "scf.parallel"(%l, %l, %l, %y) <{operandSegmentSizes = array<i32: 1, 1, 1, 1>}> ({
  ^bb0(%i: index):
    scf.reduce(%x : i32) {
    ^bb0(%a: i32, %b: i32):
      scf.reduce.return %a : i32
    }
  }) : (index, index, index, i64) -> i32
  return
}
