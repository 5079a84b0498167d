// RUN: gradus opt %s --canonicalize

func.func @all_elements(%arg0: f32, %arg1: f32) -> vector<2xf32> {
  %0 = ub.poison : vector<2xf32>
  %1 = vector.insert %arg0, %0 [0] : f32 into vector<2xf32>
  %2 = vector.insert %arg1, %1 [1] : f32 into vector<2xf32>
  return %2 : vector<2xf32>
}
func.func @no_position(%arg0: vector<2x3xf32>, %arg1: vector<2x3xf32>) -> vector<2x3xf32> {
  %0 = vector.insert %arg0, %arg1 [] : vector<2x3xf32> into vector<2x3xf32>
  return %0 : vector<2x3xf32>
}
func.func @only_element_of_poison(%arg0: f32) -> vector<1xf32> {
  %0 = ub.poison : vector<1xf32>
  %1 = vector.insert %arg0, %0 [0] : f32 into vector<1xf32>
  return %1 : vector<1xf32>
}
func.func @only_element(%arg0: f32, %arg1: vector<1xf32>) -> vector<1xf32> {
  %0 = vector.insert %arg0, %arg1 [0] : f32 into vector<1xf32>
  return %0 : vector<1xf32>
}
func.func @same_scalar(%arg0: f32) -> vector<4xf32> {
  %0 = vector.broadcast %arg0 : f32 to vector<4xf32>
  %1 = vector.insert %arg0, %0 [0] : f32 into vector<4xf32>
  return %1 : vector<4xf32>
}
func.func @same_row(%arg0: f32) -> vector<2x2xf32> {
  %0 = vector.broadcast %arg0 : f32 to vector<2x2xf32>
  %1 = vector.broadcast %arg0 : f32 to vector<2xf32>
  %2 = vector.insert %1, %0 [0] : vector<2xf32> into vector<2x2xf32>
  return %2 : vector<2x2xf32>
}
func.func @constants() -> vector<3xi32> {
  %cst = arith.constant dense<[1, 2, 3]> : vector<3xi32>
  %c9_i32 = arith.constant 9 : i32
  %0 = vector.insert %c9_i32, %cst [1] : i32 into vector<3xi32>
  return %0 : vector<3xi32>
}
func.func @insert_over_insert(%arg0: f32, %arg1: f32, %arg2: vector<4xf32>) -> vector<4xf32> {
  %0 = vector.insert %arg0, %arg2 [1] : f32 into vector<4xf32>
  %1 = vector.insert %arg1, %0 [1] : f32 into vector<4xf32>
  return %1 : vector<4xf32>
}
func.func @poison_position(%arg0: f32, %arg1: vector<4xf32>) -> vector<4xf32> {
  %0 = vector.insert %arg0, %arg1 [-1] : f32 into vector<4xf32>
  return %0 : vector<4xf32>
}
func.func @poison_element_stays(%arg0: vector<4xf32>) -> vector<4xf32> {
  %0 = ub.poison : f32
  %1 = vector.insert %0, %arg0 [1] : f32 into vector<4xf32>
  return %1 : vector<4xf32>
}
func.func @constant_position(%arg0: vector<4xf32>, %arg1: f32) -> vector<4xf32> {
  %c1 = arith.constant 1 : index
  %0 = vector.insert %arg1, %arg0 [%c1] : f32 into vector<4xf32>
  return %0 : vector<4xf32>
}
func.func @insert_of_extract(%arg0: vector<4xf32>) -> vector<4xf32> {
  %0 = vector.extract %arg0[1] : f32 from vector<4xf32>
  %1 = vector.insert %0, %arg0 [1] : f32 into vector<4xf32>
  return %1 : vector<4xf32>
}
func.func @all_rows(%arg0: vector<2xf32>, %arg1: vector<2xf32>) -> vector<2x2xf32> {
  %0 = ub.poison : vector<2x2xf32>
  %1 = vector.insert %arg0, %0 [0] : vector<2xf32> into vector<2x2xf32>
  %2 = vector.insert %arg1, %1 [1] : vector<2xf32> into vector<2x2xf32>
  return %2 : vector<2x2xf32>
}
func.func @only_row(%arg0: vector<2xf32>) -> vector<1x2xf32> {
  %0 = ub.poison : vector<1x2xf32>
  %1 = vector.insert %arg0, %0 [0] : vector<2xf32> into vector<1x2xf32>
  return %1 : vector<1x2xf32>
}
func.func @scalable_whole(%arg0: vector<[4]xf32>, %arg1: vector<4xf32>) -> vector<4xf32> {
  %0 = vector.insert %arg0, %arg1 [] : vector<[4]xf32> into vector<4xf32>
  return %0 : vector<4xf32>
}
