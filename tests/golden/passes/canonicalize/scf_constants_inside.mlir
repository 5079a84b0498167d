// RUN: gradus opt %s --canonicalize

// Constants are hoisted out of the branches, which are then empty, so that the `scf.if` becomes selects.
func.func @selected(%c: i1, %x: i32) -> (i32, i32) {
  %0:2 = scf.if %c -> (i32, i32) {
    %yes = arith.constant {tag = "yes"} 7 : i32
    scf.yield %yes, %x : i32, i32
  } else {
    %no = arith.constant {tag = "no"} 9 : i32
    scf.yield %no, %no : i32, i32
  }
  return %0#0, %0#1 : i32, i32
}

// A select of index constants 0 and 1 is not folded to an extension of the condition.
func.func @index(%c: i1) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.if %c -> (index) {
    scf.yield %c0 : index
  } else {
    scf.yield %c1 : index
  }
  %1 = arith.select %c, %c1, %c0 : index
  return %0, %1 : index, index
}

// A loop with step 0 is UB unless its trip count is 0.
func.func @zero_step(%m: memref<i64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %step = arith.subi %c1, %c1 : index
  scf.for %i = %c0 to %c1 step %step {
    %0 = arith.index_cast %i : index to i64
    memref.store %0, %m[] : memref<i64>
  }
  return
}
