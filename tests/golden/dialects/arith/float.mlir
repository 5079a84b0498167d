// RUN: gradus opt %s

func.func @arithmetic(%a: f32, %b: f32) -> (f32, f32, f32, f32, f32, f32) {
  %0 = arith.addf %a, %b : f32
  %1 = arith.subf %a, %b : f32
  %2 = arith.mulf %a, %b : f32
  %3 = arith.divf %a, %b : f32
  %4 = arith.remf %a, %b : f32
  %5 = arith.negf %a : f32
  return %0, %1, %2, %3, %4, %5 : f32, f32, f32, f32, f32, f32
}
func.func @extremes(%a: f64, %b: f64) -> (f64, f64, f64, f64) {
  %0 = arith.maximumf %a, %b : f64
  %1 = arith.minimumf %a, %b : f64
  %2 = arith.maxnumf %a, %b : f64
  %3 = arith.minnumf %a, %b : f64
  return %0, %1, %2, %3 : f64, f64, f64, f64
}
func.func @promises(%a: f16, %b: bf16) -> (f16, f16, bf16) {
  %0 = arith.addf %a, %a fastmath<fast> : f16
  %1 = arith.negf %a fastmath<nnan, ninf> : f16
  %2 = arith.mulf %b, %b fastmath<contract,reassoc> {x.note} : bf16
  return %0, %1, %2 : f16, f16, bf16
}
