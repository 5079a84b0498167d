// RUN: gradus opt %s --canonicalize

func.func @first_in_order(%arg0: vector<4xf32>) -> vector<4xf32> {
  %0 = vector.shuffle %arg0, %arg0 [0, 1, 2, 3] : vector<4xf32>, vector<4xf32>
  return %0 : vector<4xf32>
}
func.func @second_in_order(%arg0: vector<4xf32>, %arg1: vector<2xf32>) -> vector<2xf32> {
  %0 = vector.shuffle %arg0, %arg1 [4, 5] : vector<4xf32>, vector<2xf32>
  return %0 : vector<2xf32>
}
func.func @constants() -> vector<2xf32> {
  %cst = arith.constant dense<[1.000000e+00, 2.000000e+00]> : vector<2xf32>
  %cst_0 = arith.constant dense<[3.000000e+00, 4.000000e+00]> : vector<2xf32>
  %0 = vector.shuffle %cst, %cst_0 [3, 0] : vector<2xf32>, vector<2xf32>
  return %0 : vector<2xf32>
}
func.func @one_scalar(%arg0: f32) -> vector<3xf32> {
  %0 = vector.broadcast %arg0 : f32 to vector<2xf32>
  %1 = vector.shuffle %0, %0 [3, 0, 1] : vector<2xf32>, vector<2xf32>
  return %1 : vector<3xf32>
}
func.func @to_interleave(%arg0: vector<2xf32>, %arg1: vector<2xf32>) -> vector<4xf32> {
  %0 = vector.shuffle %arg0, %arg1 [0, 2, 1, 3] : vector<2xf32>, vector<2xf32>
  return %0 : vector<4xf32>
}
func.func @without_dims_to_interleave(%arg0: vector<f32>, %arg1: vector<f32>) -> vector<2xf32> {
  %0 = vector.shuffle %arg0, %arg1 [0, 1] : vector<f32>, vector<f32>
  return %0 : vector<2xf32>
}
func.func @only_poison_stays(%arg0: vector<2xf32>, %arg1: vector<2xf32>) -> vector<2xf32> {
  %0 = vector.shuffle %arg0, %arg1 [-1, -1] : vector<2xf32>, vector<2xf32>
  return %0 : vector<2xf32>
}
func.func @with_poison_stays(%arg0: vector<2xf32>) -> vector<2xf32> {
  %0 = ub.poison : vector<2xf32>
  %1 = vector.shuffle %arg0, %0 [0, 3] : vector<2xf32>, vector<2xf32>
  return %1 : vector<2xf32>
}
func.func @one_element(%arg0: vector<f32>, %arg1: vector<f32>) -> vector<1xf32> {
  %0 = vector.shuffle %arg0, %arg1 [1] : vector<f32>, vector<f32>
  return %0 : vector<1xf32>
}
func.func @partly_poison_stays(%arg0: vector<2xf32>, %arg1: vector<2xf32>) -> vector<2xf32> {
  %0 = vector.shuffle %arg0, %arg1 [0, -1] : vector<2xf32>, vector<2xf32>
  return %0 : vector<2xf32>
}
func.func @swap_stays(%arg0: vector<2xf32>, %arg1: vector<2xf32>) -> vector<2xf32> {
  %0 = vector.shuffle %arg0, %arg1 [1, 0] : vector<2xf32>, vector<2xf32>
  return %0 : vector<2xf32>
}
