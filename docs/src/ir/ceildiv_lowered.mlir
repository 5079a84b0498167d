module {
  func.func @blocks(%arg0: index) -> index {
    %c7 = arith.constant 7 : index
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %0 = arith.cmpi sle, %arg0, %c0 : index
    %1 = arith.subi %c0, %arg0 : index
    %2 = arith.subi %arg0, %c1 : index
    %3 = arith.select %0, %1, %2 : index
    %4 = arith.divsi %3, %c7 : index
    %5 = arith.subi %c0, %4 : index
    %6 = arith.addi %4, %c1 : index
    %7 = arith.select %0, %5, %6 : index
    return %7 : index
  }
}

