// RUN: gradus opt %s --scf-for-loop-unroll=unroll-factor=-1

func.func @all(%x: index) -> index {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c6 = arith.constant 6 : index
  %0 = scf.for %i = %c1 to %c6 step %c2 iter_args(%a = %x) -> (index) {
    %1 = arith.muli %a, %i : index
    scf.yield %1 : index
  }
  return %0 : index
}

// Not unrolled: above the limit, and with an unknown trip count.
func.func @stays(%n: i4, %x: index) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9000000000000000000 = arith.constant 9000000000000000000 : index
  %end = arith.index_cast %n : i4 to index
  %0 = scf.for %i = %c0 to %end step %c1 iter_args(%a = %x) -> (index) {
    %2 = arith.addi %a, %i : index
    scf.yield %2 : index
  }
  %1 = scf.for %i = %c0 to %c9000000000000000000 step %c1 iter_args(%a = %x) -> (index) {
    %2 = arith.addi %a, %i : index
    scf.yield %2 : index
  }
  return %0, %1 : index, index
}
