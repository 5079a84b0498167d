// RUN: gradus opt %s --canonicalize

// Constants that were inside are outside in the end, and the branches have nothing left to do.
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

// Zero or one as index is no extension of the condition.
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

// A loop that does not advance is undefined unless it never runs.
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
