// RUN: gradus opt %s --saturate=target=npu | FileCheck %s

// The array multiplies only in convolutions: each form of product becomes a depthwise convolution.

// CHECK-NOT: graph.mul

// CHECK-LABEL: @equal(
// CHECK: graph.conv {{.*}} {group = 96 : i64} : (tensor<1x96x1x1xf32>, tensor<96x1x1x1xf32>)
func.func @equal(%a: tensor<2x3x4x4xf32>, %b: tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32> {
  %0 = graph.mul %a, %b : (tensor<2x3x4x4xf32>, tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32>
  return %0 : tensor<2x3x4x4xf32>
}

// CHECK-LABEL: @square(
// CHECK: graph.conv {{.*}} {group = 35 : i64}
func.func @square(%a: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %0 = graph.mul %a, %a : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  return %0 : tensor<5x7xf32>
}

// CHECK-LABEL: @scalar_of_rank_0(
// CHECK: graph.expand
// CHECK: graph.conv %arg0, {{.*}} {group = 16 : i64}
func.func @scalar_of_rank_0(%a: tensor<1x16x8x8xf32>, %b: tensor<f32>) -> tensor<1x16x8x8xf32> {
  %0 = graph.mul %a, %b : (tensor<1x16x8x8xf32>, tensor<f32>) -> tensor<1x16x8x8xf32>
  return %0 : tensor<1x16x8x8xf32>
}

// CHECK-LABEL: @scalar_of_rank_1(
// CHECK: graph.conv {{.*}} {group = 8 : i64}
func.func @scalar_of_rank_1(%a: tensor<1xf32>, %b: tensor<64x8xf32>) -> tensor<64x8xf32> {
  %0 = graph.mul %a, %b : (tensor<1xf32>, tensor<64x8xf32>) -> tensor<64x8xf32>
  return %0 : tensor<64x8xf32>
}

// The vector can also be the filters.
// CHECK-LABEL: @scalar_of_rank_4(
// CHECK: graph.conv {{.*}} : (tensor<1x1x1x1xf32>, tensor<5x1x1x1xf32>) -> tensor<1x5x1x1xf32>
func.func @scalar_of_rank_4(%a: tensor<5xf32>, %b: tensor<1x1x1x1xf32>) -> tensor<1x1x1x5xf32> {
  %0 = graph.mul %a, %b : (tensor<5xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x1x5xf32>
  return %0 : tensor<1x1x1x5xf32>
}

// CHECK-LABEL: @scalars(
// CHECK: graph.conv
func.func @scalars(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %0 = graph.mul %a, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: @channels(
// CHECK: graph.conv %arg1, {{.*}} {group = 16 : i64}
func.func @channels(%a: tensor<1x16x1x1xf32>, %b: tensor<2x16x8x8xf32>) -> tensor<2x16x8x8xf32> {
  %0 = graph.mul %a, %b : (tensor<1x16x1x1xf32>, tensor<2x16x8x8xf32>) -> tensor<2x16x8x8xf32>
  return %0 : tensor<2x16x8x8xf32>
}

// One factor per image and channel: the batch becomes part of the channels.
// CHECK-LABEL: @channels_of_images(
// CHECK: graph.conv {{.*}} {group = 32 : i64} : (tensor<1x32x64x1xf32>, tensor<32x1x1x1xf32>)
func.func @channels_of_images(%a: tensor<2x16x8x8xf32>, %b: tensor<2x16x1x1xf32>) -> tensor<2x16x8x8xf32> {
  %0 = graph.mul %a, %b : (tensor<2x16x8x8xf32>, tensor<2x16x1x1xf32>) -> tensor<2x16x8x8xf32>
  return %0 : tensor<2x16x8x8xf32>
}

// CHECK-LABEL: @row(
// CHECK: graph.conv {{.*}} {group = 8 : i64} : (tensor<4x8x1x1xf32>, tensor<8x1x1x1xf32>)
func.func @row(%a: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  %0 = graph.mul %a, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: @column(
// CHECK: graph.conv {{.*}} {group = 4 : i64} : (tensor<1x4x8x1xf32>, tensor<4x1x1x1xf32>)
func.func @column(%a: tensor<4x1xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = graph.mul %a, %b : (tensor<4x1xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: @rows_of_images(
// CHECK: graph.conv {{.*}} {group = 6 : i64} : (tensor<8x6x5x1xf32>, tensor<6x1x1x1xf32>)
func.func @rows_of_images(%a: tensor<2x4x6x5xf32>, %b: tensor<6x1xf32>) -> tensor<2x4x6x5xf32> {
  %0 = graph.mul %a, %b : (tensor<2x4x6x5xf32>, tensor<6x1xf32>) -> tensor<2x4x6x5xf32>
  return %0 : tensor<2x4x6x5xf32>
}

// CHECK-LABEL: @mask(
// CHECK: graph.conv {{.*}} {group = 64 : i64} : (tensor<32x64x1x1xf32>, tensor<64x1x1x1xf32>)
func.func @mask(%a: tensor<2x16x8x8xf32>, %b: tensor<1x1x8x8xf32>) -> tensor<2x16x8x8xf32> {
  %0 = graph.mul %a, %b : (tensor<2x16x8x8xf32>, tensor<1x1x8x8xf32>) -> tensor<2x16x8x8xf32>
  return %0 : tensor<2x16x8x8xf32>
}

// A mask per image has to be expanded, since the axes that it lacks are between those that it has.
// CHECK-LABEL: @mask_of_images(
// CHECK: graph.expand %arg1
// CHECK: graph.conv {{.*}} {group = 2048 : i64}
func.func @mask_of_images(%a: tensor<2x16x8x8xf32>, %b: tensor<2x1x8x8xf32>) -> tensor<2x16x8x8xf32> {
  %0 = graph.mul %a, %b : (tensor<2x16x8x8xf32>, tensor<2x1x8x8xf32>) -> tensor<2x16x8x8xf32>
  return %0 : tensor<2x16x8x8xf32>
}

// One channel: the factors are the filters.
// CHECK-LABEL: @outer(
// CHECK: graph.conv {{.*}} : (tensor<4x1x1x1xf32>, tensor<6x1x1x1xf32>) -> tensor<4x6x1x1xf32>
func.func @outer(%a: tensor<4x1xf32>, %b: tensor<1x6xf32>) -> tensor<4x6xf32> {
  %0 = graph.mul %a, %b : (tensor<4x1xf32>, tensor<1x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// CHECK-LABEL: @outer_of_channels_and_mask(
// CHECK: graph.conv {{.*}} : (tensor<1x1x9x1xf32>, tensor<8x1x1x1xf32>) -> tensor<1x8x9x1xf32>
func.func @outer_of_channels_and_mask(%a: tensor<1x8x1x1xf32>, %b: tensor<3x3xf32>) -> tensor<1x8x3x3xf32> {
  %0 = graph.mul %a, %b : (tensor<1x8x1x1xf32>, tensor<3x3xf32>) -> tensor<1x8x3x3xf32>
  return %0 : tensor<1x8x3x3xf32>
}

// CHECK-LABEL: @batched_outer(
// CHECK: graph.conv {{.*}} {group = 3 : i64} : (tensor<1x3x5x1xf32>, tensor<12x1x1x1xf32>) -> tensor<1x12x5x1xf32>
func.func @batched_outer(%a: tensor<3x4x1xf32>, %b: tensor<3x1x5xf32>) -> tensor<3x4x5xf32> {
  %0 = graph.mul %a, %b : (tensor<3x4x1xf32>, tensor<3x1x5xf32>) -> tensor<3x4x5xf32>
  return %0 : tensor<3x4x5xf32>
}

// CHECK-LABEL: @one_expanded(
// CHECK: graph.expand %arg0
// CHECK-NOT: graph.expand
// CHECK: graph.conv {{.*}} {group = 18 : i64} : (tensor<5x18x1x1xf32>, tensor<72x1x1x1xf32>) -> tensor<5x72x1x1xf32>
func.func @one_expanded(%a: tensor<1x2x1x3x4xf32>, %b: tensor<5x2x3x3x1xf32>) -> tensor<5x2x3x3x4xf32> {
  %0 = graph.mul %a, %b : (tensor<1x2x1x3x4xf32>, tensor<5x2x3x3x1xf32>) -> tensor<5x2x3x3x4xf32>
  return %0 : tensor<5x2x3x3x4xf32>
}

// CHECK-LABEL: @both_expanded(
// CHECK-COUNT-2: graph.expand
// CHECK: graph.conv
func.func @both_expanded(%a: tensor<2x1x4x1xf32>, %b: tensor<1x3x1x5xf32>) -> tensor<2x3x4x5xf32> {
  %0 = graph.mul %a, %b : (tensor<2x1x4x1xf32>, tensor<1x3x1x5xf32>) -> tensor<2x3x4x5xf32>
  return %0 : tensor<2x3x4x5xf32>
}

// CHECK-LABEL: @constant(
// CHECK: graph.conv %arg0, {{.*}} {group = 3 : i64}
func.func @constant(%a: tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32> {
  %b = graph.constant dense<[[[2.0]], [[-1.0]], [[0.5]]]> : tensor<3x1x1xf32>
  %0 = graph.mul %b, %a : (tensor<3x1x1xf32>, tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32>
  return %0 : tensor<1x3x4x4xf32>
}

// CHECK-LABEL: @dynamic_batch_of_channels(
// CHECK: graph.conv %arg0, {{.*}} {group = 16 : i64}
func.func @dynamic_batch_of_channels(%a: tensor<?x16x8x8xf32>, %b: tensor<16x1x1xf32>) -> tensor<?x16x8x8xf32> {
  %0 = graph.mul %a, %b : (tensor<?x16x8x8xf32>, tensor<16x1x1xf32>) -> tensor<?x16x8x8xf32>
  return %0 : tensor<?x16x8x8xf32>
}

// CHECK-LABEL: @dynamic_batch_and_scalar(
// CHECK: graph.conv %arg0, {{.*}} {group = 16 : i64}
func.func @dynamic_batch_and_scalar(%a: tensor<?x16x8x8xf32>, %b: tensor<1xf32>) -> tensor<?x16x8x8xf32> {
  %0 = graph.mul %a, %b : (tensor<?x16x8x8xf32>, tensor<1xf32>) -> tensor<?x16x8x8xf32>
  return %0 : tensor<?x16x8x8xf32>
}

// CHECK-LABEL: @dynamic_batch_of_masks(
// CHECK: graph.conv {{.*}} {group = 64 : i64} : (tensor<?x64x1x1xf32>, tensor<64x1x1x1xf32>)
func.func @dynamic_batch_of_masks(%a: tensor<?x16x8x8xf32>, %b: tensor<1x1x8x8xf32>) -> tensor<?x16x8x8xf32> {
  %0 = graph.mul %a, %b : (tensor<?x16x8x8xf32>, tensor<1x1x8x8xf32>) -> tensor<?x16x8x8xf32>
  return %0 : tensor<?x16x8x8xf32>
}

// CHECK-LABEL: @dynamic_batch_of_rows(
// CHECK: graph.conv {{.*}} {group = 8 : i64} : (tensor<?x8x1x1xf32>, tensor<8x1x1x1xf32>)
func.func @dynamic_batch_of_rows(%a: tensor<?x8xf32>, %b: tensor<8xf32>) -> tensor<?x8xf32> {
  %0 = graph.mul %a, %b : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// Two dynamic batches differ if one is 1: they are expanded to each other at run time.
// CHECK-LABEL: @two_dynamic_batches(
// CHECK-COUNT-2: graph.expand
// CHECK: graph.conv {{.*}} {group = -1 : i64} : (tensor<1x?x1x1xf32>, tensor<?x1x1x1xf32>)
func.func @two_dynamic_batches(%a: tensor<?x16x8x8xf32>, %b: tensor<?x16x1x1xf32>) -> tensor<?x16x8x8xf32> {
  %0 = graph.mul %a, %b : (tensor<?x16x8x8xf32>, tensor<?x16x1x1xf32>) -> tensor<?x16x8x8xf32>
  return %0 : tensor<?x16x8x8xf32>
}

// An image with no positions has no windows, so dynamic extents become channels.
// CHECK-LABEL: @dynamic_images(
// CHECK: graph.conv {{.*}} {group = -1 : i64}
func.func @dynamic_images(%a: tensor<?x16x?x?xf32>, %b: tensor<16x1x1xf32>) -> tensor<?x16x?x?xf32> {
  %0 = graph.mul %a, %b : (tensor<?x16x?x?xf32>, tensor<16x1x1xf32>) -> tensor<?x16x?x?xf32>
  return %0 : tensor<?x16x?x?xf32>
}

// CHECK-LABEL: @everything_dynamic(
// CHECK: graph.conv {{.*}} {group = -1 : i64}
func.func @everything_dynamic(%a: tensor<?x?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?x?xf32> {
  %0 = graph.mul %a, %b : (tensor<?x?x?xf32>, tensor<?x?xf32>) -> tensor<?x?x?xf32>
  return %0 : tensor<?x?x?xf32>
}

// Integers accumulate in i32, and the low bits are the wrapped product.
// CHECK-LABEL: @signed(
// CHECK: graph.conv_integer {{.*}} {group = 4 : i64} : (tensor<8x4x1x1xi8>, tensor<4x1x1x1xi8>) -> tensor<8x4x1x1xi32>
// CHECK: graph.cast {{.*}} to i8
func.func @signed(%a: tensor<8x4xi8>, %b: tensor<4xi8>) -> tensor<8x4xi8> {
  %0 = graph.mul %a, %b : (tensor<8x4xi8>, tensor<4xi8>) -> tensor<8x4xi8>
  return %0 : tensor<8x4xi8>
}

// CHECK-LABEL: @unsigned_outer(
// CHECK: graph.conv_integer {{.*}} -> tensor<4x6x1x1xi32>
// CHECK: graph.cast {{.*}} to ui8
func.func @unsigned_outer(%a: tensor<4x1xui8>, %b: tensor<1x6xui8>) -> tensor<4x6xui8> {
  %0 = graph.mul %a, %b : (tensor<4x1xui8>, tensor<1x6xui8>) -> tensor<4x6xui8>
  return %0 : tensor<4x6xui8>
}

// CHECK-LABEL: @integers_of_dynamic_batches(
// CHECK: graph.conv_integer {{.*}} {group = -1 : i64}
func.func @integers_of_dynamic_batches(%a: tensor<?x16x4x4xi8>, %b: tensor<?x16x4x4xi8>) -> tensor<?x16x4x4xi8> {
  %0 = graph.mul %a, %b : (tensor<?x16x4x4xi8>, tensor<?x16x4x4xi8>) -> tensor<?x16x4x4xi8>
  return %0 : tensor<?x16x4x4xi8>
}
