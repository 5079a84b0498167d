// RUN: gradus opt %s

func.func @ints(%a: i8, %b: i32) -> (i32, i32, i8, i8) {
  %0 = arith.extui %a : i8 to i32
  %1 = arith.extsi %a : i8 to i32
  %2 = arith.trunci %b : i32 to i8
  %3 = arith.trunci %b overflow<nsw> : i32 to i8
  return %0, %1, %2, %3 : i32, i32, i8, i8
}
func.func @floats(%a: f32) -> (f64, f16, bf16, f16) {
  %0 = arith.extf %a : f32 to f64
  %1 = arith.truncf %a : f32 to f16
  %2 = arith.truncf %a to_nearest_even : f32 to bf16
  %3 = arith.truncf %a fastmath<nnan> : f32 to f16
  return %0, %1, %2, %3 : f64, f16, bf16, f16
}
func.func @between(%a: i32, %b: f32) -> (f32, f32, i32, i32) {
  %0 = arith.uitofp %a : i32 to f32
  %1 = arith.sitofp %a : i32 to f32
  %2 = arith.fptoui %b : f32 to i32
  %3 = arith.fptosi %b : f32 to i32
  return %0, %1, %2, %3 : f32, f32, i32, i32
}
func.func @others(%a: i32, %b: f32, %c: index) -> (index, index, i16, f32, i32) {
  %0 = arith.index_cast %a : i32 to index
  %1 = arith.index_castui %a : i32 to index
  %2 = arith.index_cast %c : index to i16
  %3 = arith.bitcast %a : i32 to f32
  %4 = arith.bitcast %b : f32 to i32
  return %0, %1, %2, %3, %4 : index, index, i16, f32, i32
}
