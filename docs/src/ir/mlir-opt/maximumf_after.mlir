module {
  func.func @larger(%arg0: f32) -> f32 {
    %cst = arith.constant -0.000000e+00 : f32
    %0 = arith.cmpf ugt, %arg0, %cst : f32
    %1 = arith.select %0, %arg0, %cst : f32
    %2 = arith.cmpf uno, %cst, %cst : f32
    %3 = arith.select %2, %cst, %1 : f32
    return %3 : f32
  }
}

