// RUN: gradus opt %s

func.func @extract(%v: vector<4x3xf32>, %i: index) -> (f32, vector<3xf32>, f32, f32, vector<4x3xf32>) {
  %0 = vector.extract %v[1, 2] : f32 from vector<4x3xf32>
  %1 = vector.extract %v[3] {note} : vector<3xf32> from vector<4x3xf32>
  %2 = vector.extract %v[%i, 2] : f32 from vector<4x3xf32>
  %3 = vector.extract %v[%i, %i] : f32 from vector<4x3xf32>
  %4 = vector.extract %v[] : vector<4x3xf32> from vector<4x3xf32>
  return %0, %1, %2, %3, %4 : f32, vector<3xf32>, f32, f32, vector<4x3xf32>
}
func.func @insert(%v: vector<4x3xi8>, %s: i8, %r: vector<3xi8>, %i: index) -> (vector<4x3xi8>, vector<4x3xi8>, vector<4x3xi8>) {
  %0 = vector.insert %s, %v[1, 2] : i8 into vector<4x3xi8>
  %1 = vector.insert %r, %v[3] {note} : vector<3xi8> into vector<4x3xi8>
  %2 = vector.insert %s, %v[%i, 1] : i8 into vector<4x3xi8>
  return %0, %1, %2 : vector<4x3xi8>, vector<4x3xi8>, vector<4x3xi8>
}
func.func @without_dims(%v: vector<f32>, %s: f32) -> (f32, vector<f32>) {
  %0 = vector.extract %v[] : f32 from vector<f32>
  %1 = vector.insert %s, %v[] : f32 into vector<f32>
  return %0, %1 : f32, vector<f32>
}
func.func @poison(%v: vector<4xf32>, %s: f32) -> (f32, vector<4xf32>) {
  %0 = vector.extract %v[-1] : f32 from vector<4xf32>
  %1 = vector.insert %s, %v[-1] : f32 into vector<4xf32>
  return %0, %1 : f32, vector<4xf32>
}
func.func @scalable(%v: vector<[4]xf32>, %s: f32) -> vector<[4]xf32> {
  %0 = vector.insert %s, %v[1] : f32 into vector<[4]xf32>
  return %0 : vector<[4]xf32>
}
func.func @every_type(%a: vector<2xi1>, %b: vector<2xindex>, %c: vector<2xbf16>, %d: vector<2xui64>) -> (i1, index, bf16, ui64) {
  %0 = vector.extract %a[1] : i1 from vector<2xi1>
  %1 = vector.extract %b[1] : index from vector<2xindex>
  %2 = vector.extract %c[1] : bf16 from vector<2xbf16>
  %3 = vector.extract %d[1] : ui64 from vector<2xui64>
  return %0, %1, %2, %3 : i1, index, bf16, ui64
}
