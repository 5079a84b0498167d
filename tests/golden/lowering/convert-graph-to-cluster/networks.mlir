// RUN: gradus opt %s --convert-graph-to-cluster=clusters=2 --split-input-file | FileCheck %s

// A convolution with its activation, divided by rows or channels. Two clusters exchange halos if rows are divided.
// CHECK-LABEL: func.func @activation
// CHECK: %[[Y:.*]] = cluster.call @cluster0(%{{.*}}) : (tensor<1x2x6x4xf32>) -> tensor<1x4x6x4xf32>
// CHECK-NEXT: return %[[Y]]
// CHECK: cluster.program @cluster0
// CHECK: cluster.conv
// CHECK: stages = [{kind = leaky, slope = 2.500000e-01}]
// CHECK-NOT: cluster.map
func.func @activation(%x: tensor<1x2x6x4xf32>) -> tensor<1x4x6x4xf32> {
  %w = graph.constant dense<0.5> : tensor<4x2x3x3xf32>
  %b = graph.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0 = graph.conv %x, %w, %b {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x2x6x4xf32>, tensor<4x2x3x3xf32>, tensor<4xf32>) -> tensor<1x4x6x4xf32>
  %1 = graph.leaky_relu %0 {alpha = 2.500000e-01 : f32} : tensor<1x4x6x4xf32>
  return %1 : tensor<1x4x6x4xf32>
}

// -----

// A concatenation and a slice of it copy nothing: two convolutions write their channels, and the third reads a part of them.
// CHECK-LABEL: func.func @channels
// CHECK: cluster.program
// CHECK-NOT: cluster.map
func.func @channels(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %w = graph.constant dense<0.5> : tensor<4x2x1x1xf32>
  %v = graph.constant dense<0.25> : tensor<2x4x1x1xf32>
  %0 = graph.conv %x, %w : (tensor<1x2x4x4xf32>, tensor<4x2x1x1xf32>) -> tensor<1x4x4x4xf32>
  %1 = graph.conv %x, %w : (tensor<1x2x4x4xf32>, tensor<4x2x1x1xf32>) -> tensor<1x4x4x4xf32>
  %2 = graph.concat %0, %1 {axis = 1 : i64} : (tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>) -> tensor<1x8x4x4xf32>
  %starts = graph.constant dense<2> : tensor<1xi64>
  %ends = graph.constant dense<6> : tensor<1xi64>
  %axes = graph.constant dense<1> : tensor<1xi64>
  %3 = graph.slice %2, %starts, %ends axes %axes : (tensor<1x8x4x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x4x4x4xf32>
  %4 = graph.conv %3, %v : (tensor<1x4x4x4xf32>, tensor<2x4x1x1xf32>) -> tensor<1x2x4x4xf32>
  return %4 : tensor<1x2x4x4xf32>
}

// -----

// A sum of another branch is a stage; a batch normalization that follows is another one.
// CHECK-LABEL: func.func @residual
// CHECK: cluster.program
// CHECK: kind = add
// CHECK: kind = affine
// CHECK: kind = clamp
// CHECK-NOT: cluster.map
func.func @residual(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %w = graph.constant dense<0.5> : tensor<2x2x1x1xf32>
  %one = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = graph.conv %x, %w : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = graph.add %0, %x : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %2 = graph.batch_normalization %1, %one, %one, %one, %one : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  %3 = graph.relu %2 : tensor<1x2x4x4xf32>
  return %3 : tensor<1x2x4x4xf32>
}

// -----

// A channel shuffle: the producers of the groups write at a distance of two channels.
// CHECK-LABEL: func.func @shuffle
// CHECK: cluster.program
// CHECK-NOT: cluster.map
func.func @shuffle(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %w = graph.constant dense<0.5> : tensor<2x2x1x1xf32>
  %v = graph.constant dense<[[[[0.25]], [[0.5]], [[1.0]], [[2.0]]], [[[1.0]], [[2.0]], [[3.0]], [[4.0]]]]> : tensor<2x4x1x1xf32>
  %five = graph.constant dense<[1, 2, 2, 4, 4]> : tensor<5xi64>
  %four = graph.constant dense<[1, 4, 4, 4]> : tensor<4xi64>
  %0 = graph.conv %x, %w : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = graph.conv %x, %w : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %2 = graph.concat %0, %1 {axis = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<1x4x4x4xf32>
  %3 = graph.reshape %2, %five : (tensor<1x4x4x4xf32>, tensor<5xi64>) -> tensor<1x2x2x4x4xf32>
  %4 = graph.transpose %3 {perm = array<i64: 0, 2, 1, 3, 4>} : (tensor<1x2x2x4x4xf32>) -> tensor<1x2x2x4x4xf32>
  %5 = graph.reshape %4, %four : (tensor<1x2x2x4x4xf32>, tensor<4xi64>) -> tensor<1x4x4x4xf32>
  %6 = graph.conv %5, %v : (tensor<1x4x4x4xf32>, tensor<2x4x1x1xf32>) -> tensor<1x2x4x4xf32>
  return %6 : tensor<1x2x4x4xf32>
}

// -----

// What clusters do not compute stays on the host, between two programs.
// CHECK-LABEL: func.func @host
// CHECK: cluster.call
// CHECK: graph.tanh
// CHECK: cluster.call
func.func @host(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %0 = graph.relu %x : tensor<1x2x4x4xf32>
  %1 = graph.tanh %0 : tensor<1x2x4x4xf32>
  %2 = graph.max_pool %1 {kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  return %2 : tensor<1x2x4x4xf32>
}
