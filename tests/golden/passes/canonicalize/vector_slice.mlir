// RUN: gradus opt %s --canonicalize

func.func @slice_of_slice(%arg0: vector<8xf32>) -> vector<2xf32> {
  %0 = vector.extract_strided_slice %arg0 {offsets = [2], sizes = [4], strides = [1]} : vector<8xf32> to vector<4xf32>
  %1 = vector.extract_strided_slice %0 {offsets = [1], sizes = [2], strides = [1]} : vector<4xf32> to vector<2xf32>
  return %1 : vector<2xf32>
}
func.func @whole(%arg0: vector<8xf32>) -> vector<8xf32> {
  %0 = vector.extract_strided_slice %arg0 {offsets = [0], sizes = [8], strides = [1]} : vector<8xf32> to vector<8xf32>
  return %0 : vector<8xf32>
}
func.func @of_broadcast_of_scalar(%arg0: f32) -> vector<2xf32> {
  %0 = vector.broadcast %arg0 : f32 to vector<8xf32>
  %1 = vector.extract_strided_slice %0 {offsets = [0], sizes = [2], strides = [1]} : vector<8xf32> to vector<2xf32>
  return %1 : vector<2xf32>
}
func.func @rows_of_broadcast(%arg0: vector<4xf32>) -> vector<2x4xf32> {
  %0 = vector.broadcast %arg0 : vector<4xf32> to vector<8x4xf32>
  %1 = vector.extract_strided_slice %0 {offsets = [1], sizes = [2], strides = [1]} : vector<8x4xf32> to vector<2x4xf32>
  return %1 : vector<2x4xf32>
}
func.func @part_of_rows_of_broadcast(%arg0: vector<4xf32>) -> vector<2x2xf32> {
  %0 = vector.broadcast %arg0 : vector<4xf32> to vector<8x4xf32>
  %1 = vector.extract_strided_slice %0 {offsets = [1, 1], sizes = [2, 2], strides = [1, 1]} : vector<8x4xf32> to vector<2x2xf32>
  return %1 : vector<2x2xf32>
}
func.func @constant() -> vector<2xi32> {
  %cst = arith.constant dense<[1, 2, 3, 4]> : vector<4xi32>
  %0 = vector.extract_strided_slice %cst {offsets = [1], sizes = [2], strides = [1]} : vector<4xi32> to vector<2xi32>
  return %0 : vector<2xi32>
}
func.func @what_was_inserted(%arg0: vector<2xf32>, %arg1: vector<8xf32>) -> vector<2xf32> {
  %0 = vector.insert_strided_slice %arg0, %arg1 {offsets = [2], strides = [1]} : vector<2xf32> into vector<8xf32>
  %1 = vector.extract_strided_slice %0 {offsets = [2], sizes = [2], strides = [1]} : vector<8xf32> to vector<2xf32>
  return %1 : vector<2xf32>
}
func.func @beside_what_was_inserted(%arg0: vector<2xf32>, %arg1: vector<8xf32>) -> vector<2xf32> {
  %0 = vector.insert_strided_slice %arg0, %arg1 {offsets = [2], strides = [1]} : vector<2xf32> into vector<8xf32>
  %1 = vector.extract_strided_slice %0 {offsets = [5], sizes = [2], strides = [1]} : vector<8xf32> to vector<2xf32>
  return %1 : vector<2xf32>
}
func.func @of_constant_mask() -> vector<2x2xi1> {
  %0 = vector.constant_mask [3, 2] : vector<8x4xi1>
  %1 = vector.extract_strided_slice %0 {offsets = [2, 0], sizes = [2, 2], strides = [1, 1]} : vector<8x4xi1> to vector<2x2xi1>
  return %1 : vector<2x2xi1>
}
func.func @of_mask_stays(%arg0: index) -> vector<2x2xi1> {
  %0 = vector.create_mask %arg0, %arg0 : vector<8x4xi1>
  %1 = vector.extract_strided_slice %0 {offsets = [2, 0], sizes = [2, 2], strides = [1, 1]} : vector<8x4xi1> to vector<2x2xi1>
  return %1 : vector<2x2xi1>
}
func.func @one_row_stays(%arg0: vector<8x4xf32>) -> vector<1x4xf32> {
  %0 = vector.extract_strided_slice %arg0 {offsets = [2, 0], sizes = [1, 4], strides = [1, 1]} : vector<8x4xf32> to vector<1x4xf32>
  return %0 : vector<1x4xf32>
}
func.func @one_element_stays(%arg0: vector<8xf32>) -> vector<1xf32> {
  %0 = vector.extract_strided_slice %arg0 {offsets = [2], sizes = [1], strides = [1]} : vector<8xf32> to vector<1xf32>
  return %0 : vector<1xf32>
}
func.func @put_back(%arg0: vector<8xf32>) -> vector<8xf32> {
  %0 = vector.extract_strided_slice %arg0 {offsets = [2], sizes = [3], strides = [1]} : vector<8xf32> to vector<3xf32>
  %1 = vector.insert_strided_slice %0, %arg0 {offsets = [2], strides = [1]} : vector<3xf32> into vector<8xf32>
  return %1 : vector<8xf32>
}
func.func @one_scalar_into_itself(%arg0: f32) -> vector<8xf32> {
  %0 = vector.broadcast %arg0 : f32 to vector<3xf32>
  %1 = vector.broadcast %arg0 : f32 to vector<8xf32>
  %2 = vector.insert_strided_slice %0, %1 {offsets = [2], strides = [1]} : vector<3xf32> into vector<8xf32>
  return %2 : vector<8xf32>
}
func.func @insert_whole(%arg0: vector<8xf32>, %arg1: vector<8xf32>) -> vector<8xf32> {
  %0 = vector.insert_strided_slice %arg0, %arg1 {offsets = [0], strides = [1]} : vector<8xf32> into vector<8xf32>
  return %0 : vector<8xf32>
}
func.func @insert_constants() -> vector<4xi32> {
  %cst = arith.constant dense<[1, 2]> : vector<2xi32>
  %cst_0 = arith.constant dense<[3, 4, 5, 6]> : vector<4xi32>
  %0 = vector.insert_strided_slice %cst, %cst_0 {offsets = [1], strides = [1]} : vector<2xi32> into vector<4xi32>
  return %0 : vector<4xi32>
}
func.func @insert_over_insert_stays(%arg0: vector<3xf32>, %arg1: vector<3xf32>, %arg2: vector<8xf32>) -> vector<8xf32> {
  %0 = vector.insert_strided_slice %arg0, %arg2 {offsets = [2], strides = [1]} : vector<3xf32> into vector<8xf32>
  %1 = vector.insert_strided_slice %arg1, %0 {offsets = [2], strides = [1]} : vector<3xf32> into vector<8xf32>
  return %1 : vector<8xf32>
}
func.func @of_one_scalar(%arg0: f32) -> vector<2xf32> {
  %0 = vector.from_elements %arg0, %arg0, %arg0, %arg0 : vector<4xf32>
  %1 = vector.extract_strided_slice %0 {offsets = [0], sizes = [2], strides = [1]} : vector<4xf32> to vector<2xf32>
  return %1 : vector<2xf32>
}
func.func @inside_what_was_inserted(%arg0: vector<3x4xf32>, %arg1: vector<8x16xf32>) -> vector<2x2xf32> {
  %0 = vector.insert_strided_slice %arg0, %arg1 {offsets = [2, 5], strides = [1, 1]} : vector<3x4xf32> into vector<8x16xf32>
  %1 = vector.extract_strided_slice %0 {offsets = [3, 6], sizes = [2, 2], strides = [1, 1]} : vector<8x16xf32> to vector<2x2xf32>
  return %1 : vector<2x2xf32>
}
