// RUN: gradus opt %s --choose-plans=report=true

// Products get the plan of the fewest cycles. One that has a plan keeps it.
func.func @main(%a: tensor<64x288xi8>, %b: tensor<288x64xi8>, %c: tensor<2x18xi8>, %d: tensor<18x96xi8>) -> (tensor<64x64xi32>, tensor<2x96xi32>, tensor<2x96xi32>) {
  %0 = graph.matmul_integer %a, %b : (tensor<64x288xi8>, tensor<288x64xi8>) -> tensor<64x64xi32>
  %1 = graph.matmul_integer %c, %d : (tensor<2x18xi8>, tensor<18x96xi8>) -> tensor<2x96xi32>
  %2 = graph.matmul_integer %c, %d {nna.plans = [#nna.plan<"scalar">]} : (tensor<2x18xi8>, tensor<18x96xi8>) -> tensor<2x96xi32>
  return %0, %1, %2 : tensor<64x64xi32>, tensor<2x96xi32>, tensor<2x96xi32>
}
