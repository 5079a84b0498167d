// RUN: gradus opt %s --canonicalize

func.func @scalar_of_broadcast(%arg0: f32) -> f32 {
  %0 = vector.broadcast %arg0 : f32 to vector<4xf32>
  %1 = vector.extract %0[2] : f32 from vector<4xf32>
  return %1 : f32
}
func.func @row_of_broadcast(%arg0: vector<4xf32>) -> vector<4xf32> {
  %0 = vector.broadcast %arg0 : vector<4xf32> to vector<2x3x4xf32>
  %1 = vector.extract %0[1, 2] : vector<4xf32> from vector<2x3x4xf32>
  return %1 : vector<4xf32>
}
func.func @rows_of_broadcast(%arg0: vector<4xf32>) -> vector<3x4xf32> {
  %0 = vector.broadcast %arg0 : vector<4xf32> to vector<2x3x4xf32>
  %1 = vector.extract %0[1] : vector<3x4xf32> from vector<2x3x4xf32>
  return %1 : vector<3x4xf32>
}
func.func @row_of_stretched_broadcast(%arg0: vector<1x4xf32>) -> vector<4xf32> {
  %0 = vector.broadcast %arg0 : vector<1x4xf32> to vector<2x3x4xf32>
  %1 = vector.extract %0[1, 2] : vector<4xf32> from vector<2x3x4xf32>
  return %1 : vector<4xf32>
}
func.func @extract_of_extract(%arg0: vector<2x3x4xf32>) -> f32 {
  %0 = vector.extract %arg0[1] : vector<3x4xf32> from vector<2x3x4xf32>
  %1 = vector.extract %0[0, 3] : f32 from vector<3x4xf32>
  return %1 : f32
}
func.func @extract_of_dynamic_extract(%arg0: vector<2x3x4xf32>, %arg1: index) -> f32 {
  %0 = vector.extract %arg0[%arg1] : vector<3x4xf32> from vector<2x3x4xf32>
  %1 = vector.extract %0[0, 3] : f32 from vector<3x4xf32>
  return %1 : f32
}
func.func @element_of_transpose(%arg0: vector<2x3xf32>) -> f32 {
  %0 = vector.transpose %arg0, [1, 0] : vector<2x3xf32> to vector<3x2xf32>
  %1 = vector.extract %0[2, 1] : f32 from vector<3x2xf32>
  return %1 : f32
}
func.func @column_of_transpose_stays(%arg0: vector<2x3xf32>) -> vector<2xf32> {
  %0 = vector.transpose %arg0, [1, 0] : vector<2x3xf32> to vector<3x2xf32>
  %1 = vector.extract %0[2] : vector<2xf32> from vector<3x2xf32>
  return %1 : vector<2xf32>
}
func.func @row_of_transpose(%arg0: vector<2x3x4xf32>) -> vector<4xf32> {
  %0 = vector.transpose %arg0, [1, 0, 2] : vector<2x3x4xf32> to vector<3x2x4xf32>
  %1 = vector.extract %0[2, 1] : vector<4xf32> from vector<3x2x4xf32>
  return %1 : vector<4xf32>
}
func.func @element_of_shape_cast(%arg0: vector<6xf32>) -> f32 {
  %0 = vector.shape_cast %arg0 : vector<6xf32> to vector<2x3xf32>
  %1 = vector.extract %0[1, 1] : f32 from vector<2x3xf32>
  return %1 : f32
}
func.func @row_of_shape_cast_stays(%arg0: vector<6xf32>) -> vector<3xf32> {
  %0 = vector.shape_cast %arg0 : vector<6xf32> to vector<2x3xf32>
  %1 = vector.extract %0[1] : vector<3xf32> from vector<2x3xf32>
  return %1 : vector<3xf32>
}
func.func @row_of_shape_cast(%arg0: vector<4x1xf32>) -> vector<1xf32> {
  %0 = vector.shape_cast %arg0 : vector<4x1xf32> to vector<1x4x1xf32>
  %1 = vector.extract %0[0, 1] : vector<1xf32> from vector<1x4x1xf32>
  return %1 : vector<1xf32>
}
func.func @element_of_slice(%arg0: vector<8xf32>) -> f32 {
  %0 = vector.extract_strided_slice %arg0 {offsets = [2], sizes = [3], strides = [1]} : vector<8xf32> to vector<3xf32>
  %1 = vector.extract %0[1] : f32 from vector<3xf32>
  return %1 : f32
}
func.func @part_of_row_of_slice_stays(%arg0: vector<8x4xf32>) -> vector<2xf32> {
  %0 = vector.extract_strided_slice %arg0 {offsets = [2, 1], sizes = [3, 2], strides = [1, 1]} : vector<8x4xf32> to vector<3x2xf32>
  %1 = vector.extract %0[1] : vector<2xf32> from vector<3x2xf32>
  return %1 : vector<2xf32>
}
func.func @row_of_slice(%arg0: vector<8x4xf32>) -> vector<4xf32> {
  %0 = vector.extract_strided_slice %arg0 {offsets = [2], sizes = [3], strides = [1]} : vector<8x4xf32> to vector<3x4xf32>
  %1 = vector.extract %0[1] : vector<4xf32> from vector<3x4xf32>
  return %1 : vector<4xf32>
}
func.func @elements_of_inserted_slice(%arg0: vector<3xf32>, %arg1: vector<8xf32>) -> (f32, f32) {
  %0 = vector.insert_strided_slice %arg0, %arg1 {offsets = [2], strides = [1]} : vector<3xf32> into vector<8xf32>
  %1 = vector.extract %0[3] : f32 from vector<8xf32>
  %2 = vector.extract %0[6] : f32 from vector<8xf32>
  return %1, %2 : f32, f32
}
func.func @rows_of_inserted_slice(%arg0: vector<3xf32>, %arg1: vector<8x4xf32>) -> (vector<4xf32>, vector<4xf32>) {
  %0 = vector.insert_strided_slice %arg0, %arg1 {offsets = [2, 1], strides = [1]} : vector<3xf32> into vector<8x4xf32>
  %1 = vector.extract %0[2] : vector<4xf32> from vector<8x4xf32>
  %2 = vector.extract %0[6] : vector<4xf32> from vector<8x4xf32>
  return %1, %2 : vector<4xf32>, vector<4xf32>
}
func.func @elements_of_insert(%arg0: f32, %arg1: vector<4xf32>) -> (f32, f32) {
  %0 = vector.insert %arg0, %arg1 [1] : f32 into vector<4xf32>
  %1 = vector.extract %0[1] : f32 from vector<4xf32>
  %2 = vector.extract %0[2] : f32 from vector<4xf32>
  return %1, %2 : f32, f32
}
func.func @elements_of_inserted_row(%arg0: vector<3xf32>, %arg1: vector<4x3xf32>) -> (f32, f32, vector<4x3xf32>) {
  %0 = vector.insert %arg0, %arg1 [1] : vector<3xf32> into vector<4x3xf32>
  %1 = vector.extract %0[1, 2] : f32 from vector<4x3xf32>
  %2 = vector.extract %0[2, 2] : f32 from vector<4x3xf32>
  return %1, %2, %0 : f32, f32, vector<4x3xf32>
}
func.func @rows_of_insert(%arg0: f32, %arg1: vector<4x3xf32>) -> (vector<3xf32>, vector<3xf32>) {
  %0 = vector.insert %arg0, %arg1 [1, 2] : f32 into vector<4x3xf32>
  %1 = vector.extract %0[1] : vector<3xf32> from vector<4x3xf32>
  %2 = vector.extract %0[2] : vector<3xf32> from vector<4x3xf32>
  return %1, %2 : vector<3xf32>, vector<3xf32>
}
func.func @element_of_elements(%arg0: f32, %arg1: f32) -> f32 {
  %0 = vector.from_elements %arg0, %arg1, %arg0, %arg1 : vector<2x2xf32>
  %1 = vector.extract %0[0, 1] : f32 from vector<2x2xf32>
  return %1 : f32
}
func.func @row_of_elements(%arg0: f32, %arg1: f32) -> vector<2xf32> {
  %0 = vector.from_elements %arg0, %arg1, %arg1, %arg1 : vector<2x2xf32>
  %1 = vector.extract %0[0] : vector<2xf32> from vector<2x2xf32>
  return %1 : vector<2xf32>
}
func.func @element_of_shuffle(%arg0: vector<4xf32>, %arg1: vector<4xf32>) -> f32 {
  %0 = vector.shuffle %arg0, %arg1 [0, 5, 7] : vector<4xf32>, vector<4xf32>
  %1 = vector.extract %0[1] : f32 from vector<3xf32>
  return %1 : f32
}
func.func @row_of_constant() -> vector<2xi32> {
  %cst = arith.constant dense<[[1, 2], [3, 4]]> : vector<2x2xi32>
  %0 = vector.extract %cst[1] : vector<2xi32> from vector<2x2xi32>
  return %0 : vector<2xi32>
}
func.func @element_of_splat() -> f32 {
  %cst = arith.constant dense<1.000000e+00> : vector<2x2xf32>
  %0 = vector.extract %cst[1, 0] : f32 from vector<2x2xf32>
  return %0 : f32
}
func.func @poison_position(%arg0: vector<4xf32>) -> f32 {
  %0 = vector.extract %arg0[-1] : f32 from vector<4xf32>
  return %0 : f32
}
func.func @no_position(%arg0: vector<4xf32>) -> vector<4xf32> {
  %0 = vector.extract %arg0[] : vector<4xf32> from vector<4xf32>
  return %0 : vector<4xf32>
}
func.func @constant_position(%arg0: vector<4xf32>) -> f32 {
  %c2 = arith.constant 2 : index
  %0 = vector.extract %arg0[%c2] : f32 from vector<4xf32>
  return %0 : f32
}
func.func @constant_position_outside_stays(%arg0: vector<4xf32>) -> f32 {
  %c7 = arith.constant 7 : index
  %0 = vector.extract %arg0[%c7] : f32 from vector<4xf32>
  return %0 : f32
}
func.func @row_of_unknown_mask_stays(%arg0: index) -> vector<4xi1> {
  %0 = vector.create_mask %arg0, %arg0 : vector<8x4xi1>
  %1 = vector.extract %0[2] : vector<4xi1> from vector<8x4xi1>
  return %1 : vector<4xi1>
}
func.func @row_of_mask(%arg0: index) -> vector<4xi1> {
  %c3 = arith.constant 3 : index
  %0 = vector.create_mask %c3, %arg0 : vector<8x4xi1>
  %1 = vector.extract %0[2] : vector<4xi1> from vector<8x4xi1>
  return %1 : vector<4xi1>
}
func.func @row_of_constant_mask(%arg0: index) -> (vector<4xi1>, i1) {
  %0 = vector.constant_mask [3, 2] : vector<8x4xi1>
  %1 = vector.extract %0[2] : vector<4xi1> from vector<8x4xi1>
  %2 = vector.extract %0[5, 1] : i1 from vector<8x4xi1>
  return %1, %2 : vector<4xi1>, i1
}
func.func @dynamic_element_of_broadcast(%arg0: index, %arg1: f32) -> f32 {
  %0 = vector.broadcast %arg1 : f32 to vector<4xf32>
  %1 = vector.extract %0[%arg0] : f32 from vector<4xf32>
  return %1 : f32
}
func.func @element_of_sum_stays(%arg0: index, %arg1: vector<4xf32>, %arg2: vector<4xf32>) -> f32 {
  %0 = arith.addf %arg1, %arg2 : vector<4xf32>
  %1 = vector.extract %0[1] : f32 from vector<4xf32>
  return %1 : f32
}
func.func @element_of_unit_shape_cast(%arg0: vector<1xf32>) -> f32 {
  %0 = vector.shape_cast %arg0 : vector<1xf32> to vector<f32>
  %1 = vector.extract %0[] : f32 from vector<f32>
  return %1 : f32
}
func.func @element_of_broadcast_without_dims(%arg0: vector<f32>) -> f32 {
  %0 = vector.broadcast %arg0 : vector<f32> to vector<2xf32>
  %1 = vector.extract %0[1] : f32 from vector<2xf32>
  return %1 : f32
}
func.func @rows_between_shape_casts(%arg0: vector<4x1x2xf32>) -> vector<1x2xf32> {
  %0 = vector.shape_cast %arg0 : vector<4x1x2xf32> to vector<4x2x1xf32>
  %1 = vector.extract %0[1] : vector<2x1xf32> from vector<4x2x1xf32>
  %2 = vector.shape_cast %1 : vector<2x1xf32> to vector<1x2xf32>
  return %2 : vector<1x2xf32>
}
func.func @element_of_poison() -> f32 {
  %0 = ub.poison : vector<4xf32>
  %1 = vector.extract %0[1] : f32 from vector<4xf32>
  return %1 : f32
}
func.func @element_of_step() -> index {
  %0 = vector.step : vector<4xindex>
  %1 = vector.extract %0[1] : index from vector<4xindex>
  return %1 : index
}
func.func @element_of_interleave(%arg0: vector<4xf32>, %arg1: vector<4xf32>) -> f32 {
  %0 = vector.interleave %arg0, %arg1 : vector<4xf32> -> vector<8xf32>
  %1 = vector.extract %0[1] : f32 from vector<8xf32>
  return %1 : f32
}
func.func @all_but_unit_dims(%arg0: vector<3x4xf32>) -> vector<12xf32> {
  %0 = vector.shape_cast %arg0 : vector<3x4xf32> to vector<1x12xf32>
  %1 = vector.extract %0[0] : vector<12xf32> from vector<1x12xf32>
  return %1 : vector<12xf32>
}
func.func @row_of_empty_mask(%arg0: index, %arg1: index) -> vector<6xi1> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = vector.create_mask %c1, %c0, %arg0 : vector<1x4x6xi1>
  %1 = vector.extract %0[0, %arg1] : vector<6xi1> from vector<1x4x6xi1>
  return %1 : vector<6xi1>
}
