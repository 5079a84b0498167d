// RUN: gradus opt %s

func.func @floats(%x: tensor<2x4xf32>, %w: tensor<3x4xf32>, %b: tensor<4xf32>, %r: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %bases = arith.constant dense<[[0, 4, -1], [4, 0, 4]]> : tensor<2x3xi32>
  %0 = addr.depthwise %x[%bases], %w bias %b plus %r {low = 0.0 : f32, high = 6.0 : f32} : (tensor<2x4xf32>, tensor<2x3xi32>, tensor<3x4xf32>, tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
func.func @sums(%x: tensor<2x4xui8>, %w: tensor<3x4xi8>) -> tensor<2x4xi32> {
  %bases = arith.constant dense<[[0, 4, -1], [4, 0, 4]]> : tensor<2x3xi32>
  %0 = addr.depthwise %x[%bases], %w : (tensor<2x4xui8>, tensor<2x3xi32>, tensor<3x4xi8>) -> tensor<2x4xi32>
  return %0 : tensor<2x4xi32>
}
func.func @bytes(%x: tensor<2x4xui8>, %xz: tensor<ui8>, %w: tensor<3x4xi8>, %wz: tensor<4xi8>, %b: tensor<4xi32>) -> tensor<2x4xi8> {
  %bases = arith.constant dense<[[0, 4, -1], [4, 0, 4]]> : tensor<2x3xi32>
  %scale = arith.constant dense<[0.25, 0.5, 1.0, 0.125]> : tensor<4xf32>
  %zero = arith.constant dense<3> : tensor<i8>
  %0 = addr.depthwise %x[%bases], %w a_zero %xz b_zero %wz bias %b scale %scale zero %zero : (tensor<2x4xui8>, tensor<2x3xi32>, tensor<3x4xi8>, tensor<ui8>, tensor<4xi8>, tensor<4xi32>, tensor<4xf32>, tensor<i8>) -> tensor<2x4xi8>
  return %0 : tensor<2x4xi8>
}
