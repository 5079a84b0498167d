// RUN: gradus opt %s --canonicalize

func.func @same_type(%arg0: vector<4xf32>) -> vector<4xf32> {
  %0 = vector.broadcast %arg0 : vector<4xf32> to vector<4xf32>
  return %0 : vector<4xf32>
}
func.func @constant() -> vector<4xf32> {
  %cst = arith.constant 1.000000e+00 : f32
  %0 = vector.broadcast %cst : f32 to vector<4xf32>
  return %0 : vector<4xf32>
}
func.func @broadcast_of_broadcast(%arg0: f32) -> vector<2x4xf32> {
  %0 = vector.broadcast %arg0 : f32 to vector<4xf32>
  %1 = vector.broadcast %0 : vector<4xf32> to vector<2x4xf32>
  return %1 : vector<2x4xf32>
}
func.func @leading_unit_dim_stays(%arg0: vector<4xf32>) -> vector<1x4xf32> {
  %0 = vector.broadcast %arg0 : vector<4xf32> to vector<1x4xf32>
  return %0 : vector<1x4xf32>
}
func.func @constant_row() -> vector<2x4xf32> {
  %cst = arith.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]> : vector<4xf32>
  %0 = vector.broadcast %cst : vector<4xf32> to vector<2x4xf32>
  return %0 : vector<2x4xf32>
}
func.func @poison() -> vector<2x4xf32> {
  %0 = ub.poison : vector<4xf32>
  %1 = vector.broadcast %0 : vector<4xf32> to vector<2x4xf32>
  return %1 : vector<2x4xf32>
}
func.func @broadcast_of_shape_cast_of_same_type(%arg0: vector<4xf32>) -> vector<1x4xf32> {
  %0 = vector.shape_cast %arg0 : vector<4xf32> to vector<1x4xf32>
  %1 = vector.broadcast %0 : vector<1x4xf32> to vector<1x4xf32>
  return %1 : vector<1x4xf32>
}
func.func @broadcast_of_shape_cast(%arg0: vector<4xf32>) -> vector<2x4xf32> {
  %0 = vector.shape_cast %arg0 : vector<4xf32> to vector<1x4xf32>
  %1 = vector.broadcast %0 : vector<1x4xf32> to vector<2x4xf32>
  return %1 : vector<2x4xf32>
}
