// RUN: gradus opt %s --canonicalize

#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0) -> ()>
func.func @one_element(%arg0: vector<1xf32>) -> f32 {
  %0 = vector.reduction <add>, %arg0 : vector<1xf32> into f32
  return %0 : f32
}
func.func @one_element_and_acc(%arg0: vector<1xf32>, %arg1: f32) -> f32 {
  %0 = vector.reduction <add>, %arg0, %arg1 : vector<1xf32> into f32
  return %0 : f32
}
func.func @unit_dim(%arg0: vector<1x4xf32>, %arg1: vector<4xf32>) -> vector<4xf32> {
  %0 = vector.multi_reduction <add>, %arg0, %arg1 [0] : vector<1x4xf32> to vector<4xf32>
  return %0 : vector<4xf32>
}
func.func @unit_dims(%arg0: vector<1x1xf32>, %arg1: f32) -> f32 {
  %0 = vector.multi_reduction <mul>, %arg0, %arg1 [0, 1] : vector<1x1xf32> to f32
  return %0 : f32
}
func.func @no_dims(%arg0: vector<4xf32>, %arg1: vector<4xf32>) -> vector<4xf32> {
  %0 = vector.multi_reduction <add>, %arg0, %arg1 [] : vector<4xf32> to vector<4xf32>
  return %0 : vector<4xf32>
}
func.func @sum_of_contract(%arg0: vector<4xi32>, %arg1: vector<4xi32>, %arg2: i32) -> i32 {
  %c0_i32 = arith.constant 0 : i32
  %0 = vector.contract {indexing_maps = [#map, #map, #map1], iterator_types = ["reduction"], kind = #vector.kind<add>} %arg0, %arg1, %c0_i32 : vector<4xi32>, vector<4xi32> into i32
  %1 = arith.addi %0, %arg2 : i32
  return %1 : i32
}
// A float kind of integers has no op.
func.func @float_kind_of_integers(%arg0: vector<4xi8>, %arg1: vector<4xi8>) -> vector<4xi8> {
  %0 = vector.multi_reduction <minimumf>, %arg0, %arg1 [] : vector<4xi8> to vector<4xi8>
  return %0 : vector<4xi8>
}
