// RUN: gradus opt %s --canonicalize

func.func @taken_apart_and_put_together(%arg0: vector<2x2xf32>) -> vector<2x2xf32> {
  %0:4 = vector.to_elements %arg0 : vector<2x2xf32>
  %1 = vector.from_elements %0#0, %0#1, %0#2, %0#3 : vector<2x2xf32>
  return %1 : vector<2x2xf32>
}
func.func @one_scalar(%arg0: f32) -> vector<3xf32> {
  %0 = vector.from_elements %arg0, %arg0, %arg0 : vector<3xf32>
  return %0 : vector<3xf32>
}
func.func @put_together_and_taken_apart(%arg0: f32, %arg1: f32) -> (f32, f32) {
  %0 = vector.from_elements %arg0, %arg1 : vector<2xf32>
  %1:2 = vector.to_elements %0 : vector<2xf32>
  return %1#1, %1#0 : f32, f32
}
func.func @constants() -> vector<2xf32> {
  %cst = arith.constant 1.000000e+00 : f32
  %cst_0 = arith.constant 2.000000e+00 : f32
  %0 = vector.from_elements %cst, %cst_0 : vector<2xf32>
  return %0 : vector<2xf32>
}
func.func @extracts_apart_stay(%arg0: vector<4xf32>) -> vector<2xf32> {
  %0 = vector.extract %arg0[1] : f32 from vector<4xf32>
  %1 = vector.extract %arg0[2] : f32 from vector<4xf32>
  %2 = vector.from_elements %0, %1 : vector<2xf32>
  return %2 : vector<2xf32>
}
func.func @extracts_of_all(%arg0: vector<2xf32>) -> vector<2xf32> {
  %0 = vector.extract %arg0[0] : f32 from vector<2xf32>
  %1 = vector.extract %arg0[1] : f32 from vector<2xf32>
  %2 = vector.from_elements %0, %1 : vector<2xf32>
  return %2 : vector<2xf32>
}
func.func @extracts_of_a_row(%arg0: vector<2x2xf32>) -> vector<2xf32> {
  %0 = vector.extract %arg0[1, 0] : f32 from vector<2x2xf32>
  %1 = vector.extract %arg0[1, 1] : f32 from vector<2x2xf32>
  %2 = vector.from_elements %0, %1 : vector<2xf32>
  return %2 : vector<2xf32>
}
func.func @elements_of_broadcast_of_scalar(%arg0: f32) -> (f32, f32) {
  %0 = vector.broadcast %arg0 : f32 to vector<2xf32>
  %1:2 = vector.to_elements %0 : vector<2xf32>
  return %1#1, %1#0 : f32, f32
}
func.func @elements_of_broadcast(%arg0: vector<2xf32>) -> (f32, f32) {
  %0 = vector.broadcast %arg0 : vector<2xf32> to vector<2x2xf32>
  %1:4 = vector.to_elements %0 : vector<2x2xf32>
  return %1#1, %1#2 : f32, f32
}
func.func @under_another_shape(%arg0: vector<2x2xf32>) -> vector<4xf32> {
  %0:4 = vector.to_elements %arg0 : vector<2x2xf32>
  %1 = vector.from_elements %0#0, %0#1, %0#2, %0#3 : vector<4xf32>
  return %1 : vector<4xf32>
}
func.func @one_element(%arg0: f32) -> vector<1xf32> {
  %0 = vector.from_elements %arg0 : vector<1xf32>
  return %0 : vector<1xf32>
}
func.func @elements_of_constant_stay() -> (f32, f32) {
  %cst = arith.constant dense<[1.000000e+00, 2.000000e+00]> : vector<2xf32>
  %0:2 = vector.to_elements %cst : vector<2xf32>
  return %0#0, %0#1 : f32, f32
}
