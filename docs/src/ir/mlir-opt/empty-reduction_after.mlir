module {
  func.func @sum(%arg0: vector<4xi32>, %arg1: vector<4xi32>) -> vector<4xi32> {
    return %arg0 : vector<4xi32>
  }
}

