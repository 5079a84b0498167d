func.func @main(%x: tensor<6x4xf32>, %y: tensor<4xf32>) -> tensor<6x8xf32> {
  %0 = graph.add %x, %y : (tensor<6x4xf32>, tensor<4xf32>) -> tensor<6x4xf32> loc("shift")
  %1 = graph.relu %0 : tensor<6x4xf32> loc("relu")
  %2 = graph.neg %1 : tensor<6x4xf32> loc("left")
  %3 = graph.sqrt %1 : tensor<6x4xf32> loc("right")
  %4 = graph.concat %2, %3 {axis = 1 : i64} : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x8xf32> loc("both")
  %5 = graph.exp %4 : tensor<6x8xf32> loc("exp")
  return %5 : tensor<6x8xf32>
}
