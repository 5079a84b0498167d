// RUN: gradus opt %s

func.func @shuffle(%a: vector<4xf32>, %b: vector<2xf32>) -> (vector<3xf32>, vector<2xf32>) {
  %0 = vector.shuffle %a, %b [0, 5, 2] : vector<4xf32>, vector<2xf32>
  %1 = vector.shuffle %a, %b [4, -1] {note} : vector<4xf32>, vector<2xf32>
  return %0, %1 : vector<3xf32>, vector<2xf32>
}
func.func @rows(%a: vector<2x3xi8>, %b: vector<1x3xi8>) -> vector<4x3xi8> {
  %0 = vector.shuffle %a, %b [2, 0, 1, 2] : vector<2x3xi8>, vector<1x3xi8>
  return %0 : vector<4x3xi8>
}
func.func @without_dims(%a: vector<f32>, %b: vector<f32>) -> vector<3xf32> {
  %0 = vector.shuffle %a, %b [1, 0, 0] : vector<f32>, vector<f32>
  return %0 : vector<3xf32>
}
func.func @interleave(%a: vector<2x3xi16>, %b: vector<2x3xi16>, %c: vector<f32>) -> (vector<2x6xi16>, vector<2xf32>) {
  %0 = vector.interleave %a, %b : vector<2x3xi16> -> vector<2x6xi16>
  %1 = vector.interleave %c, %c : vector<f32> -> vector<2xf32>
  return %0, %1 : vector<2x6xi16>, vector<2xf32>
}
func.func @deinterleave(%a: vector<2x6xi16>) -> (vector<2x3xi16>, vector<2x3xi16>) {
  %0, %1 = vector.deinterleave %a : vector<2x6xi16> -> vector<2x3xi16>
  return %0, %1 : vector<2x3xi16>, vector<2x3xi16>
}
func.func @elements(%a: f32, %b: f32, %v: vector<2x2xi8>) -> (vector<2x1xf32>, vector<f32>, i8, i8, i8, i8) {
  %0 = vector.from_elements %a, %b : vector<2x1xf32>
  %1 = vector.from_elements %a {note} : vector<f32>
  %2:4 = vector.to_elements %v : vector<2x2xi8>
  return %0, %1, %2#0, %2#1, %2#2, %2#3 : vector<2x1xf32>, vector<f32>, i8, i8, i8, i8
}
func.func @step() -> vector<4xindex> {
  %0 = vector.step : vector<4xindex>
  return %0 : vector<4xindex>
}
func.func @slices(%v: vector<4x8xi32>, %p: vector<2x3xi32>) -> (vector<2x8xi32>, vector<2x3xi32>, vector<4x8xi32>) {
  %0 = vector.extract_strided_slice %v {offsets = [1], sizes = [2], strides = [1]} : vector<4x8xi32> to vector<2x8xi32>
  %1 = vector.extract_strided_slice %v {offsets = [2, 5], sizes = [2, 3], strides = [1, 1]} : vector<4x8xi32> to vector<2x3xi32>
  %2 = vector.insert_strided_slice %p, %v {offsets = [1, 2], strides = [1, 1]} : vector<2x3xi32> into vector<4x8xi32>
  return %0, %1, %2 : vector<2x8xi32>, vector<2x3xi32>, vector<4x8xi32>
}
func.func @row_into(%v: vector<2x4x8xi32>, %p: vector<3xi32>) -> vector<2x4x8xi32> {
  %0 = vector.insert_strided_slice %p, %v {offsets = [1, 3, 5], strides = [1]} : vector<3xi32> into vector<2x4x8xi32>
  return %0 : vector<2x4x8xi32>
}
