// RUN: gradus opt %s

func.func @reduction(%v: vector<4xi32>, %a: i32) -> (i32, i32, i32, i32, i32, i32, i32, i32, i32) {
  %0 = vector.reduction <add>, %v : vector<4xi32> into i32
  %1 = vector.reduction <mul>, %v, %a : vector<4xi32> into i32
  %2 = vector.reduction <minui>, %v : vector<4xi32> into i32
  %3 = vector.reduction <minsi>, %v : vector<4xi32> into i32
  %4 = vector.reduction <maxui>, %v : vector<4xi32> into i32
  %5 = vector.reduction <maxsi>, %v {note} : vector<4xi32> into i32
  %6 = vector.reduction <and>, %v : vector<4xi32> into i32
  %7 = vector.reduction <or>, %v : vector<4xi32> into i32
  %8 = vector.reduction <xor>, %v, %a : vector<4xi32> into i32
  return %0, %1, %2, %3, %4, %5, %6, %7, %8 : i32, i32, i32, i32, i32, i32, i32, i32, i32
}
func.func @floats(%v: vector<4xf32>, %a: f32) -> (f32, f32, f32, f32, f32, f32) {
  %0 = vector.reduction <add>, %v, %a fastmath<nnan,ninf> : vector<4xf32> into f32
  %1 = vector.reduction <mul>, %v : vector<4xf32> into f32
  %2 = vector.reduction <minnumf>, %v : vector<4xf32> into f32
  %3 = vector.reduction <maxnumf>, %v : vector<4xf32> into f32
  %4 = vector.reduction <minimumf>, %v : vector<4xf32> into f32
  %5 = vector.reduction <maximumf>, %v, %a : vector<4xf32> into f32
  return %0, %1, %2, %3, %4, %5 : f32, f32, f32, f32, f32, f32
}
func.func @multi_reduction(%v: vector<2x3x4xi32>, %a: vector<3xi32>, %s: i32, %w: vector<2x4xi32>) -> (vector<3xi32>, i32, vector<2x4xi32>) {
  %0 = vector.multi_reduction <add>, %v, %a [0, 2] : vector<2x3x4xi32> to vector<3xi32>
  %1 = vector.multi_reduction <maxsi>, %v, %s [0, 1, 2] : vector<2x3x4xi32> to i32
  %2 = vector.multi_reduction <xor>, %v, %w {note} [1] : vector<2x3x4xi32> to vector<2x4xi32>
  return %0, %1, %2 : vector<3xi32>, i32, vector<2x4xi32>
}
func.func @scan(%v: vector<3x2xi32>, %a: vector<2xi32>, %b: vector<3xi32>) -> (vector<3x2xi32>, vector<2xi32>, vector<3x2xi32>, vector<3xi32>) {
  %0:2 = vector.scan <add>, %v, %a {inclusive = true, reduction_dim = 0} : vector<3x2xi32>, vector<2xi32>
  %1:2 = vector.scan <mul>, %v, %b {inclusive = false, reduction_dim = 1} : vector<3x2xi32>, vector<3xi32>
  return %0#0, %0#1, %1#0, %1#1 : vector<3x2xi32>, vector<2xi32>, vector<3x2xi32>, vector<3xi32>
}
