// RUN: gradus check %s --form-steps | FileCheck %s
// RUN: gradus check %s --convert-sparse-to-x64=isa=avx512 --floats=rounding | FileCheck %s
// RUN: gradus check %s --convert-graph-to-cluster --floats=rounding | FileCheck %s

// The slices have fewer elements than their types say, so they are poison. Lowerings that read the operand in place must not read behind it.
// CHECK: @rows: no difference
func.func @rows(%x: tensor<4x2xf32>) -> (tensor<2x2xf32>, tensor<4x2xf32>) {
  %starts = graph.constant dense<3> : tensor<1xi64>
  %ends = graph.constant dense<5> : tensor<1xi64>
  %0 = graph.slice %x, %starts, %ends : (tensor<4x2xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x2xf32>
  %1 = graph.relu %0 : tensor<2x2xf32>
  return %1, %x : tensor<2x2xf32>, tensor<4x2xf32>
}

// CHECK: @image: no difference
func.func @image(%x: tensor<1x1x1x1xf32>) -> (tensor<1x1x2x1xf32>, tensor<1x1x1x1xf32>) {
  %w = graph.constant dense<1.0> : tensor<1x1x1x1xf32>
  %starts = graph.constant dense<2> : tensor<1xi64>
  %ends = graph.constant dense<0> : tensor<1xi64>
  %0 = graph.slice %x, %starts, %ends axes %starts : (tensor<1x1x1x1xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x1x2x1xf32>
  %1 = sparse.conv %0, %w : (tensor<1x1x2x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x2x1xf32>
  return %1, %x : tensor<1x1x2x1xf32>, tensor<1x1x1x1xf32>
}

// CHECK: @channels: no difference
func.func @channels(%x: tensor<1x4x2x2xf32>) -> (tensor<1x2x2x2xf32>, tensor<1x4x2x2xf32>) {
  %starts = graph.constant dense<3> : tensor<1xi64>
  %ends = graph.constant dense<5> : tensor<1xi64>
  %axes = graph.constant dense<1> : tensor<1xi64>
  %0 = graph.slice %x, %starts, %ends axes %axes : (tensor<1x4x2x2xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x2x2x2xf32>
  %1 = graph.relu %0 : tensor<1x2x2x2xf32>
  return %1, %x : tensor<1x2x2x2xf32>, tensor<1x4x2x2xf32>
}
