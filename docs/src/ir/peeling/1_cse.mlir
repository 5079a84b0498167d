// -----// IR Dump After CSE (cse) //----- //
module {
  func.func @fuzz0(%arg0: tensor<2x1x3x3xi32>, %arg1: memref<?xi8>, %arg2: vector<4xi64>, %arg3: vector<2x3xi1>, %arg4: vector<2x3xi1>, %arg5: index, %arg6: i1) -> (vector<2xi32>, vector<2x3xi1>, vector<1xi1>, vector<2xi32>, i64, i64, i64, i64, index) {
    %cst = arith.constant dense<388179406> : vector<1xi32>
    cf.assert %arg6, "add"
    %0 = vector.interleave %cst, %cst : vector<1xi32> -> vector<2xi32>
    %cst_0 = arith.constant dense<true> : vector<2x3xi1>
    %1 = arith.muli %arg4, %cst_0 : vector<2x3xi1>
    %2 = arith.addi %arg3, %1 overflow<nsw, nuw> : vector<2x3xi1>
    %3 = vector.constant_mask [0] : vector<1xi1>
    %4:4 = vector.to_elements %arg2 : vector<4xi64>
    %c2 = arith.constant 2 : index
    %5 = scf.for %arg7 = %arg5 to %c2 step %c2 iter_args(%arg8 = %c2) -> (index) {
      %6 = arith.addi %arg8, %arg7 : index
      scf.yield %6 : index
    }
    return %0, %2, %3, %0, %4#0, %4#1, %4#2, %4#3, %5 : vector<2xi32>, vector<2x3xi1>, vector<1xi1>, vector<2xi32>, i64, i64, i64, i64, index
  }
}


