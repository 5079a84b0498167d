// RUN: gradus opt %s --canonicalize

func.func @identity(%arg0: vector<4x2xf32>) -> vector<4x2xf32> {
  %0 = vector.transpose %arg0, [0, 1] : vector<4x2xf32> to vector<4x2xf32>
  return %0 : vector<4x2xf32>
}
func.func @there_and_back(%arg0: vector<4x2xf32>) -> vector<4x2xf32> {
  %0 = vector.transpose %arg0, [1, 0] : vector<4x2xf32> to vector<2x4xf32>
  %1 = vector.transpose %0, [1, 0] : vector<2x4xf32> to vector<4x2xf32>
  return %1 : vector<4x2xf32>
}
func.func @transpose_of_transpose(%arg0: vector<4x2x3xf32>) -> vector<3x4x2xf32> {
  %0 = vector.transpose %arg0, [1, 2, 0] : vector<4x2x3xf32> to vector<2x3x4xf32>
  %1 = vector.transpose %0, [1, 2, 0] : vector<2x3x4xf32> to vector<3x4x2xf32>
  return %1 : vector<3x4x2xf32>
}
func.func @splat() -> vector<2x4xf32> {
  %cst = arith.constant dense<1.000000e+00> : vector<4x2xf32>
  %0 = vector.transpose %cst, [1, 0] : vector<4x2xf32> to vector<2x4xf32>
  return %0 : vector<2x4xf32>
}
func.func @of_broadcast_of_scalar(%arg0: f32) -> vector<2x4xf32> {
  %0 = vector.broadcast %arg0 : f32 to vector<4x2xf32>
  %1 = vector.transpose %0, [1, 0] : vector<4x2xf32> to vector<2x4xf32>
  return %1 : vector<2x4xf32>
}
func.func @of_broadcast_stays(%arg0: vector<2xf32>) -> vector<2x4xf32> {
  %0 = vector.broadcast %arg0 : vector<2xf32> to vector<4x2xf32>
  %1 = vector.transpose %0, [1, 0] : vector<4x2xf32> to vector<2x4xf32>
  return %1 : vector<2x4xf32>
}
func.func @of_leading_dims_of_broadcast(%arg0: vector<2xf32>) -> vector<3x4x2xf32> {
  %0 = vector.broadcast %arg0 : vector<2xf32> to vector<4x3x2xf32>
  %1 = vector.transpose %0, [1, 0, 2] : vector<4x3x2xf32> to vector<3x4x2xf32>
  return %1 : vector<3x4x2xf32>
}
func.func @unit_dim_stays(%arg0: vector<4x1xf32>) -> vector<1x4xf32> {
  %0 = vector.transpose %arg0, [1, 0] : vector<4x1xf32> to vector<1x4xf32>
  return %0 : vector<1x4xf32>
}
func.func @of_shape_cast(%arg0: vector<4xf32>) -> vector<1x4xf32> {
  %0 = vector.shape_cast %arg0 : vector<4xf32> to vector<4x1xf32>
  %1 = vector.transpose %0, [1, 0] : vector<4x1xf32> to vector<1x4xf32>
  return %1 : vector<1x4xf32>
}
func.func @of_mask(%arg0: index, %arg1: index) -> vector<2x4xi1> {
  %0 = vector.create_mask %arg0, %arg1 : vector<4x2xi1>
  %1 = vector.transpose %0, [1, 0] : vector<4x2xi1> to vector<2x4xi1>
  return %1 : vector<2x4xi1>
}
func.func @of_constant_mask() -> vector<2x4xi1> {
  %0 = vector.constant_mask [3, 1] : vector<4x2xi1>
  %1 = vector.transpose %0, [1, 0] : vector<4x2xi1> to vector<2x4xi1>
  return %1 : vector<2x4xi1>
}
func.func @of_elements(%arg0: f32, %arg1: f32) -> vector<2x2xf32> {
  %0 = vector.from_elements %arg0, %arg1, %arg1, %arg1 : vector<2x2xf32>
  %1 = vector.transpose %0, [1, 0] : vector<2x2xf32> to vector<2x2xf32>
  return %1 : vector<2x2xf32>
}
func.func @constant() -> vector<2x2xi32> {
  %cst = arith.constant dense<[[1, 2], [3, 4]]> : vector<2x2xi32>
  %0 = vector.transpose %cst, [1, 0] : vector<2x2xi32> to vector<2x2xi32>
  return %0 : vector<2x2xi32>
}
func.func @poison() -> vector<2x2xi32> {
  %0 = ub.poison : vector<2x2xi32>
  %1 = vector.transpose %0, [1, 0] : vector<2x2xi32> to vector<2x2xi32>
  return %1 : vector<2x2xi32>
}
func.func @of_stretched_broadcast_stays(%arg0: vector<1x4xf32>) -> vector<4x3xf32> {
  %0 = vector.broadcast %arg0 : vector<1x4xf32> to vector<3x4xf32>
  %1 = vector.transpose %0, [1, 0] : vector<3x4xf32> to vector<4x3xf32>
  return %1 : vector<4x3xf32>
}
