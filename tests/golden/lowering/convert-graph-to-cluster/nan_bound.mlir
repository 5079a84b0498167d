// RUN: gradus opt %s --convert-graph-to-cluster | FileCheck %s

// COM: The machine keeps a NaN of the operand, but would pass over one of a bound, which makes all elements NaN: the op stays.
// CHECK-LABEL: func.func @clip
// CHECK:         graph.clip
// CHECK-NOT:     cluster.call
func.func @clip(%x: tensor<1x1xf16>) -> tensor<1x1xf16> {
  %bound = graph.constant dense<0x7E00> : tensor<f16>
  %0 = graph.clip %x min %bound max %bound : (tensor<1x1xf16>, tensor<f16>, tensor<f16>) -> tensor<1x1xf16>
  return %0 : tensor<1x1xf16>
}

// CHECK-LABEL: func.func @lower
// CHECK:         graph.clip
func.func @lower(%x: tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> {
  %low = graph.constant dense<0x7FC00000> : tensor<f32>
  %0 = graph.clip %x min %low : (tensor<1x8x4x4xf32>, tensor<f32>) -> tensor<1x8x4x4xf32>
  return %0 : tensor<1x8x4x4xf32>
}

// COM: A number is no obstacle.
// CHECK-LABEL: func.func @upper
// CHECK:         cluster.call
func.func @upper(%x: tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> {
  %high = graph.constant dense<6.0> : tensor<f32>
  %0 = graph.clip %x max %high : (tensor<1x8x4x4xf32>, tensor<f32>) -> tensor<1x8x4x4xf32>
  return %0 : tensor<1x8x4x4xf32>
}
