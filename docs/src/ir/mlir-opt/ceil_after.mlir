module {
  func.func @up(%arg0: f32) -> f32 {
    %cst = arith.constant 1.000000e+00 : f32
    %cst_0 = arith.constant 0.000000e+00 : f32
    %0 = arith.fptosi %arg0 : f32 to i64
    %1 = arith.sitofp %0 : i64 to f32
    %2 = math.copysign %1, %arg0 : f32
    %3 = arith.cmpf ogt, %arg0, %2 : f32
    %4 = arith.select %3, %cst, %cst_0 : f32
    %5 = arith.addf %2, %4 : f32
    return %5 : f32
  }
}

