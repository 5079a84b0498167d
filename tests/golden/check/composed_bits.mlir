// RUN: gradus check %s --expand-composed-ops --floats=bits | FileCheck %s

// Replacements without other roundings, on any floats.
// CHECK: @mean: no difference
func.func @mean(%a: tensor<3xf32>, %b: tensor<3xf32>, %c: tensor<f32>, %h: tensor<3xbf16>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xbf16>) {
  %0 = graph.mean %a, %b, %c : (tensor<3xf32>, tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %1 = graph.mean %a, %b : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %2 = graph.mean %h, %h, %h, %h : (tensor<3xbf16>, tensor<3xbf16>, tensor<3xbf16>, tensor<3xbf16>) -> tensor<3xbf16>
  return %0, %1, %2 : tensor<3xf32>, tensor<3xf32>, tensor<3xbf16>
}
// CHECK: @swiglu: no difference
func.func @swiglu(%a: tensor<5xf32>, %b: tensor<5xf32>) -> tensor<5xf32> {
  %0 = graph.swiglu %a, %b {alpha = 3.0 : f32} : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}
// CHECK: @tests: no difference
func.func @tests(%x: tensor<6xf32>, %h: tensor<6xf16>, %d: tensor<?xf64>) -> (tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<?xi1>, tensor<6xi1>) {
  %0 = graph.is_nan %x : (tensor<6xf32>) -> tensor<6xi1>
  %1 = graph.is_inf %x : (tensor<6xf32>) -> tensor<6xi1>
  %2 = graph.is_inf %x {detect_negative = 0 : i64} : (tensor<6xf32>) -> tensor<6xi1>
  %3 = graph.is_inf %h {detect_positive = 0 : i64} : (tensor<6xf16>) -> tensor<6xi1>
  %4 = graph.is_nan %d : (tensor<?xf64>) -> tensor<?xi1>
  %5 = graph.is_inf %x {detect_positive = 0 : i64, detect_negative = 0 : i64} : (tensor<6xf32>) -> tensor<6xi1>
  return %0, %1, %2, %3, %4, %5 : tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<?xi1>, tensor<6xi1>
}
// CHECK: @rotary: no difference
func.func @rotary(%x: tensor<1x2x2x4xf32>, %c: tensor<1x2x2xf32>, %s: tensor<1x2x2xf32>) -> tensor<1x2x2x4xf32> {
  %0 = graph.rotary_embedding %x, %c, %s : (tensor<1x2x2x4xf32>, tensor<1x2x2xf32>, tensor<1x2x2xf32>) -> tensor<1x2x2x4xf32>
  return %0 : tensor<1x2x2x4xf32>
}
