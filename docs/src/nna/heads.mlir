// Products of the heads of an attention: a batch of matrices, a call of one program each.
func.func @main(%q: tensor<1x4x16x64xi8>, %k: tensor<1x4x64x16xi8>) -> tensor<1x4x16x16xi32> {
  %0 = graph.matmul_integer %q, %k : (tensor<1x4x16x64xi8>, tensor<1x4x64x16xi8>) -> tensor<1x4x16x16xi32>
  return %0 : tensor<1x4x16x16xi32>
}
