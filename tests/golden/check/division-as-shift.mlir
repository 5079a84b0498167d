// RUN: gradus check %s --canonicalize
//
// '@f' has a different meaning after pass 'canonicalize'
//   with %arg0 = -1 : i8
//   before: returns 0 : i8
//   after:  returns -1 : i8
//   caused by rewrite 0: `apply-pattern pattern: div-by-2-as-shift`
//   on %0 = arith.divsi %arg0, %c2_i8 : i8
module {
  func.func @f(%arg0: i8) -> i8 {
    %c2_i8 = arith.constant 2 : i8
    %0 = arith.divsi %arg0, %c2_i8 : i8
    return %0 : i8
  }
}

