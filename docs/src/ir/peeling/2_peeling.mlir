// -----// IR Dump After SCFForLoopPeeling (scf-for-loop-peeling) //----- //
#map = affine_map<()[s0, s1, s2] -> (s1 - (s1 - s0) mod s2)>
module {
  func.func @fuzz0(%arg0: tensor<2x1x3x3xi32>, %arg1: memref<?xi8>, %arg2: vector<4xi64>, %arg3: vector<2x3xi1>, %arg4: vector<2x3xi1>, %arg5: index, %arg6: i1) -> (vector<2xi32>, vector<2x3xi1>, vector<1xi1>, vector<2xi32>, i64, i64, i64, i64, index) {
    %cst = arith.constant dense<false> : vector<1xi1>
    %c2 = arith.constant 2 : index
    %cst_0 = arith.constant dense<388179406> : vector<1xi32>
    cf.assert %arg6, "add"
    %0 = vector.interleave %cst_0, %cst_0 : vector<1xi32> -> vector<2xi32>
    %1 = arith.addi %arg3, %arg4 overflow<nsw, nuw> : vector<2x3xi1>
    %2:4 = vector.to_elements %arg2 : vector<4xi64>
    %3 = affine.apply #map()[%arg5, %c2, %c2]
    %4 = scf.for %arg7 = %arg5 to %3 step %c2 iter_args(%arg8 = %c2) -> (index) {
      %6 = arith.addi %arg8, %arg7 : index
      scf.yield %6 : index
    }
    %5 = scf.for %arg7 = %3 to %c2 step %c2 iter_args(%arg8 = %4) -> (index) {
      %6 = arith.addi %arg8, %arg7 : index
      scf.yield %6 : index
    }
    return %0, %1, %cst, %0, %2#0, %2#1, %2#2, %2#3, %5 : vector<2xi32>, vector<2x3xi1>, vector<1xi1>, vector<2xi32>, i64, i64, i64, i64, index
  }
}


