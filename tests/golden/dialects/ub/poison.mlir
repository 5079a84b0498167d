// RUN: gradus opt %s

func.func @poison() -> (i32, complex<f32>, vector<4xi64>, tensor<8x?xf64>) {
  %0 = ub.poison : i32
  %1 = ub.poison <#ub.poison> : complex<f32>
  %2 = "ub.poison"() : () -> vector<4xi64>
  %3 = "ub.poison"() <{value = #ub.poison}> {note} : () -> tensor<8x?xf64>
  return %0, %1, %2, %3 : i32, complex<f32>, vector<4xi64>, tensor<8x?xf64>
}

func.func @unused_poison(%x: i32) -> i32 {
  %0 = ub.poison : i32
  %1 = arith.addi %0, %x : i32
  return %x : i32
}
