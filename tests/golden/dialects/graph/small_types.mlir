// RUN: gradus opt %s --canonicalize

func.func @floats() -> (tensor<4xf8E4M3FN>, tensor<4xf8E5M2>, tensor<4xf32>, tensor<4xf4E2M1FN>) {
  %x = graph.constant dense<[1.0, 1000.0, -0.3, 5.0]> : tensor<4xf32>
  %0 = graph.cast %x to f8E4M3FN : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
  %1 = graph.cast %x to f8E5M2 {saturate = 0 : i64} : (tensor<4xf32>) -> tensor<4xf8E5M2>
  %2 = graph.cast %0 to f32 : (tensor<4xf8E4M3FN>) -> tensor<4xf32>
  %3 = graph.cast %x to f4E2M1FN : (tensor<4xf32>) -> tensor<4xf4E2M1FN>
  return %0, %1, %2, %3 : tensor<4xf8E4M3FN>, tensor<4xf8E5M2>, tensor<4xf32>, tensor<4xf4E2M1FN>
}
func.func @integers() -> (tensor<4xi4>, tensor<4xf32>, tensor<4xi4>, tensor<4xi4>) {
  %x = graph.constant dense<[1.0, 100.0, -0.3, -5.0]> : tensor<4xf32>
  %s = graph.constant dense<2.0> : tensor<f32>
  %z = graph.constant dense<1> : tensor<i4>
  %0 = graph.quantize_linear %x, %s, %z : (tensor<4xf32>, tensor<f32>, tensor<i4>) -> tensor<4xi4>
  %1 = graph.dequantize_linear %0, %s, %z : (tensor<4xi4>, tensor<f32>, tensor<i4>) -> tensor<4xf32>
  %2 = graph.add %0, %0 : (tensor<4xi4>, tensor<4xi4>) -> tensor<4xi4>
  %3 = arith.addi %0, %0 : tensor<4xi4>
  return %0, %1, %2, %3 : tensor<4xi4>, tensor<4xf32>, tensor<4xi4>, tensor<4xi4>
}
func.func @selected() -> (tensor<2xi8>, tensor<2xi64>, tensor<1x2xi64>) {
  %x = graph.constant dense<[3, 0, 9, 0]> : tensor<4xi8>
  %k = graph.constant dense<2> : tensor<1xi64>
  %y:2 = graph.top_k %x, %k : (tensor<4xi8>, tensor<1xi64>) -> (tensor<2xi8>, tensor<2xi64>)
  %n = graph.non_zero %x : (tensor<4xi8>) -> tensor<1x2xi64>
  return %y#0, %y#1, %n : tensor<2xi8>, tensor<2xi64>, tensor<1x2xi64>
}
