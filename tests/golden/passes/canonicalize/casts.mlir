// RUN: gradus opt %s --canonicalize

func.func @constants() -> (i32, i32, f32, f32, i8, index, f16) {
  %a = arith.constant -1 : i8
  %0 = arith.extui %a : i8 to i32
  %1 = arith.extsi %a : i8 to i32
  %2 = arith.sitofp %0 : i32 to f32
  %3 = arith.uitofp %a : i8 to f32
  %4 = arith.fptosi %2 : f32 to i8
  %5 = arith.index_cast %a : i8 to index
  %6 = arith.truncf %2 : f32 to f16
  return %0, %1, %2, %3, %4, %5, %6 : i32, i32, f32, f32, i8, index, f16
}
func.func @bits(%a: i32) -> i32 {
  %0 = arith.bitcast %a : i32 to i32
  return %0 : i32
}
