// RUN: gradus opt %s --mlir-print-op-generic

func.func @f(%a: i32, %b: f32) -> (i1, f32) {
  %0 = arith.addi %a, %a overflow<nsw> : i32
  %1 = arith.addi %0, %a : i32
  %2 = arith.cmpi ult, %1, %a : i32
  %3 = arith.addf %b, %b fastmath<nnan,contract> : f32
  %4 = arith.divui %1, %a exact : i32
  %5 = arith.cmpf oge, %3, %b : f32
  %6 = arith.truncf %b downward : f32 to f16
  %7 = arith.select %5, %b, %3 : f32
  %8 = arith.constant dense<1> : tensor<2xi8>
  return %2, %7 : i1, f32
}
