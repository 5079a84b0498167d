module {
  func.func @sum(%arg0: vector<1x1xi32>, %arg1: vector<1xi32>, %arg2: vector<1x1xi1>) -> vector<1xi32> {
    %0 = vector.shape_cast %arg2 : vector<1x1xi1> to vector<1xi1>
    %1 = vector.shape_cast %arg0 : vector<1x1xi32> to vector<1xi32>
    %2 = arith.addi %arg1, %1 : vector<1xi32>
    %3 = arith.select %0, %2, %1 : vector<1xi1>, vector<1xi32>
    return %3 : vector<1xi32>
  }
}

