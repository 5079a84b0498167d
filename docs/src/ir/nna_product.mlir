// A product of which the dense mapping writes one feature RAM while the engine reads the other.
func.func @main(%a: tensor<64x300xi8>, %b: tensor<300x40xi8>) -> tensor<64x40xi32> {
  %0 = graph.matmul_integer %a, %b : (tensor<64x300xi8>, tensor<300x40xi8>) -> tensor<64x40xi32>
  return %0 : tensor<64x40xi32>
}
