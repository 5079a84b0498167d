// RUN: gradus opt %s

func.func @scalars(%a: f32) -> (i1, i1, i1, i1) {
  %0 = math.isfinite %a : f32
  %1 = math.isinf %a : f32
  %2 = math.isnan %a : f32
  %3 = math.isnormal %a : f32
  return %0, %1, %2, %3 : i1, i1, i1, i1
}
func.func @shaped(%a: tensor<2x?xf16>, %b: vector<3xf64>, %c: tensor<2xbf16>) -> (tensor<2x?xi1>, vector<3xi1>, tensor<2xi1>) {
  %0 = math.isnormal %a : tensor<2x?xf16>
  %1 = math.isfinite %b {fastmath = #arith.fastmath<nnan>} : vector<3xf64>
  %2 = math.isinf %c {note} : tensor<2xbf16>
  return %0, %1, %2 : tensor<2x?xi1>, vector<3xi1>, tensor<2xi1>
}
