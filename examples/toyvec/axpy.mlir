func.func @main(%a: tensor<20xf32>, %x: tensor<20xf32>, %y: tensor<20xf32>) -> tensor<20xf32> {
  %0 = graph.mul %a, %x : (tensor<20xf32>, tensor<20xf32>) -> tensor<20xf32>
  %1 = graph.add %0, %y : (tensor<20xf32>, tensor<20xf32>) -> tensor<20xf32>
  %2 = graph.mul %1, %1 : (tensor<20xf32>, tensor<20xf32>) -> tensor<20xf32>
  return %2 : tensor<20xf32>
}
