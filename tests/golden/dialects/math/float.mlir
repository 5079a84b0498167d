// RUN: gradus opt %s

func.func @binary(%a: f32, %b: f32) -> (f32, f32, f32) {
  %0 = math.atan2 %a, %b : f32
  %1 = math.copysign %a, %b : f32
  %2 = math.powf %a, %b : f32
  return %0, %1, %2 : f32, f32, f32
}
func.func @ternary(%a: f64, %b: f64, %c: f64) -> (f64, f64) {
  %0 = math.fma %a, %b, %c : f64
  %1 = math.clampf %a to [%b, %c] : f64
  return %0, %1 : f64, f64
}
func.func @integer_powers(%a: f32, %n: i8, %v: vector<3xf64>, %w: vector<3xi16>) -> (f32, vector<3xf64>) {
  %0 = math.fpowi %a, %n : f32, i8
  %1 = math.fpowi %v, %w fastmath<nnan> : vector<3xf64>, vector<3xi16>
  return %0, %1 : f32, vector<3xf64>
}
func.func @two_results(%a: f32, %t: tensor<2x2xf16>) -> (f32, f32, tensor<2x2xf16>, tensor<2x2xf16>) {
  %sin, %cos = math.sincos %a fastmath<nnan> : f32
  %0:2 = math.sincos %t {note} : tensor<2x2xf16>
  return %sin, %cos, %0#0, %0#1 : f32, f32, tensor<2x2xf16>, tensor<2x2xf16>
}
func.func @promises(%a: f32) -> (f32, f32, f32) {
  %0 = math.sqrt %a fastmath<nnan> : f32
  %1 = math.exp %0 fastmath<ninf> {note} : f32
  %2 = math.fma %a, %a, %1 fastmath<fast> : f32
  return %0, %1, %2 : f32, f32, f32
}
func.func @shaped(%a: tensor<?x2xf32>, %b: vector<[4]xf32>, %c: tensor<*xf64>) -> tensor<?x2xf32> {
  %0 = math.tanh %a : tensor<?x2xf32>
  %1 = math.tanh %b : vector<[4]xf32>
  %2 = math.tanh %c : tensor<*xf64>
  %3 = math.clampf %a to [%0, %0] : tensor<?x2xf32>
  return %3 : tensor<?x2xf32>
}
func.func @wide(%a: f128, %b: f8E4M3) -> f128 {
  %0 = math.absf %a : f128
  %1 = math.absf %b : f8E4M3
  return %0 : f128
}
