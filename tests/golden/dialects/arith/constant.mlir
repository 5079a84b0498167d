// RUN: gradus opt %s

func.func @constants() {
  %a = arith.constant 42 : i32
  %b = arith.constant -1 : i64
  %c = arith.constant true
  %d = arith.constant false
  %e = arith.constant 7 : index
  %f = arith.constant 1.5 : f32
  %g = arith.constant 0x7FF0000000000000 : f64
  %h = arith.constant dense<[1, 2]> : tensor<2xi32>
  %i = arith.constant dense<0.0> : vector<4xf16>
  %j = arith.constant {x.note = "attr"} 1 : i8
  %k = arith.constant 170141183460469231731687303715884105727 : i128
  %l = arith.constant 42 : i32
  return
}
