// RUN: gradus opt %s

#lhs = affine_map<(i, j, k) -> (i, k)>
#rhs = affine_map<(i, j, k) -> (k, j)>
#out = affine_map<(i, j, k) -> (i, j)>
#matmul = {
  indexing_maps = [#lhs, #rhs, #out],
  iterator_types = ["parallel", "parallel", "reduction"]
}
func.func @matmul(%a: vector<2x3xf32>, %b: vector<3x4xf32>, %c: vector<2x4xf32>) -> vector<2x4xf32> {
  %0 = vector.contract #matmul %a, %b, %c : vector<2x3xf32>, vector<3x4xf32> into vector<2x4xf32>
  return %0 : vector<2x4xf32>
}
func.func @widening(%a: vector<2x3xi8>, %b: vector<3x4xi8>, %c: vector<2x4xi32>) -> vector<2x4xi32> {
  %0 = vector.contract #matmul %a, %b, %c {note} : vector<2x3xi8>, vector<3x4xi8> into vector<2x4xi32>
  return %0 : vector<2x4xi32>
}
func.func @dot(%a: vector<3xi32>, %b: vector<3xi32>, %c: i32) -> i32 {
  %0 = vector.contract {
    indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> ()>],
    iterator_types = ["reduction"],
    kind = #vector.kind<maxsi>
  } %a, %b, %c : vector<3xi32>, vector<3xi32> into i32
  return %0 : i32
}
func.func @outerproduct(%a: vector<2xi32>, %b: vector<3xi32>, %c: vector<2x3xi32>, %s: i32) -> (vector<2x3xi32>, vector<2x3xi32>, vector<2xi32>) {
  %0 = vector.outerproduct %a, %b : vector<2xi32>, vector<3xi32>
  %1 = vector.outerproduct %a, %b, %c {kind = #vector.kind<minui>} : vector<2xi32>, vector<3xi32>
  %2 = vector.outerproduct %a, %s, %a : vector<2xi32>, i32
  return %0, %1, %2 : vector<2x3xi32>, vector<2x3xi32>, vector<2xi32>
}
func.func @fma(%a: vector<2x3xf32>, %b: vector<2x3xf32>, %c: vector<2x3xf32>) -> vector<2x3xf32> {
  %0 = vector.fma %a, %b, %c : vector<2x3xf32>
  return %0 : vector<2x3xf32>
}
