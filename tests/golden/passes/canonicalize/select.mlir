// RUN: gradus opt %s --canonicalize

func.func @known(%a: i32, %b: i32, %c: i1) -> (i32, i32, i32) {
  %t = arith.constant true
  %f = arith.constant false
  %0 = arith.select %t, %a, %b : i32
  %1 = arith.select %f, %a, %b : i32
  %2 = arith.select %c, %a, %a : i32
  return %0, %1, %2 : i32, i32, i32
}
func.func @vectors(%a: vector<2xi8>, %b: vector<2xi8>) -> (vector<2xi8>, vector<2xi8>) {
  %t = arith.constant dense<true> : vector<2xi1>
  %m = arith.constant dense<[true, false]> : vector<2xi1>
  %0 = arith.select %t, %a, %b : vector<2xi1>, vector<2xi8>
  %1 = arith.select %m, %a, %b : vector<2xi1>, vector<2xi8>
  return %0, %1 : vector<2xi8>, vector<2xi8>
}
