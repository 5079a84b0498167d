// RUN: gradus opt %s --canonicalize

// Constant folding; the results are exactly representable, hence equal on all machines.
func.func @floats() -> (f32, f32, f32, f64, f16, bf16, f32, f32, f32, f32, f32, f32, f32) {
  %a = arith.constant -2.25 : f32
  %b = arith.constant 1.0 : f32
  %z = arith.constant -0.0 : f32
  %d = arith.constant 2.25 : f64
  %h = arith.constant 2.5 : f16
  %g = arith.constant -2.5 : bf16
  %0 = math.absf %a : f32
  %1 = math.ceil %a : f32
  %2 = math.floor %a : f32
  %3 = math.sqrt %d : f64
  %4 = math.roundeven %h : f16
  %5 = math.round %g : bf16
  %6 = math.exp %z : f32
  %7 = math.log2 %b : f32
  %8 = math.copysign %b, %a : f32
  %9 = math.powf %a, %b : f32
  %10 = math.sin %z : f32
  %11 = math.fma %a, %a, %b : f32
  %12 = math.clampf %a to [%z, %b] : f32
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12 : f32, f32, f32, f64, f16, bf16, f32, f32, f32, f32, f32, f32, f32
}
func.func @elements() -> (tensor<3xf32>, tensor<2x2xf32>, vector<3xi1>, tensor<2xi1>, tensor<3xf32>) {
  %a = arith.constant dense<[4.0, 9.0, 0x7F800000]> : tensor<3xf32>
  %b = arith.constant dense<-1.5> : tensor<2x2xf32>
  %c = arith.constant dense<[1.0, 0x7F800000, 0x7FC00000]> : vector<3xf32>
  %d = arith.constant dense<[1.0, 1.0e-40]> : tensor<2xf32>
  %n = arith.constant dense<[2, -1, 0]> : tensor<3xi8>
  %0 = math.sqrt %a : tensor<3xf32>
  %1 = math.trunc %b : tensor<2x2xf32>
  %2 = math.isfinite %c : vector<3xf32>
  %3 = math.isnormal %d : tensor<2xf32>
  %4 = math.fpowi %a, %n : tensor<3xf32>, tensor<3xi8>
  return %0, %1, %2, %3, %4 : tensor<3xf32>, tensor<2x2xf32>, vector<3xi1>, tensor<2xi1>, tensor<3xf32>
}
func.func @integers() -> (i8, i8, i8, i8, i8, i8, vector<4xi8>) {
  %low = arith.constant -128 : i8
  %z = arith.constant 0 : i8
  %a = arith.constant 20 : i8
  %n = arith.constant -3 : i8
  %one = arith.constant -1 : i8
  %v = arith.constant dense<[1, -1, 3, -2]> : vector<4xi8>
  %0 = math.absi %low : i8
  %1 = math.ctlz %z : i8
  %2 = math.cttz %a : i8
  %3 = math.ctpop %n : i8
  %4 = math.ipowi %n, %a : i8
  %5 = math.ipowi %one, %n : i8
  %6 = math.ipowi %v, %v : vector<4xi8>
  return %0, %1, %2, %3, %4, %5, %6 : i8, i8, i8, i8, i8, i8, vector<4xi8>
}
// Zero to a negative power is UB; violated fast-math flags give poison.
func.func @not_folded() -> (i32, f32, i1) {
  %z = arith.constant 0 : i32
  %n = arith.constant -1 : i32
  %inf = arith.constant 0x7F800000 : f32
  %0 = math.ipowi %z, %n : i32
  %1 = math.exp %inf fastmath<ninf> : f32
  %2 = math.isinf %inf {fastmath = #arith.fastmath<ninf>} : f32
  return %0, %1, %2 : i32, f32, i1
}
