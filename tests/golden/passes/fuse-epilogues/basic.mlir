// RUN: gradus opt %s --fuse-epilogues

func.func @add_then_relu(%a: tensor<8xf32>, %b: tensor<2x4xf32>, %y: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %base = arith.constant dense<[0, 4]> : tensor<2xi32>
  %relative = arith.constant dense<[0, 1, 2, 3]> : tensor<4xi32>
  %0 = addr.gemm %a[%base + %relative], %b : (tensor<8xf32>, tensor<2xi32>, tensor<4xi32>, tensor<2x4xf32>) -> tensor<2x2xf32>
  %1 = graph.add %y, %0 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %2 = graph.relu %1 : tensor<2x2xf32>
  return %2 : tensor<2x2xf32>
}
// Clamps are merged.
func.func @clip(%a: tensor<8xf32>, %w: tensor<2x4xf32>, %c: tensor<4xf32>) -> tensor<1x4xf32> {
  %bases = arith.constant dense<[[0, -1]]> : tensor<1x2xi32>
  %low = arith.constant dense<-1.0> : tensor<f32>
  %high = arith.constant dense<6.0> : tensor<f32>
  %0 = addr.depthwise %a[%bases], %w bias %c : (tensor<8xf32>, tensor<1x2xi32>, tensor<2x4xf32>, tensor<4xf32>) -> tensor<1x4xf32>
  %1 = graph.relu %0 : tensor<1x4xf32>
  %2 = graph.clip %1 min %low max %high : (tensor<1x4xf32>, tensor<f32>, tensor<f32>) -> tensor<1x4xf32>
  return %2 : tensor<1x4xf32>
}
// Not fused: results with other uses, broadcast operands, and additions after the clamp.
func.func @not_fused(%a: tensor<8xf32>, %b: tensor<2x4xf32>, %y: tensor<2xf32>, %z: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
  %bases = arith.constant dense<[[0], [4]]> : tensor<2x1xi32>
  %0 = addr.indirect_gemm %a[%bases] run 4, %b : (tensor<8xf32>, tensor<2x1xi32>, tensor<2x4xf32>) -> tensor<2x2xf32>
  %1 = graph.relu %0 : tensor<2x2xf32>
  %2 = addr.indirect_gemm %a[%bases] run 4, %b : (tensor<8xf32>, tensor<2x1xi32>, tensor<2x4xf32>) -> tensor<2x2xf32>
  %3 = graph.add %2, %y : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  %4 = addr.indirect_gemm %a[%bases] run 4, %b {low = 0.0 : f32} : (tensor<8xf32>, tensor<2x1xi32>, tensor<2x4xf32>) -> tensor<2x2xf32>
  %5 = graph.add %4, %z : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0, %1, %3, %5 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
}
// A relu of concatenated products is fused into each product.
func.func @relu_of_concat(%a: tensor<4xf32>, %b: tensor<2x1xf32>, %c: tensor<3x1xf32>) -> tensor<4x5xf32> {
  %base = arith.constant dense<[0, 1, 2, 3]> : tensor<4xi32>
  %relative = arith.constant dense<[0]> : tensor<1xi32>
  %0 = addr.gemm %a[%base + %relative], %b : (tensor<4xf32>, tensor<4xi32>, tensor<1xi32>, tensor<2x1xf32>) -> tensor<4x2xf32>
  %1 = addr.gemm %a[%base + %relative], %c : (tensor<4xf32>, tensor<4xi32>, tensor<1xi32>, tensor<3x1xf32>) -> tensor<4x3xf32>
  %2 = graph.concat %0, %1 {axis = 1 : i64} : (tensor<4x2xf32>, tensor<4x3xf32>) -> tensor<4x5xf32>
  %3 = graph.relu %2 : tensor<4x5xf32>
  return %3 : tensor<4x5xf32>
}
// Behind a reshape: the residual is reshaped instead.
func.func @behind_a_reshape(%a: tensor<8xf32>, %b: tensor<2x4xf32>, %y: tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32> {
  %base = arith.constant dense<[0, 4]> : tensor<2xi32>
  %relative = arith.constant dense<[0, 1, 2, 3]> : tensor<4xi32>
  %shape = arith.constant dense<[1, 2, 1, 2]> : tensor<4xi64>
  %0 = addr.gemm %a[%base + %relative], %b : (tensor<8xf32>, tensor<2xi32>, tensor<4xi32>, tensor<2x4xf32>) -> tensor<2x2xf32>
  %1 = graph.reshape %0, %shape : (tensor<2x2xf32>, tensor<4xi64>) -> tensor<1x2x1x2xf32>
  %2 = graph.sum %1, %y : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
  %3 = graph.relu %2 : tensor<1x2x1x2xf32>
  return %3 : tensor<1x2x1x2xf32>
}
// Hard swish, and a factor and an addend after it; nothing after these.
func.func @activation(%a: tensor<8xf32>, %w: tensor<2x4xf32>, %y: tensor<1x4xf32>) -> (tensor<1x4xf32>, tensor<1x4xf32>) {
  %bases = arith.constant dense<[[0, -1]]> : tensor<1x2xi32>
  %factor = arith.constant dense<0.5> : tensor<f32>
  %addend = arith.constant dense<-1.0> : tensor<1xf32>
  %0 = addr.depthwise %a[%bases], %w : (tensor<8xf32>, tensor<1x2xi32>, tensor<2x4xf32>) -> tensor<1x4xf32>
  %1 = graph.relu %0 : tensor<1x4xf32>
  %2 = graph.hard_swish %1 : tensor<1x4xf32>
  %3 = graph.mul %factor, %2 : (tensor<f32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  %4 = graph.add %3, %addend : (tensor<1x4xf32>, tensor<1xf32>) -> tensor<1x4xf32>
  %5 = addr.depthwise %a[%bases], %w {activation = "hard_swish"} : (tensor<8xf32>, tensor<1x2xi32>, tensor<2x4xf32>) -> tensor<1x4xf32>
  %6 = graph.add %5, %y : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  return %4, %6 : tensor<1x4xf32>, tensor<1x4xf32>
}
// A function of one operand moves before reshapes, transpositions and slices.
func.func @behind_movement(%a: tensor<8xf32>, %b: tensor<2x4xf32>) -> tensor<1x2x1x1xf32> {
  %base = arith.constant dense<[0, 4]> : tensor<2xi32>
  %relative = arith.constant dense<[0, 1, 2, 3]> : tensor<4xi32>
  %shape = arith.constant dense<[1, 2, 1, 2]> : tensor<4xi64>
  %start = arith.constant dense<1> : tensor<1xi64>
  %end = arith.constant dense<2> : tensor<1xi64>
  %axis = arith.constant dense<3> : tensor<1xi64>
  %0 = addr.gemm %a[%base + %relative], %b : (tensor<8xf32>, tensor<2xi32>, tensor<4xi32>, tensor<2x4xf32>) -> tensor<2x2xf32>
  %1 = graph.reshape %0, %shape : (tensor<2x2xf32>, tensor<4xi64>) -> tensor<1x2x1x2xf32>
  %2 = graph.transpose %1 {perm = array<i64: 0, 3, 2, 1>} : (tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
  %3 = graph.slice %2, %start, %end axes %axis : (tensor<1x2x1x2xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x1x1xf32>
  %4 = graph.relu %3 : tensor<1x2x1x1xf32>
  return %4 : tensor<1x2x1x1xf32>
}
