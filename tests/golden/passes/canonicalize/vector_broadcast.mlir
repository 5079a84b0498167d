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
func.func @large_splat() -> (f32, vector<2xf32>, vector<4x1073741824xf32>) {
  %cst = arith.constant dense<1.0> : vector<4294967296xf32>
  %0 = vector.shape_cast %cst : vector<4294967296xf32> to vector<1073741824x4xf32>
  %1 = vector.transpose %0, [1, 0] : vector<1073741824x4xf32> to vector<4x1073741824xf32>
  %2 = vector.extract %1[3, 5] : f32 from vector<4x1073741824xf32>
  %3 = vector.extract_strided_slice %cst {offsets = [7], sizes = [2], strides = [1]} : vector<4294967296xf32> to vector<2xf32>
  return %2, %3, %1 : f32, vector<2xf32>, vector<4x1073741824xf32>
}
func.func @scalable() -> (vector<[4]xi32>, vector<2x[4]xi32>) {
  %cst = arith.constant dense<7> : vector<[4]xi32>
  %0 = vector.broadcast %cst : vector<[4]xi32> to vector<2x[4]xi32>
  return %cst, %0 : vector<[4]xi32>, vector<2x[4]xi32>
}
