// RUN: gradus opt %s --saturate="target=flops rules=sparse-elementwise floats=approx"

// Half of the constant is zero: other elements are not computed.
func.func @f(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %a = arith.constant dense<[0.0, 2.0, 0.0, -3.0]> : tensor<4xf32>
  %0 = graph.mul %x, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.add %a, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.sub %x, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

func.func @dot(%x: tensor<4xf32>) -> tensor<f32> {
  %a = arith.constant dense<[0.0, 2.0, 0.0, -3.0]> : tensor<4xf32>
  %0 = sparse.dot %a, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}
