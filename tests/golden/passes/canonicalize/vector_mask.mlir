// RUN: gradus opt %s --canonicalize

func.func @true_mask(%arg0: vector<4xf32>) -> f32 {
  %cst = arith.constant dense<true> : vector<4xi1>
  %0 = vector.mask %cst { vector.reduction <add>, %arg0 : vector<4xf32> into f32 } : vector<4xi1> -> f32
  return %0 : f32
}
func.func @nothing_masked(%arg0: vector<4xf32>, %arg1: vector<4xi1>) -> vector<4xf32> {
  %0 = vector.mask %arg1 { vector.yield %arg0 : vector<4xf32> } : vector<4xi1> -> vector<4xf32>
  return %0 : vector<4xf32>
}
func.func @nothing_masked_but_passthru(%arg0: vector<4xf32>, %arg1: vector<4xf32>, %arg2: vector<4xi1>) -> vector<4xf32> {
  %0 = vector.mask %arg2, %arg1 { vector.yield %arg0 : vector<4xf32> } : vector<4xi1> -> vector<4xf32>
  return %0 : vector<4xf32>
}
func.func @nothing_at_all(%arg0: vector<4xf32>, %arg1: vector<4xf32>, %arg2: vector<4xi1>) {
  vector.mask %arg2 { vector.yield } : vector<4xi1>
  return
}
func.func @constant_bounds() -> vector<4x3xi1> {
  %c2 = arith.constant 2 : index
  %c7 = arith.constant 7 : index
  %0 = vector.create_mask %c2, %c7 : vector<4x3xi1>
  return %0 : vector<4x3xi1>
}
func.func @one_bound_is_zero_stays(%arg0: index) -> vector<4x3xi1> {
  %c0 = arith.constant 0 : index
  %0 = vector.create_mask %c0, %arg0 : vector<4x3xi1>
  return %0 : vector<4x3xi1>
}
func.func @without_dims() -> vector<i1> {
  %c1 = arith.constant 1 : index
  %0 = vector.create_mask %c1 : vector<i1>
  return %0 : vector<i1>
}
func.func @negative_bound() -> vector<4xi1> {
  %c-3 = arith.constant -3 : index
  %0 = vector.create_mask %c-3 : vector<4xi1>
  return %0 : vector<4xi1>
}
func.func @effect_under_true_mask(%arg0: vector<4xf32>, %arg1: memref<?xf32>, %arg2: index) {
  %0 = vector.constant_mask [4] : vector<4xi1>
  vector.mask %0 { vector.transfer_write %arg0, %arg1[%arg2] : vector<4xf32>, memref<?xf32> } : vector<4xi1>
  return
}
func.func @compared_step() -> vector<4xi1> {
  %cst = arith.constant dense<7> : vector<4xindex>
  %0 = vector.step : vector<4xindex>
  %1 = arith.cmpi ult, %0, %cst : vector<4xindex>
  return %1 : vector<4xi1>
}
