// RUN: gradus opt %s --canonicalize

func.func @there_and_back(%arg0: vector<4xf32>) -> vector<4xf32> {
  %0 = vector.shape_cast %arg0 : vector<4xf32> to vector<2x2xf32>
  %1 = vector.shape_cast %0 : vector<2x2xf32> to vector<4xf32>
  return %1 : vector<4xf32>
}
func.func @shape_cast_of_shape_cast(%arg0: vector<4xf32>) -> vector<4x1xf32> {
  %0 = vector.shape_cast %arg0 : vector<4xf32> to vector<2x2xf32>
  %1 = vector.shape_cast %0 : vector<2x2xf32> to vector<4x1xf32>
  return %1 : vector<4x1xf32>
}
func.func @constant() -> vector<4xf32> {
  %cst = arith.constant dense<[[1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00]]> : vector<2x2xf32>
  %0 = vector.shape_cast %cst : vector<2x2xf32> to vector<4xf32>
  return %0 : vector<4xf32>
}
func.func @of_broadcast_of_scalar(%arg0: f32) -> vector<4xf32> {
  %0 = vector.broadcast %arg0 : f32 to vector<2x2xf32>
  %1 = vector.shape_cast %0 : vector<2x2xf32> to vector<4xf32>
  return %1 : vector<4xf32>
}
func.func @of_broadcast_to_unit_dim(%arg0: vector<4xf32>) -> vector<4xf32> {
  %0 = vector.broadcast %arg0 : vector<4xf32> to vector<1x4xf32>
  %1 = vector.shape_cast %0 : vector<1x4xf32> to vector<4xf32>
  return %1 : vector<4xf32>
}
func.func @of_broadcast_of_vector(%arg0: vector<4xf32>) -> vector<3x4xf32> {
  %0 = vector.broadcast %arg0 : vector<4xf32> to vector<1x3x4xf32>
  %1 = vector.shape_cast %0 : vector<1x3x4xf32> to vector<3x4xf32>
  return %1 : vector<3x4xf32>
}
func.func @of_elements(%arg0: f32, %arg1: f32) -> vector<2xf32> {
  %0 = vector.from_elements %arg0, %arg1 : vector<1x2xf32>
  %1 = vector.shape_cast %0 : vector<1x2xf32> to vector<2xf32>
  return %1 : vector<2xf32>
}
func.func @of_unknown_mask_stays(%arg0: index) -> vector<4xi1> {
  %0 = vector.create_mask %arg0, %arg0 : vector<4x1xi1>
  %1 = vector.shape_cast %0 : vector<4x1xi1> to vector<4xi1>
  return %1 : vector<4xi1>
}
func.func @of_mask(%arg0: index) -> vector<4xi1> {
  %c1 = arith.constant 1 : index
  %0 = vector.create_mask %arg0, %c1 : vector<4x1xi1>
  %1 = vector.shape_cast %0 : vector<4x1xi1> to vector<4xi1>
  return %1 : vector<4xi1>
}
func.func @of_constant_mask(%arg0: index) -> vector<4xi1> {
  %0 = vector.constant_mask [2, 1] : vector<4x1xi1>
  %1 = vector.shape_cast %0 : vector<4x1xi1> to vector<4xi1>
  return %1 : vector<4xi1>
}
func.func @poison() -> vector<4xi1> {
  %0 = ub.poison : vector<4x1xi1>
  %1 = vector.shape_cast %0 : vector<4x1xi1> to vector<4xi1>
  return %1 : vector<4xi1>
}
func.func @of_transpose_of_unit_dim(%arg0: vector<4x1xf32>) -> vector<4xf32> {
  %0 = vector.transpose %arg0, [1, 0] : vector<4x1xf32> to vector<1x4xf32>
  %1 = vector.shape_cast %0 : vector<1x4xf32> to vector<4xf32>
  return %1 : vector<4xf32>
}
func.func @of_transpose_stays(%arg0: vector<4x2xf32>) -> vector<8xf32> {
  %0 = vector.transpose %arg0, [1, 0] : vector<4x2xf32> to vector<2x4xf32>
  %1 = vector.shape_cast %0 : vector<2x4xf32> to vector<8xf32>
  return %1 : vector<8xf32>
}
func.func @bitcast_of_same_type(%arg0: vector<4xf32>) -> vector<4xf32> {
  %0 = vector.bitcast %arg0 : vector<4xf32> to vector<4xf32>
  return %0 : vector<4xf32>
}
func.func @bitcast_there_and_back(%arg0: vector<4xf32>) -> vector<4xf32> {
  %0 = vector.bitcast %arg0 : vector<4xf32> to vector<4xi32>
  %1 = vector.bitcast %0 : vector<4xi32> to vector<4xf32>
  return %1 : vector<4xf32>
}
func.func @bitcast_of_bitcast(%arg0: vector<4xf32>) -> vector<8xi16> {
  %0 = vector.bitcast %arg0 : vector<4xf32> to vector<4xi32>
  %1 = vector.bitcast %0 : vector<4xi32> to vector<8xi16>
  return %1 : vector<8xi16>
}
func.func @bitcast_of_splat() -> vector<2xf32> {
  %cst = arith.constant dense<1.000000e+00> : vector<4xf16>
  %0 = vector.bitcast %cst : vector<4xf16> to vector<2xf32>
  return %0 : vector<2xf32>
}
func.func @bitcast_of_constant() -> vector<2xi32> {
  %cst = arith.constant dense<[1, 2, 3, 4]> : vector<4xi16>
  %0 = vector.bitcast %cst : vector<4xi16> to vector<2xi32>
  return %0 : vector<2xi32>
}
func.func @of_broadcast_to_unit_dims(%arg0: vector<3x4xf32>) -> vector<1x12xf32> {
  %0 = vector.broadcast %arg0 : vector<3x4xf32> to vector<1x1x3x4xf32>
  %1 = vector.shape_cast %0 : vector<1x1x3x4xf32> to vector<1x12xf32>
  return %1 : vector<1x12xf32>
}
func.func @bitcast_to_signed_stays() -> vector<2xsi16> {
  %cst = arith.constant dense<[1, -1]> : vector<2xi16>
  %0 = vector.bitcast %cst : vector<2xi16> to vector<2xsi16>
  return %0 : vector<2xsi16>
}
