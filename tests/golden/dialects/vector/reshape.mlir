// RUN: gradus opt %s

func.func @broadcast(%s: f32, %v: vector<3x1xf32>, %z: vector<f32>) -> (vector<2xf32>, vector<2x3x4xf32>, vector<2xf32>) {
  %0 = vector.broadcast %s : f32 to vector<2xf32>
  %1 = vector.broadcast %v {note} : vector<3x1xf32> to vector<2x3x4xf32>
  %2 = vector.broadcast %z : vector<f32> to vector<2xf32>
  return %0, %1, %2 : vector<2xf32>, vector<2x3x4xf32>, vector<2xf32>
}
func.func @shape_cast(%v: vector<3x4xi16>, %z: vector<f32>) -> (vector<2x6xi16>, vector<12x1xi16>, vector<1xf32>) {
  %0 = vector.shape_cast %v : vector<3x4xi16> to vector<2x6xi16>
  %1 = vector.shape_cast %v : vector<3x4xi16> to vector<12x1xi16>
  %2 = vector.shape_cast %z : vector<f32> to vector<1xf32>
  return %0, %1, %2 : vector<2x6xi16>, vector<12x1xi16>, vector<1xf32>
}
func.func @bitcast(%v: vector<2x4xi16>, %f: vector<2xf32>) -> (vector<2x2xf32>, vector<2x8xi8>, vector<2xi32>, vector<1xf64>) {
  %0 = vector.bitcast %v : vector<2x4xi16> to vector<2x2xf32>
  %1 = vector.bitcast %v : vector<2x4xi16> to vector<2x8xi8>
  %2 = vector.bitcast %f : vector<2xf32> to vector<2xi32>
  %3 = vector.bitcast %f : vector<2xf32> to vector<1xf64>
  return %0, %1, %2, %3 : vector<2x2xf32>, vector<2x8xi8>, vector<2xi32>, vector<1xf64>
}
func.func @transpose(%v: vector<2x3x4xi32>, %z: vector<i32>) -> (vector<4x2x3xi32>, vector<3x2x4xi32>, vector<i32>) {
  %0 = vector.transpose %v, [2, 0, 1] : vector<2x3x4xi32> to vector<4x2x3xi32>
  %1 = vector.transpose %v, [1, 0, 2] {note} : vector<2x3x4xi32> to vector<3x2x4xi32>
  %2 = vector.transpose %z, [] : vector<i32> to vector<i32>
  return %0, %1, %2 : vector<4x2x3xi32>, vector<3x2x4xi32>, vector<i32>
}
func.func @scalable(%v: vector<2x[4]xf32>) -> (vector<[4]x2xf32>, vector<3x2x[4]xf32>, vector<2x1x[4]xf32>) {
  %0 = vector.transpose %v, [1, 0] : vector<2x[4]xf32> to vector<[4]x2xf32>
  %1 = vector.broadcast %v : vector<2x[4]xf32> to vector<3x2x[4]xf32>
  %2 = vector.shape_cast %v : vector<2x[4]xf32> to vector<2x1x[4]xf32>
  return %0, %1, %2 : vector<[4]x2xf32>, vector<3x2x[4]xf32>, vector<2x1x[4]xf32>
}
