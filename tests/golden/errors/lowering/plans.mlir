// RUN: gradus opt %s --convert-matmul-to-nna

// Plans that the machine does not have for a product are refused.
func.func @resident(%a: tensor<4x18xi8>, %b: tensor<18x64xi8>) -> tensor<4x64xi32> {
  // expected-error@+1 {{the plans for 'graph.matmul_integer' are not possible: plans that the machine does not have for it}}
  %0 = graph.matmul_integer %a, %b {nna.plans = [#nna.plan<"diagonal", resident = 100>]} : (tensor<4x18xi8>, tensor<18x64xi8>) -> tensor<4x64xi32>
  return %0 : tensor<4x64xi32>
}

// -----

func.func @count(%a: tensor<4x18xi8>, %b: tensor<18x64xi8>) -> tensor<4x64xi32> {
  // expected-error@+1 {{the plans for 'graph.matmul_integer' are not possible: plans that the machine does not have for it}}
  %0 = graph.matmul_integer %a, %b {nna.plans = [#nna.plan<"dense">, #nna.plan<"dense">]} : (tensor<4x18xi8>, tensor<18x64xi8>) -> tensor<4x64xi32>
  return %0 : tensor<4x64xi32>
}

// -----

func.func @other(%a: tensor<4x18xi8>, %b: tensor<18x64xi8>) -> tensor<4x64xi32> {
  // expected-error@+1 {{the plans for 'graph.matmul_integer' are not possible: plans other than '#nna.plan'}}
  %0 = graph.matmul_integer %a, %b {nna.plans = ["dense"]} : (tensor<4x18xi8>, tensor<18x64xi8>) -> tensor<4x64xi32>
  return %0 : tensor<4x64xi32>
}
