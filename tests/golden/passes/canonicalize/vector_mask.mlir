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
// Patterns for unmasked ops do not apply to masked ops.
func.func @masked_ops_stay(%arg0: vector<1xi32>, %arg1: vector<1xi1>, %arg2: i32, %arg3: vector<1x4xi32>, %arg4: vector<4xi32>, %arg5: vector<1x4xi1>) -> (i32, vector<4xi32>) {
  %0 = vector.mask %arg1 { vector.reduction <add>, %arg0, %arg2 : vector<1xi32> into i32 } : vector<1xi1> -> i32
  %1 = vector.mask %arg5 { vector.multi_reduction <add>, %arg3, %arg4 [0] : vector<1x4xi32> to vector<4xi32> } : vector<1x4xi1> -> vector<4xi32>
  return %0, %1 : i32, vector<4xi32>
}
func.func @masked_constants_stay(%arg0: vector<4xi1>) -> i32 {
  %cst = arith.constant dense<[1, 2, 3, 4]> : vector<4xi32>
  %c0 = arith.constant 0 : i32
  %0 = vector.mask %arg0 { vector.reduction <add>, %cst, %c0 : vector<4xi32> into i32 } : vector<4xi1> -> i32
  return %0 : i32
}
func.func @masked_contract_stays(%arg0: vector<2xi32>, %arg1: vector<2xi32>, %arg2: i32, %arg3: vector<2xi1>) -> i32 {
  %c0 = arith.constant 0 : i32
  %0 = vector.mask %arg3 { vector.contract {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"], kind = #vector.kind<add>} %arg0, %arg1, %c0 : vector<2xi32>, vector<2xi32> into i32 } : vector<2xi1> -> i32
  %1 = arith.addi %0, %arg2 : i32
  return %1 : i32
}
func.func @masked_transfers_stay(%arg0: tensor<4xi32>, %arg1: vector<4xi32>, %arg2: vector<4xi1>, %arg3: i32, %arg4: vector<4xi32>) -> (tensor<4xi32>, vector<4xi32>) {
  %c0 = arith.constant 0 : index
  %0 = vector.transfer_write %arg1, %arg0[%c0] : vector<4xi32>, tensor<4xi32>
  %1 = vector.mask %arg2, %arg4 { vector.transfer_read %0[%c0], %arg3 : tensor<4xi32>, vector<4xi32> } : vector<4xi1> -> vector<4xi32>
  %2 = vector.mask %arg2 { vector.transfer_write %arg4, %0[%c0] : vector<4xi32>, tensor<4xi32> } : vector<4xi1> -> tensor<4xi32>
  return %2, %1 : tensor<4xi32>, vector<4xi32>
}
func.func @masked_gather_stays(%arg0: memref<8xi32>, %arg1: vector<4xi1>, %arg2: vector<4xi32>, %arg4: index) -> vector<4xi32> {
  %0 = vector.step : vector<4xindex>
  %cst = arith.constant dense<true> : vector<4xi1>
  %1 = vector.mask %arg1 { vector.gather %arg0[%arg4] [%0], %cst, %arg2 : memref<8xi32>, vector<4xindex>, vector<4xi1>, vector<4xi32> into vector<4xi32> } : vector<4xi1> -> vector<4xi32>
  return %1 : vector<4xi32>
}
func.func @scalable(%arg0: index) -> (vector<[8]xi1>, vector<8x[16]xi1>, vector<[4]xi1>) {
  %c-1 = arith.constant -1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %vscale = vector.vscale
  %0 = arith.muli %vscale, %c16 : index
  %1 = vector.create_mask %c-1 : vector<[8]xi1>
  %2 = vector.create_mask %c8, %0 : vector<8x[16]xi1>
  %3 = vector.create_mask %c8 : vector<[4]xi1>
  return %1, %2, %3 : vector<[8]xi1>, vector<8x[16]xi1>, vector<[4]xi1>
}
