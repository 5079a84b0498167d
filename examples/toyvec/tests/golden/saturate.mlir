// RUN: toyvec opt %s --saturate=target=toyvec
// A product and a sum are one instruction, where both are vectors of the machine.
func.func @vectors(%x: tensor<16xf32>, %y: tensor<16xf32>, %z: tensor<16xf32>) -> tensor<16xf32> {
  %0 = graph.mul %x, %y : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %1 = graph.add %0, %z : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  return %1 : tensor<16xf32>
}

func.func @matrices(%x: tensor<2x8xf32>, %y: tensor<2x8xf32>, %z: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %0 = graph.mul %x, %y : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %1 = graph.add %0, %z : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %1 : tensor<2x8xf32>
}
