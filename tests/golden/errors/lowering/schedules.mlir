// RUN: gradus opt %s --convert-layers-to-programs

// Schedules that the network or the machine does not allow are refused at their op, with the rule.
func.func @halo(%x: tensor<1x2x8x4xf32>) -> tensor<1x2x8x4xf32> {
  %w = graph.constant dense<0.5> : tensor<2x2x3x1xf32>
  %0 = layer.program "cluster" with {clusters = 2 : i64} -> tensor<1x2x8x4xf32> {
    %1 = layer.fused by [#cluster.split<"rows", 2>] -> tensor<1x2x8x4xf32> {
      %2 = graph.conv %x, %w {pads = array<i64: 1, 0, 1, 0>} : (tensor<1x2x8x4xf32>, tensor<2x2x3x1xf32>) -> tensor<1x2x8x4xf32>
      layer.yield %2 : tensor<1x2x8x4xf32>
    }
    %3 = layer.fused by [#cluster.split<"rows", 2>] -> tensor<1x2x8x4xf32> {
      %4 = graph.relu %1 : tensor<1x2x8x4xf32>
      layer.yield %4 : tensor<1x2x8x4xf32>
    }
    layer.schedule {
      %a = cluster.feature 0 read stored [0:4 0:4 0:2, 3:8 0:4 0:2] at 512 : memref<160xi8>
      %c = cluster.parameters 0 [0:2 on 3] at 1024 : memref<64xi8>
      %b = cluster.feature 1 stored [0:4 0:4 0:2, 4:8 0:4 0:2] at 0 : memref<128xi8>
      // expected-error@+1 {{'cluster.task' is not possible: cluster 0 reads rows 0 to 5, which its buffer does not have}}
      cluster.task 0 boxes [0:4 0:4 0:2, 4:8 0:4 0:2] reads(%a, %c) writes(%b)
      %d = cluster.feature 2 stored [0:4 0:4 0:2, 4:8 0:4 0:2] needed none at 256 : memref<128xi8>
      cluster.task 1 boxes [0:4 0:4 0:2, 4:8 0:4 0:2] saved [0:4 0:4 0:2, 4:8 0:4 0:2] reads(%b) writes(%d)
    }
    layer.yield %3 : tensor<1x2x8x4xf32>
  }
  return %0 : tensor<1x2x8x4xf32>
}

// -----

func.func @channels(%x: tensor<1x2x8x4xf32>) -> tensor<1x2x8x4xf32> {
  %w = graph.constant dense<0.5> : tensor<2x2x3x1xf32>
  %0 = layer.program "cluster" with {clusters = 2 : i64} -> tensor<1x2x8x4xf32> {
    %1 = layer.fused by [#cluster.split<"rows", 2>] -> tensor<1x2x8x4xf32> {
      %2 = graph.conv %x, %w {pads = array<i64: 1, 0, 1, 0>} : (tensor<1x2x8x4xf32>, tensor<2x2x3x1xf32>) -> tensor<1x2x8x4xf32>
      layer.yield %2 : tensor<1x2x8x4xf32>
    }
    %3 = layer.fused by [#cluster.split<"rows", 2>] -> tensor<1x2x8x4xf32> {
      %4 = graph.relu %1 : tensor<1x2x8x4xf32>
      layer.yield %4 : tensor<1x2x8x4xf32>
    }
    layer.schedule {
      %a = cluster.feature 0 read stored [0:5 0:4 0:2, 3:8 0:4 0:2] at 512 : memref<160xi8>
      %c = cluster.parameters 0 [0:1 on 3] at 1024 : memref<64xi8>
      %b = cluster.feature 1 stored [0:4 0:4 0:2, 4:8 0:4 0:2] at 0 : memref<128xi8>
      // expected-error@+1 {{'cluster.task' is not possible: channels of cluster 0 other than those of its constants}}
      cluster.task 0 boxes [0:4 0:4 0:2, 4:8 0:4 0:2] reads(%a, %c) writes(%b)
      %d = cluster.feature 2 stored [0:4 0:4 0:2, 4:8 0:4 0:2] needed none at 256 : memref<128xi8>
      cluster.task 1 boxes [0:4 0:4 0:2, 4:8 0:4 0:2] saved [0:4 0:4 0:2, 4:8 0:4 0:2] reads(%b) writes(%d)
    }
    layer.yield %3 : tensor<1x2x8x4xf32>
  }
  return %0 : tensor<1x2x8x4xf32>
}

// -----

func.func @clusters(%x: tensor<1x2x8x4xf32>) -> tensor<1x2x8x4xf32> {
  %w = graph.constant dense<0.5> : tensor<2x2x3x1xf32>
  %0 = layer.program "cluster" with {clusters = 2 : i64} -> tensor<1x2x8x4xf32> {
    %1 = layer.fused by [#cluster.split<"rows", 2>] -> tensor<1x2x8x4xf32> {
      %2 = graph.conv %x, %w {pads = array<i64: 1, 0, 1, 0>} : (tensor<1x2x8x4xf32>, tensor<2x2x3x1xf32>) -> tensor<1x2x8x4xf32>
      layer.yield %2 : tensor<1x2x8x4xf32>
    }
    %3 = layer.fused by [#cluster.split<"rows", 2>] -> tensor<1x2x8x4xf32> {
      %4 = graph.relu %1 : tensor<1x2x8x4xf32>
      layer.yield %4 : tensor<1x2x8x4xf32>
    }
    layer.schedule {
      %a = cluster.feature 0 read stored [0:5 0:4 0:2, 3:8 0:4 0:2] at 512 : memref<160xi8>
      // expected-error@+1 {{'cluster.parameters' is not possible: channels or clusters that there are not}}
      %c = cluster.parameters 0 [0:2 on 7] at 1024 : memref<64xi8>
      %b = cluster.feature 1 stored [0:4 0:4 0:2, 4:8 0:4 0:2] at 0 : memref<128xi8>
      cluster.task 0 boxes [0:4 0:4 0:2, 4:8 0:4 0:2] reads(%a, %c) writes(%b)
      %d = cluster.feature 2 stored [0:4 0:4 0:2, 4:8 0:4 0:2] needed none at 256 : memref<128xi8>
      cluster.task 1 boxes [0:4 0:4 0:2, 4:8 0:4 0:2] saved [0:4 0:4 0:2, 4:8 0:4 0:2] reads(%b) writes(%d)
    }
    layer.yield %3 : tensor<1x2x8x4xf32>
  }
  return %0 : tensor<1x2x8x4xf32>
}

// -----

func.func @order(%x: tensor<1x2x8x4xf32>) -> tensor<1x2x8x4xf32> {
  %w = graph.constant dense<0.5> : tensor<2x2x3x1xf32>
  %0 = layer.program "cluster" with {clusters = 2 : i64} -> tensor<1x2x8x4xf32> {
    %1 = layer.fused by [#cluster.split<"rows", 2>] -> tensor<1x2x8x4xf32> {
      %2 = graph.conv %x, %w {pads = array<i64: 1, 0, 1, 0>} : (tensor<1x2x8x4xf32>, tensor<2x2x3x1xf32>) -> tensor<1x2x8x4xf32>
      layer.yield %2 : tensor<1x2x8x4xf32>
    }
    %3 = layer.fused by [#cluster.split<"rows", 2>] -> tensor<1x2x8x4xf32> {
      %4 = graph.relu %1 : tensor<1x2x8x4xf32>
      layer.yield %4 : tensor<1x2x8x4xf32>
    }
    layer.schedule {
      %a = cluster.feature 0 read stored [0:5 0:4 0:2, 3:8 0:4 0:2] at 512 : memref<160xi8>
      %c = cluster.parameters 0 [0:2 on 3] at 1024 : memref<64xi8>
      %b = cluster.feature 1 stored [0:4 0:4 0:2, 4:8 0:4 0:2] at 0 : memref<128xi8>
      %d = cluster.feature 2 stored [0:4 0:4 0:2, 4:8 0:4 0:2] needed none at 256 : memref<128xi8>
      // expected-error@+1 {{'cluster.task' is not possible: cluster 0 reads what no task before has computed}}
      cluster.task 1 boxes [0:4 0:4 0:2, 4:8 0:4 0:2] saved [0:4 0:4 0:2, 4:8 0:4 0:2] reads(%b) writes(%d)
      cluster.task 0 boxes [0:4 0:4 0:2, 4:8 0:4 0:2] reads(%a, %c) writes(%b)
    }
    layer.yield %3 : tensor<1x2x8x4xf32>
  }
  return %0 : tensor<1x2x8x4xf32>
}

// -----

func.func @part(%x: tensor<1x2x8x4xf32>) -> tensor<1x2x8x4xf32> {
  %w = graph.constant dense<0.5> : tensor<2x2x3x1xf32>
  %0 = layer.program "cluster" with {clusters = 2 : i64} -> tensor<1x2x8x4xf32> {
    %1 = layer.fused by [#cluster.split<"rows", 2>] -> tensor<1x2x8x4xf32> {
      %2 = graph.conv %x, %w {pads = array<i64: 1, 0, 1, 0>} : (tensor<1x2x8x4xf32>, tensor<2x2x3x1xf32>) -> tensor<1x2x8x4xf32>
      layer.yield %2 : tensor<1x2x8x4xf32>
    }
    %3 = layer.fused by [#cluster.split<"rows", 2>] -> tensor<1x2x8x4xf32> {
      %4 = graph.relu %1 : tensor<1x2x8x4xf32>
      layer.yield %4 : tensor<1x2x8x4xf32>
    }
    layer.schedule {
      %a = cluster.feature 0 read stored [0:5 0:4 0:2, 3:8 0:4 0:2] at 512 : memref<160xi8>
      %c = cluster.parameters 0 [0:2 on 3] at 1024 : memref<64xi8>
      %b = cluster.feature 1 stored [0:4 0:4 0:2, 4:8 0:4 0:2] at 0 : memref<128xi8>
      cluster.task 0 boxes [0:4 0:4 0:2, 4:7 0:4 0:2] reads(%a, %c) writes(%b)
      %d = cluster.feature 2 stored [0:4 0:4 0:2, 4:8 0:4 0:2] needed none at 256 : memref<128xi8>
      // expected-error@+1 {{'cluster.task' is not possible: cluster 1 reads what no task before has computed}}
      cluster.task 1 boxes [0:4 0:4 0:2, 4:8 0:4 0:2] saved [0:4 0:4 0:2, 4:8 0:4 0:2] reads(%b) writes(%d)
    }
    layer.yield %3 : tensor<1x2x8x4xf32>
  }
  return %0 : tensor<1x2x8x4xf32>
}

// -----

func.func @place(%x: tensor<1x2x8x4xf32>) -> tensor<1x2x8x4xf32> {
  %w = graph.constant dense<0.5> : tensor<2x2x3x1xf32>
  %0 = layer.program "cluster" with {clusters = 2 : i64} -> tensor<1x2x8x4xf32> {
    %1 = layer.fused by [#cluster.split<"rows", 2>] -> tensor<1x2x8x4xf32> {
      %2 = graph.conv %x, %w {pads = array<i64: 1, 0, 1, 0>} : (tensor<1x2x8x4xf32>, tensor<2x2x3x1xf32>) -> tensor<1x2x8x4xf32>
      layer.yield %2 : tensor<1x2x8x4xf32>
    }
    %3 = layer.fused by [#cluster.split<"rows", 2>] -> tensor<1x2x8x4xf32> {
      %4 = graph.relu %1 : tensor<1x2x8x4xf32>
      layer.yield %4 : tensor<1x2x8x4xf32>
    }
    layer.schedule {
      %a = cluster.feature 0 read stored [0:5 0:4 0:2, 3:8 0:4 0:2] at 512 : memref<160xi8>
      %c = cluster.parameters 0 [0:2 on 3] at 1024 : memref<64xi8>
      // expected-error@+1 {{'cluster.feature' is not possible: the bytes from 512 on, which hold another buffer at the same time}}
      %b = cluster.feature 1 stored [0:4 0:4 0:2, 4:8 0:4 0:2] at 512 : memref<128xi8>
      cluster.task 0 boxes [0:4 0:4 0:2, 4:8 0:4 0:2] reads(%a, %c) writes(%b)
      %d = cluster.feature 2 stored [0:4 0:4 0:2, 4:8 0:4 0:2] needed none at 256 : memref<128xi8>
      cluster.task 1 boxes [0:4 0:4 0:2, 4:8 0:4 0:2] saved [0:4 0:4 0:2, 4:8 0:4 0:2] reads(%b) writes(%d)
    }
    layer.yield %3 : tensor<1x2x8x4xf32>
  }
  return %0 : tensor<1x2x8x4xf32>
}

// -----

func.func @alignment(%x: tensor<1x2x8x4xf32>) -> tensor<1x2x8x4xf32> {
  %w = graph.constant dense<0.5> : tensor<2x2x3x1xf32>
  %0 = layer.program "cluster" with {clusters = 2 : i64} -> tensor<1x2x8x4xf32> {
    %1 = layer.fused by [#cluster.split<"rows", 2>] -> tensor<1x2x8x4xf32> {
      %2 = graph.conv %x, %w {pads = array<i64: 1, 0, 1, 0>} : (tensor<1x2x8x4xf32>, tensor<2x2x3x1xf32>) -> tensor<1x2x8x4xf32>
      layer.yield %2 : tensor<1x2x8x4xf32>
    }
    %3 = layer.fused by [#cluster.split<"rows", 2>] -> tensor<1x2x8x4xf32> {
      %4 = graph.relu %1 : tensor<1x2x8x4xf32>
      layer.yield %4 : tensor<1x2x8x4xf32>
    }
    layer.schedule {
      %a = cluster.feature 0 read stored [0:5 0:4 0:2, 3:8 0:4 0:2] at 512 : memref<160xi8>
      %c = cluster.parameters 0 [0:2 on 3] at 1024 : memref<64xi8>
      %b = cluster.feature 1 stored [0:4 0:4 0:2, 4:8 0:4 0:2] at 0 : memref<128xi8>
      cluster.task 0 boxes [0:4 0:4 0:2, 4:8 0:4 0:2] reads(%a, %c) writes(%b)
      // expected-error@+1 {{'cluster.feature' is not possible: a place at byte 250, which is no multiple of 32, or beyond the memory of a cluster}}
      %d = cluster.feature 2 stored [0:4 0:4 0:2, 4:8 0:4 0:2] needed none at 250 : memref<128xi8>
      cluster.task 1 boxes [0:4 0:4 0:2, 4:8 0:4 0:2] saved [0:4 0:4 0:2, 4:8 0:4 0:2] reads(%b) writes(%d)
    }
    layer.yield %3 : tensor<1x2x8x4xf32>
  }
  return %0 : tensor<1x2x8x4xf32>
}

// -----

func.func @saved(%x: tensor<1x2x8x4xf32>) -> tensor<1x2x8x4xf32> {
  %w = graph.constant dense<0.5> : tensor<2x2x3x1xf32>
  %0 = layer.program "cluster" with {clusters = 2 : i64} -> tensor<1x2x8x4xf32> {
    %1 = layer.fused by [#cluster.split<"rows", 2>] -> tensor<1x2x8x4xf32> {
      %2 = graph.conv %x, %w {pads = array<i64: 1, 0, 1, 0>} : (tensor<1x2x8x4xf32>, tensor<2x2x3x1xf32>) -> tensor<1x2x8x4xf32>
      layer.yield %2 : tensor<1x2x8x4xf32>
    }
    %3 = layer.fused by [#cluster.split<"rows", 2>] -> tensor<1x2x8x4xf32> {
      %4 = graph.relu %1 : tensor<1x2x8x4xf32>
      layer.yield %4 : tensor<1x2x8x4xf32>
    }
    layer.schedule {
      %a = cluster.feature 0 read stored [0:5 0:4 0:2, 3:8 0:4 0:2] at 512 : memref<160xi8>
      %c = cluster.parameters 0 [0:2 on 3] at 1024 : memref<64xi8>
      %b = cluster.feature 1 stored [0:4 0:4 0:2, 4:8 0:4 0:2] at 0 : memref<128xi8>
      cluster.task 0 boxes [0:4 0:4 0:2, 4:8 0:4 0:2] reads(%a, %c) writes(%b)
      %d = cluster.feature 2 stored [0:4 0:4 0:2, 4:8 0:4 0:2] needed none at 256 : memref<128xi8>
      // expected-error@+1 {{'cluster.task' is not possible: the last task, but a part of a result is not in DDR}}
      cluster.task 1 boxes [0:4 0:4 0:2, 4:8 0:4 0:2] saved [0:4 0:4 0:2, none] reads(%b) writes(%d)
    }
    layer.yield %3 : tensor<1x2x8x4xf32>
  }
  return %0 : tensor<1x2x8x4xf32>
}

// -----

func.func @buffer(%x: tensor<1x2x8x4xf32>) -> tensor<1x2x8x4xf32> {
  %w = graph.constant dense<0.5> : tensor<2x2x3x1xf32>
  %0 = layer.program "cluster" with {clusters = 2 : i64} -> tensor<1x2x8x4xf32> {
    %1 = layer.fused by [#cluster.split<"rows", 2>] -> tensor<1x2x8x4xf32> {
      %2 = graph.conv %x, %w {pads = array<i64: 1, 0, 1, 0>} : (tensor<1x2x8x4xf32>, tensor<2x2x3x1xf32>) -> tensor<1x2x8x4xf32>
      layer.yield %2 : tensor<1x2x8x4xf32>
    }
    %3 = layer.fused by [#cluster.split<"rows", 2>] -> tensor<1x2x8x4xf32> {
      %4 = graph.relu %1 : tensor<1x2x8x4xf32>
      layer.yield %4 : tensor<1x2x8x4xf32>
    }
    layer.schedule {
      %a = cluster.feature 0 read stored [0:5 0:4 0:2, 3:8 0:4 0:2] at 512 : memref<160xi8>
      %c = cluster.parameters 0 [0:2 on 3] at 1024 : memref<64xi8>
      %b = cluster.feature 1 stored [0:4 0:4 0:2, 4:8 0:4 0:2] at 0 : memref<128xi8>
      cluster.task 0 boxes [0:4 0:4 0:2, 4:8 0:4 0:2] reads(%a, %c) writes(%b)
      %d = cluster.feature 2 stored [0:4 0:4 0:2, 4:8 0:4 0:2] needed none at 256 : memref<128xi8>
      // expected-error@+1 {{'cluster.task' is not possible: the buffer of another feature than the layer reads}}
      cluster.task 1 boxes [0:4 0:4 0:2, 4:8 0:4 0:2] saved [0:4 0:4 0:2, 4:8 0:4 0:2] reads(%a) writes(%d)
    }
    layer.yield %3 : tensor<1x2x8x4xf32>
  }
  return %0 : tensor<1x2x8x4xf32>
}

// -----

func.func @rows(%x: tensor<1x8x4x4xui8>) -> tensor<1x8x4x4xui8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %z = graph.constant dense<3> : tensor<ui8>
  %f = graph.constant dense<2> : tensor<8x8x3x3xi8>
  %fs = graph.constant dense<0.01> : tensor<f32>
  %fz = graph.constant dense<0> : tensor<i8>
  %0 = layer.program "npu" -> tensor<1x8x4x4xui8> {
    %1 = layer.fused by [#npu.tiles<rows = 2, kernels = 8>] -> tensor<1x8x4x4xui8> {
      %2 = graph.qlinear_conv %x, %s, %z, %f, %fs, %fz, %s, %z {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x4x4xui8>, tensor<f32>, tensor<ui8>, tensor<8x8x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<1x8x4x4xui8>
      layer.yield %2 : tensor<1x8x4x4xui8>
    }
    layer.schedule {
      %a = npu.tile 0 load rows 0:2 channels 0:8 at 0 slots [0] : memref<96xi8>
      %b = npu.tile 1 store rows 0:2 channels 0:8 at 1024 : memref<64xi8>
      %c = npu.constants 0 kernels 0:8 at 4096 slots [0] : memref<640xi8>
      // expected-error@+1 {{'npu.step' is not possible: input: a tile without rows 0 to 3, or their channels}}
      npu.step 0 slot 1 rows 0:2 kernels 0:8 constants %c input %a output %b
      %d = npu.tile 0 load rows 1:4 channels 0:8 at 512 slots [0] : memref<96xi8>
      %e = npu.tile 1 store rows 2:4 channels 0:8 at 2048 : memref<64xi8>
      npu.step 0 slot 2 rows 2:4 kernels 0:8 constants %c input %d output %e
    }
    layer.yield %1 : tensor<1x8x4x4xui8>
  }
  return %0 : tensor<1x8x4x4xui8>
}

// -----

func.func @slot(%x: tensor<1x8x4x4xui8>) -> tensor<1x8x4x4xui8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %z = graph.constant dense<3> : tensor<ui8>
  %f = graph.constant dense<2> : tensor<8x8x3x3xi8>
  %fs = graph.constant dense<0.01> : tensor<f32>
  %fz = graph.constant dense<0> : tensor<i8>
  %0 = layer.program "npu" -> tensor<1x8x4x4xui8> {
    %1 = layer.fused by [#npu.tiles<rows = 2, kernels = 8>] -> tensor<1x8x4x4xui8> {
      %2 = graph.qlinear_conv %x, %s, %z, %f, %fs, %fz, %s, %z {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x4x4xui8>, tensor<f32>, tensor<ui8>, tensor<8x8x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<1x8x4x4xui8>
      layer.yield %2 : tensor<1x8x4x4xui8>
    }
    layer.schedule {
      %a = npu.tile 0 load rows 0:3 channels 0:8 at 0 slots [0] : memref<96xi8>
      %b = npu.tile 1 store rows 0:2 channels 0:8 at 1024 : memref<64xi8>
      %c = npu.constants 0 kernels 0:8 at 4096 slots [0] : memref<640xi8>
      npu.step 0 slot 1 rows 0:2 kernels 0:8 constants %c input %a output %b
      %d = npu.tile 0 load rows 1:4 channels 0:8 at 512 slots [0] : memref<96xi8>
      %e = npu.tile 1 store rows 2:4 channels 0:8 at 2048 : memref<64xi8>
      // expected-error@+1 {{'npu.step' is not possible: slot 1, before slot 2, which is the earliest one}}
      npu.step 0 slot 1 rows 2:4 kernels 0:8 constants %c input %d output %e
    }
    layer.yield %1 : tensor<1x8x4x4xui8>
  }
  return %0 : tensor<1x8x4x4xui8>
}

// -----

func.func @twice(%x: tensor<1x8x4x4xui8>) -> tensor<1x8x4x4xui8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %z = graph.constant dense<3> : tensor<ui8>
  %f = graph.constant dense<2> : tensor<8x8x3x3xi8>
  %fs = graph.constant dense<0.01> : tensor<f32>
  %fz = graph.constant dense<0> : tensor<i8>
  %0 = layer.program "npu" -> tensor<1x8x4x4xui8> {
    %1 = layer.fused by [#npu.tiles<rows = 2, kernels = 8>] -> tensor<1x8x4x4xui8> {
      %2 = graph.qlinear_conv %x, %s, %z, %f, %fs, %fz, %s, %z {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x4x4xui8>, tensor<f32>, tensor<ui8>, tensor<8x8x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<1x8x4x4xui8>
      layer.yield %2 : tensor<1x8x4x4xui8>
    }
    layer.schedule {
      %a = npu.tile 0 load rows 0:3 channels 0:8 at 0 slots [0] : memref<96xi8>
      %b = npu.tile 1 store rows 0:2 channels 0:8 at 1024 : memref<64xi8>
      %c = npu.constants 0 kernels 0:8 at 4096 slots [0] : memref<640xi8>
      npu.step 0 slot 1 rows 0:2 kernels 0:8 constants %c input %a output %b
      %d = npu.tile 0 load rows 1:4 channels 0:8 at 512 slots [0] : memref<96xi8>
      %e = npu.tile 1 store rows 2:4 channels 0:8 at 2048 : memref<64xi8>
      // expected-error@+1 {{'npu.step' is not possible: rows and kernels of no tile of its layer, or of one that is computed already}}
      npu.step 0 slot 2 rows 0:2 kernels 0:8 constants %c input %d output %e
    }
    layer.yield %1 : tensor<1x8x4x4xui8>
  }
  return %0 : tensor<1x8x4x4xui8>
}

// -----

func.func @missing(%x: tensor<1x8x4x4xui8>) -> tensor<1x8x4x4xui8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %z = graph.constant dense<3> : tensor<ui8>
  %f = graph.constant dense<2> : tensor<8x8x3x3xi8>
  %fs = graph.constant dense<0.01> : tensor<f32>
  %fz = graph.constant dense<0> : tensor<i8>
  %0 = layer.program "npu" -> tensor<1x8x4x4xui8> {
    %1 = layer.fused by [#npu.tiles<rows = 2, kernels = 8>] -> tensor<1x8x4x4xui8> {
      %2 = graph.qlinear_conv %x, %s, %z, %f, %fs, %fz, %s, %z {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x4x4xui8>, tensor<f32>, tensor<ui8>, tensor<8x8x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<1x8x4x4xui8>
      layer.yield %2 : tensor<1x8x4x4xui8>
    }
    layer.schedule {
      %a = npu.tile 0 load rows 0:3 channels 0:8 at 0 slots [0] : memref<96xi8>
      %b = npu.tile 1 store rows 0:2 channels 0:8 at 1024 : memref<64xi8>
      // expected-error@+1 {{'npu.constants' is not possible: the last buffer, but steps compute a part of the result of layer 0 only}}
      %c = npu.constants 0 kernels 0:8 at 4096 slots [0] : memref<640xi8>
      npu.step 0 slot 1 rows 0:2 kernels 0:8 constants %c input %a output %b
    }
    layer.yield %1 : tensor<1x8x4x4xui8>
  }
  return %0 : tensor<1x8x4x4xui8>
}

// -----

func.func @late(%x: tensor<1x8x4x4xui8>) -> tensor<1x8x4x4xui8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %z = graph.constant dense<3> : tensor<ui8>
  %f = graph.constant dense<2> : tensor<8x8x3x3xi8>
  %fs = graph.constant dense<0.01> : tensor<f32>
  %fz = graph.constant dense<0> : tensor<i8>
  %0 = layer.program "npu" -> tensor<1x8x4x4xui8> {
    %1 = layer.fused by [#npu.tiles<rows = 2, kernels = 8>] -> tensor<1x8x4x4xui8> {
      %2 = graph.qlinear_conv %x, %s, %z, %f, %fs, %fz, %s, %z {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x4x4xui8>, tensor<f32>, tensor<ui8>, tensor<8x8x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<1x8x4x4xui8>
      layer.yield %2 : tensor<1x8x4x4xui8>
    }
    layer.schedule {
      %a = npu.tile 0 load rows 0:3 channels 0:8 at 0 slots [0] : memref<96xi8>
      %b = npu.tile 1 store rows 0:2 channels 0:8 at 1024 : memref<64xi8>
      %c = npu.constants 0 kernels 0:8 at 4096 slots [0] : memref<640xi8>
      npu.step 0 slot 1 rows 0:2 kernels 0:8 constants %c input %a output %b
      // expected-error@+1 {{'npu.tile' is not possible: a load that is not issued by slot 2, in which it is used}}
      %d = npu.tile 0 load rows 1:4 channels 0:8 at 512 slots [3] : memref<96xi8>
      %e = npu.tile 1 store rows 2:4 channels 0:8 at 2048 : memref<64xi8>
      npu.step 0 slot 2 rows 2:4 kernels 0:8 constants %c input %d output %e
    }
    layer.yield %1 : tensor<1x8x4x4xui8>
  }
  return %0 : tensor<1x8x4x4xui8>
}

// -----

func.func @bytes(%x: tensor<1x8x4x4xui8>) -> tensor<1x8x4x4xui8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %z = graph.constant dense<3> : tensor<ui8>
  %f = graph.constant dense<2> : tensor<8x8x3x3xi8>
  %fs = graph.constant dense<0.01> : tensor<f32>
  %fz = graph.constant dense<0> : tensor<i8>
  %0 = layer.program "npu" -> tensor<1x8x4x4xui8> {
    %1 = layer.fused by [#npu.tiles<rows = 2, kernels = 8>] -> tensor<1x8x4x4xui8> {
      %2 = graph.qlinear_conv %x, %s, %z, %f, %fs, %fz, %s, %z {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x4x4xui8>, tensor<f32>, tensor<ui8>, tensor<8x8x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<1x8x4x4xui8>
      layer.yield %2 : tensor<1x8x4x4xui8>
    }
    layer.schedule {
      %a = npu.tile 0 load rows 0:3 channels 0:8 at 0 slots [0] : memref<96xi8>
      %b = npu.tile 1 store rows 0:2 channels 0:8 at 1024 : memref<64xi8>
      %c = npu.constants 0 kernels 0:8 at 4096 slots [0] : memref<640xi8>
      npu.step 0 slot 1 rows 0:2 kernels 0:8 constants %c input %a output %b
      // expected-error@+1 {{'npu.tile' is not possible: the bytes from 4096 on, which hold something else at the same time}}
      %d = npu.tile 0 load rows 1:4 channels 0:8 at 4096 slots [0] : memref<96xi8>
      %e = npu.tile 1 store rows 2:4 channels 0:8 at 2048 : memref<64xi8>
      npu.step 0 slot 2 rows 2:4 kernels 0:8 constants %c input %d output %e
    }
    layer.yield %1 : tensor<1x8x4x4xui8>
  }
  return %0 : tensor<1x8x4x4xui8>
}

// -----

func.func @output(%x: tensor<1x8x4x4xui8>) -> tensor<1x8x4x4xui8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %z = graph.constant dense<3> : tensor<ui8>
  %f = graph.constant dense<2> : tensor<8x8x3x3xi8>
  %fs = graph.constant dense<0.01> : tensor<f32>
  %fz = graph.constant dense<0> : tensor<i8>
  %0 = layer.program "npu" -> tensor<1x8x4x4xui8> {
    %1 = layer.fused by [#npu.tiles<rows = 2, kernels = 8>] -> tensor<1x8x4x4xui8> {
      %2 = graph.qlinear_conv %x, %s, %z, %f, %fs, %fz, %s, %z {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x4x4xui8>, tensor<f32>, tensor<ui8>, tensor<8x8x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<1x8x4x4xui8>
      layer.yield %2 : tensor<1x8x4x4xui8>
    }
    layer.schedule {
      %a = npu.tile 0 load rows 0:3 channels 0:8 at 0 slots [0] : memref<96xi8>
      %b = npu.tile 1 store rows 0:2 channels 0:8 at 1024 : memref<64xi8>
      %c = npu.constants 0 kernels 0:8 at 4096 slots [0] : memref<640xi8>
      npu.step 0 slot 1 rows 0:2 kernels 0:8 constants %c input %a output %b
      %d = npu.tile 0 load rows 1:4 channels 0:8 at 512 slots [0] : memref<96xi8>
      %e = npu.tile 1 store rows 2:4 channels 0:8 at 2048 : memref<64xi8>
      // expected-error@+1 {{'npu.step' is not possible: output: a tile without rows 2 to 4, or their channels}}
      npu.step 0 slot 2 rows 2:4 kernels 0:8 constants %c input %d output %b
    }
    layer.yield %1 : tensor<1x8x4x4xui8>
  }
  return %0 : tensor<1x8x4x4xui8>
}

// -----

func.func @without(%x: tensor<1x2x8x4xf32>) -> tensor<1x2x8x4xf32> {
  %0 = layer.program "cluster" with {clusters = 2 : i64} -> tensor<1x2x8x4xf32> {
    %1 = layer.fused by [#cluster.split<"rows", 2>] -> tensor<1x2x8x4xf32> {
      %2 = graph.relu %x : tensor<1x2x8x4xf32>
      layer.yield %2 : tensor<1x2x8x4xf32>
    }
    layer.schedule {
      // expected-error@+1 {{'npu.constants' is no op of a schedule of clusters}}
      %a = npu.constants 0 kernels 0:8 : memref<640xi8>
    }
    layer.yield %1 : tensor<1x2x8x4xf32>
  }
  return %0 : tensor<1x2x8x4xf32>
}

// -----

// A choice that is edited, but not its schedule: both are named.
func.func @division(%x: tensor<1x2x8x4xf32>) -> tensor<1x2x8x4xf32> {
  %w = graph.constant dense<0.5> : tensor<2x2x3x1xf32>
  %0 = layer.program "cluster" with {clusters = 2 : i64} -> tensor<1x2x8x4xf32> {
    %1 = layer.fused by [#cluster.split<"columns", 2>] -> tensor<1x2x8x4xf32> {
      %2 = graph.conv %x, %w {pads = array<i64: 1, 0, 1, 0>} : (tensor<1x2x8x4xf32>, tensor<2x2x3x1xf32>) -> tensor<1x2x8x4xf32>
      layer.yield %2 : tensor<1x2x8x4xf32>
    }
    %3 = layer.fused by [#cluster.split<"rows", 2>] -> tensor<1x2x8x4xf32> {
      %4 = graph.relu %1 : tensor<1x2x8x4xf32>
      layer.yield %4 : tensor<1x2x8x4xf32>
    }
    layer.schedule {
      %a = cluster.feature 0 read stored [0:5 0:4 0:2, 3:8 0:4 0:2] at 512 : memref<160xi8>
      %c = cluster.parameters 0 [0:2 on 3] at 1024 : memref<64xi8>
      %b = cluster.feature 1 stored [0:4 0:4 0:2, 4:8 0:4 0:2] at 0 : memref<128xi8>
      // expected-error@+1 {{'cluster.task' is not possible: cluster 0 computes rows 0 to 4, not those of '#cluster.split', the choice for its layer}}
      cluster.task 0 boxes [0:4 0:4 0:2, 4:8 0:4 0:2] reads(%a, %c) writes(%b)
      %d = cluster.feature 2 stored [0:4 0:4 0:2, 4:8 0:4 0:2] needed none at 256 : memref<128xi8>
      cluster.task 1 boxes [0:4 0:4 0:2, 4:8 0:4 0:2] saved [0:4 0:4 0:2, 4:8 0:4 0:2] reads(%b) writes(%d)
    }
    layer.yield %3 : tensor<1x2x8x4xf32>
  }
  return %0 : tensor<1x2x8x4xf32>
}

// -----

// Constants in other slices than those of `#cluster.reads`.
func.func @slices(%x: tensor<1x2x8x4xf32>) -> tensor<1x2x8x4xf32> {
  %w = graph.constant dense<0.5> : tensor<2x2x3x1xf32>
  %0 = layer.program "cluster" with {clusters = 2 : i64} by [#cluster.reads<slice = 32, fill = 100, effort = 1500000>] -> tensor<1x2x8x4xf32> {
    %1 = layer.fused by [#cluster.split<"rows", 2>] -> tensor<1x2x8x4xf32> {
      %2 = graph.conv %x, %w {pads = array<i64: 1, 0, 1, 0>} : (tensor<1x2x8x4xf32>, tensor<2x2x3x1xf32>) -> tensor<1x2x8x4xf32>
      layer.yield %2 : tensor<1x2x8x4xf32>
    }
    %3 = layer.fused by [#cluster.split<"rows", 2>] -> tensor<1x2x8x4xf32> {
      %4 = graph.relu %1 : tensor<1x2x8x4xf32>
      layer.yield %4 : tensor<1x2x8x4xf32>
    }
    layer.schedule {
      %a = cluster.feature 0 read stored [0:5 0:4 0:2, 3:8 0:4 0:2] at 512 : memref<160xi8>
      %c = cluster.parameters 0 [0:2 on 3] at 1024 : memref<64xi8>
      %b = cluster.feature 1 stored [0:4 0:4 0:2, 4:8 0:4 0:2] at 0 : memref<128xi8>
      // expected-error@+1 {{'cluster.task' is not possible: cluster 0 computes channels 0 to 2, not those of '#cluster.split' and '#cluster.reads', the choices for its layer}}
      cluster.task 0 boxes [0:4 0:4 0:2, 4:8 0:4 0:2] reads(%a, %c) writes(%b)
      %d = cluster.feature 2 stored [0:4 0:4 0:2, 4:8 0:4 0:2] needed none at 256 : memref<128xi8>
      cluster.task 1 boxes [0:4 0:4 0:2, 4:8 0:4 0:2] saved [0:4 0:4 0:2, 4:8 0:4 0:2] reads(%b) writes(%d)
    }
    layer.yield %3 : tensor<1x2x8x4xf32>
  }
  return %0 : tensor<1x2x8x4xf32>
}
