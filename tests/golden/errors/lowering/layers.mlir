// RUN: gradus opt %s --convert-layers-to-programs

// Choices that are not possible are refused, with the rule.
func.func @without(%x: tensor<1x8x4x4xui8>) -> tensor<1x8x4x4xui8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %z = graph.constant dense<3> : tensor<ui8>
  %f = graph.constant dense<2> : tensor<8x8x3x3xi8>
  %fs = graph.constant dense<0.01> : tensor<f32>
  %fz = graph.constant dense<0> : tensor<i8>
  %0 = layer.program "npu" -> tensor<1x8x4x4xui8> {
    %1 = layer.fused -> tensor<1x8x4x4xui8> {
      // expected-error@+1 {{the choices for 'graph.qlinear_conv' are not possible: a layer without choices, which 'choose-layers' makes}}
      %2 = graph.qlinear_conv %x, %s, %z, %f, %fs, %fz, %s, %z {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x4x4xui8>, tensor<f32>, tensor<ui8>, tensor<8x8x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<1x8x4x4xui8>
      layer.yield %2 : tensor<1x8x4x4xui8>
    }
    %3 = layer.fused by [#npu.tiles<rows = 4, kernels = 8>] -> tensor<1x8x4x4xui8> {
      %4 = graph.qlinear_conv %1, %s, %z, %f, %fs, %fz, %s, %z {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x4x4xui8>, tensor<f32>, tensor<ui8>, tensor<8x8x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<1x8x4x4xui8>
      layer.yield %4 : tensor<1x8x4x4xui8>
    }
    layer.yield %3 : tensor<1x8x4x4xui8>
  }
  return %0 : tensor<1x8x4x4xui8>
}

// -----

func.func @count(%x: tensor<1x8x4x4xui8>) -> tensor<1x8x4x4xui8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %z = graph.constant dense<3> : tensor<ui8>
  %f = graph.constant dense<2> : tensor<8x8x3x3xi8>
  %fs = graph.constant dense<0.01> : tensor<f32>
  %fz = graph.constant dense<0> : tensor<i8>
  %0 = layer.program "npu" -> tensor<1x8x4x4xui8> {
    %1 = layer.fused by [#npu.tiles<rows = 4, kernels = 8>, #npu.tiles<rows = 4, kernels = 8>] -> tensor<1x8x4x4xui8> {
      // expected-error@+1 {{the choices for 'graph.qlinear_conv' are not possible: 2 choices for 1 layers}}
      %2 = graph.qlinear_conv %x, %s, %z, %f, %fs, %fz, %s, %z {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x4x4xui8>, tensor<f32>, tensor<ui8>, tensor<8x8x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<1x8x4x4xui8>
      layer.yield %2 : tensor<1x8x4x4xui8>
    }
    %3 = layer.fused by [#npu.tiles<rows = 4, kernels = 8>] -> tensor<1x8x4x4xui8> {
      %4 = graph.qlinear_conv %1, %s, %z, %f, %fs, %fz, %s, %z {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x4x4xui8>, tensor<f32>, tensor<ui8>, tensor<8x8x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<1x8x4x4xui8>
      layer.yield %4 : tensor<1x8x4x4xui8>
    }
    layer.yield %3 : tensor<1x8x4x4xui8>
  }
  return %0 : tensor<1x8x4x4xui8>
}

// -----

func.func @rows(%x: tensor<1x8x4x4xui8>) -> tensor<1x8x4x4xui8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %z = graph.constant dense<3> : tensor<ui8>
  %f = graph.constant dense<2> : tensor<8x8x3x3xi8>
  %fs = graph.constant dense<0.01> : tensor<f32>
  %fz = graph.constant dense<0> : tensor<i8>
  %0 = layer.program "npu" -> tensor<1x8x4x4xui8> {
    %1 = layer.fused by [#npu.tiles<rows = 5, kernels = 8>] -> tensor<1x8x4x4xui8> {
      // expected-error@+1 {{the choices for 'graph.qlinear_conv' are not possible: 5 rows of a tile, but 4 of the result}}
      %2 = graph.qlinear_conv %x, %s, %z, %f, %fs, %fz, %s, %z {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x4x4xui8>, tensor<f32>, tensor<ui8>, tensor<8x8x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<1x8x4x4xui8>
      layer.yield %2 : tensor<1x8x4x4xui8>
    }
    %3 = layer.fused by [#npu.tiles<rows = 4, kernels = 8>] -> tensor<1x8x4x4xui8> {
      %4 = graph.qlinear_conv %1, %s, %z, %f, %fs, %fz, %s, %z {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x4x4xui8>, tensor<f32>, tensor<ui8>, tensor<8x8x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<1x8x4x4xui8>
      layer.yield %4 : tensor<1x8x4x4xui8>
    }
    layer.yield %3 : tensor<1x8x4x4xui8>
  }
  return %0 : tensor<1x8x4x4xui8>
}

// -----

func.func @kernels(%x: tensor<1x8x4x4xui8>) -> tensor<1x8x4x4xui8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %z = graph.constant dense<3> : tensor<ui8>
  %f = graph.constant dense<2> : tensor<8x8x3x3xi8>
  %fs = graph.constant dense<0.01> : tensor<f32>
  %fz = graph.constant dense<0> : tensor<i8>
  %0 = layer.program "npu" -> tensor<1x8x4x4xui8> {
    %1 = layer.fused by [#npu.tiles<rows = 4, kernels = 12>] -> tensor<1x8x4x4xui8> {
      // expected-error@+1 {{the choices for 'graph.qlinear_conv' are not possible: 12 kernels of a tile, which is no multiple of 8 of at most 8}}
      %2 = graph.qlinear_conv %x, %s, %z, %f, %fs, %fz, %s, %z {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x4x4xui8>, tensor<f32>, tensor<ui8>, tensor<8x8x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<1x8x4x4xui8>
      layer.yield %2 : tensor<1x8x4x4xui8>
    }
    %3 = layer.fused by [#npu.tiles<rows = 4, kernels = 8>] -> tensor<1x8x4x4xui8> {
      %4 = graph.qlinear_conv %1, %s, %z, %f, %fs, %fz, %s, %z {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x4x4xui8>, tensor<f32>, tensor<ui8>, tensor<8x8x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<1x8x4x4xui8>
      layer.yield %4 : tensor<1x8x4x4xui8>
    }
    layer.yield %3 : tensor<1x8x4x4xui8>
  }
  return %0 : tensor<1x8x4x4xui8>
}

// -----

func.func @word(%x: tensor<1x8x4x4xui8>) -> tensor<1x8x4x4xui8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %z = graph.constant dense<3> : tensor<ui8>
  %f = graph.constant dense<2> : tensor<8x8x3x3xi8>
  %fs = graph.constant dense<0.01> : tensor<f32>
  %fz = graph.constant dense<0> : tensor<i8>
  %0 = layer.program "npu" -> tensor<1x8x4x4xui8> {
    %1 = layer.fused by [#npu.tiles<rows = 4, kernels = 8, to = "sram", at = 100>] -> tensor<1x8x4x4xui8> {
      // expected-error@+1 {{the choices for 'graph.qlinear_conv' are not possible: bytes from 100 on in SRAM, which is no multiple of a word of 64}}
      %2 = graph.qlinear_conv %x, %s, %z, %f, %fs, %fz, %s, %z {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x4x4xui8>, tensor<f32>, tensor<ui8>, tensor<8x8x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<1x8x4x4xui8>
      layer.yield %2 : tensor<1x8x4x4xui8>
    }
    %3 = layer.fused by [#npu.tiles<rows = 4, kernels = 8>] -> tensor<1x8x4x4xui8> {
      %4 = graph.qlinear_conv %1, %s, %z, %f, %fs, %fz, %s, %z {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x4x4xui8>, tensor<f32>, tensor<ui8>, tensor<8x8x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<1x8x4x4xui8>
      layer.yield %4 : tensor<1x8x4x4xui8>
    }
    layer.yield %3 : tensor<1x8x4x4xui8>
  }
  return %0 : tensor<1x8x4x4xui8>
}

// -----

func.func @end(%x: tensor<1x8x4x4xui8>) -> tensor<1x8x4x4xui8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %z = graph.constant dense<3> : tensor<ui8>
  %f = graph.constant dense<2> : tensor<8x8x3x3xi8>
  %fs = graph.constant dense<0.01> : tensor<f32>
  %fz = graph.constant dense<0> : tensor<i8>
  %0 = layer.program "npu" -> tensor<1x8x4x4xui8> {
    %1 = layer.fused by [#npu.tiles<rows = 4, kernels = 8, to = "sram", at = 524288>] -> tensor<1x8x4x4xui8> {
      // expected-error@+1 {{the choices for 'graph.qlinear_conv' are not possible: bytes up to 524544 in SRAM of 524288}}
      %2 = graph.qlinear_conv %x, %s, %z, %f, %fs, %fz, %s, %z {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x4x4xui8>, tensor<f32>, tensor<ui8>, tensor<8x8x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<1x8x4x4xui8>
      layer.yield %2 : tensor<1x8x4x4xui8>
    }
    %3 = layer.fused by [#npu.tiles<rows = 4, kernels = 8>] -> tensor<1x8x4x4xui8> {
      %4 = graph.qlinear_conv %1, %s, %z, %f, %fs, %fz, %s, %z {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x4x4xui8>, tensor<f32>, tensor<ui8>, tensor<8x8x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<1x8x4x4xui8>
      layer.yield %4 : tensor<1x8x4x4xui8>
    }
    layer.yield %3 : tensor<1x8x4x4xui8>
  }
  return %0 : tensor<1x8x4x4xui8>
}

// -----

func.func @nothing_follows(%x: tensor<1x8x4x4xui8>) -> tensor<1x8x4x4xui8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %z = graph.constant dense<3> : tensor<ui8>
  %f = graph.constant dense<2> : tensor<8x8x3x3xi8>
  %fs = graph.constant dense<0.01> : tensor<f32>
  %fz = graph.constant dense<0> : tensor<i8>
  %0 = layer.program "npu" -> tensor<1x8x4x4xui8> {
    %1 = layer.fused by [#npu.tiles<rows = 4, kernels = 8, to = "next">] -> tensor<1x8x4x4xui8> {
      // expected-error@+1 {{the choices for 'graph.qlinear_conv' are not possible: tiles for the next layer, which cannot take them one by one}}
      %2 = graph.qlinear_conv %x, %s, %z, %f, %fs, %fz, %s, %z {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x4x4xui8>, tensor<f32>, tensor<ui8>, tensor<8x8x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<1x8x4x4xui8>
      layer.yield %2 : tensor<1x8x4x4xui8>
    }
    layer.yield %1 : tensor<1x8x4x4xui8>
  }
  return %0 : tensor<1x8x4x4xui8>
}

// -----

func.func @turns(%x: tensor<1x8x4x4xui8>) -> tensor<1x8x4x4xui8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %z = graph.constant dense<3> : tensor<ui8>
  %f = graph.constant dense<2> : tensor<8x8x3x3xi8>
  %fs = graph.constant dense<0.01> : tensor<f32>
  %fz = graph.constant dense<0> : tensor<i8>
  %0 = layer.program "npu" -> tensor<1x8x4x4xui8> {
    %1 = layer.fused by [#npu.tiles<rows = 4, kernels = 8, to = "next">] -> tensor<1x8x4x4xui8> {
      %2 = graph.qlinear_conv %x, %s, %z, %f, %fs, %fz, %s, %z {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x4x4xui8>, tensor<f32>, tensor<ui8>, tensor<8x8x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<1x8x4x4xui8>
      layer.yield %2 : tensor<1x8x4x4xui8>
    }
    %3 = layer.fused by [#npu.tiles<rows = 4, kernels = 8, weights = "streamed">] -> tensor<1x8x4x4xui8> {
      // expected-error@+1 {{the choices for 'graph.qlinear_conv' are not possible: layers that take turns by tiles, but not by rows with all weights kept}}
      %4 = graph.qlinear_conv %1, %s, %z, %f, %fs, %fz, %s, %z {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x4x4xui8>, tensor<f32>, tensor<ui8>, tensor<8x8x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<1x8x4x4xui8>
      layer.yield %4 : tensor<1x8x4x4xui8>
    }
    layer.yield %3 : tensor<1x8x4x4xui8>
  }
  return %0 : tensor<1x8x4x4xui8>
}

// -----

func.func @result(%x: tensor<1x8x4x4xui8>) -> tensor<1x8x4x4xui8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %z = graph.constant dense<3> : tensor<ui8>
  %f = graph.constant dense<2> : tensor<8x8x3x3xi8>
  %fs = graph.constant dense<0.01> : tensor<f32>
  %fz = graph.constant dense<0> : tensor<i8>
  %0 = layer.program "npu" -> tensor<1x8x4x4xui8> {
    %1 = layer.fused by [#npu.tiles<rows = 4, kernels = 8>] -> tensor<1x8x4x4xui8> {
      %2 = graph.qlinear_conv %x, %s, %z, %f, %fs, %fz, %s, %z {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x4x4xui8>, tensor<f32>, tensor<ui8>, tensor<8x8x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<1x8x4x4xui8>
      layer.yield %2 : tensor<1x8x4x4xui8>
    }
    %3 = layer.fused by [#npu.tiles<rows = 4, kernels = 8, to = "sram">] -> tensor<1x8x4x4xui8> {
      // expected-error@+1 {{the choices for 'graph.qlinear_conv' are not possible: a place in SRAM for a result of the program, which goes to DDR}}
      %4 = graph.qlinear_conv %1, %s, %z, %f, %fs, %fz, %s, %z {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x4x4xui8>, tensor<f32>, tensor<ui8>, tensor<8x8x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<1x8x4x4xui8>
      layer.yield %4 : tensor<1x8x4x4xui8>
    }
    layer.yield %3 : tensor<1x8x4x4xui8>
  }
  return %0 : tensor<1x8x4x4xui8>
}

// -----

func.func @other(%x: tensor<1x8x4x4xui8>) -> tensor<1x8x4x4xui8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %z = graph.constant dense<3> : tensor<ui8>
  %f = graph.constant dense<2> : tensor<8x8x3x3xi8>
  %fs = graph.constant dense<0.01> : tensor<f32>
  %fz = graph.constant dense<0> : tensor<i8>
  %0 = layer.program "npu" -> tensor<1x8x4x4xui8> {
    %1 = layer.fused by [#cluster.split<"rows", 2>] -> tensor<1x8x4x4xui8> {
      // expected-error@+1 {{the choices for 'graph.qlinear_conv' are not possible: choices other than '#npu.tiles'}}
      %2 = graph.qlinear_conv %x, %s, %z, %f, %fs, %fz, %s, %z {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x4x4xui8>, tensor<f32>, tensor<ui8>, tensor<8x8x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<1x8x4x4xui8>
      layer.yield %2 : tensor<1x8x4x4xui8>
    }
    %3 = layer.fused by [#npu.tiles<rows = 4, kernels = 8>] -> tensor<1x8x4x4xui8> {
      %4 = graph.qlinear_conv %1, %s, %z, %f, %fs, %fz, %s, %z {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x4x4xui8>, tensor<f32>, tensor<ui8>, tensor<8x8x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<1x8x4x4xui8>
      layer.yield %4 : tensor<1x8x4x4xui8>
    }
    layer.yield %3 : tensor<1x8x4x4xui8>
  }
  return %0 : tensor<1x8x4x4xui8>
}
