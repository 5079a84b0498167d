func.func @main(%image: tensor<?x3x?x?xf32> {graph.name = "image"}) -> tensor<?x?xf32> {
  %0 = graph.relu %image : tensor<?x3x?x?xf32>
  %batch = graph.shape %0 {start = 0 : i64, end = 1 : i64} : (tensor<?x3x?x?xf32>) -> tensor<1xi64>
  %rest = graph.constant dense<-1> : tensor<1xi64>
  %to = graph.concat %batch, %rest {axis = 0 : i64} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %1 = graph.reshape %0, %to : (tensor<?x3x?x?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}
