// RUN: gradus opt %s

// An elementwise product: the second operand is moved to kernels of a depthwise convolution.
npu.program @multiply machine [8, 8, 4, 524288, 4, 64, 16384, 9, 16, 8, 16, 4, 15, 500, 250, 128, 8, 2, 8] ddr 256 operands [64, 128] results [192] constants dense<[0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0]> : tensor<12xui8> {
  npu.load ddr 0 sram 0 run 192 counts [1, 1, 1] strides [0, 0, 0], [0, 0, 0]
  npu.signal load token 0
  npu.wait execute token 0
  npu.move from 128 to 256 slice 8 counts [1, 1, 1, 2] strides [0, 0, 0, 8], [0, 0, 0, 8]
  npu.signal mover token 1
  npu.wait execute token 1
  npu.dwconv feature [64, 1, 8, 16, 16, 8] weights [256, 1, 8, 1, 0, 0, 8, 0] input [1, 1] output [1, 1, 16] depth 1 kernel [1, 1] stride [1, 1] dilation [1, 1] pad [0, 0] zeros [0, 3, -2] acc 0 signed_feature signed_weights
  npu.signal array token 2
  npu.wait execute token 2
  npu.post acc 0 output [1, 1, 16] params [0, 0] zero 5 clamp [-128, 127] to [320, 1, 8, 16, 16, 8]
  npu.signal pipe token 3
  npu.wait store token 3
  npu.store ddr 192 sram 320 run 16 counts [1, 1, 1] strides [0, 0, 0], [0, 0, 0]
  npu.end
}

func.func @main(%a: tensor<4x4xi8>, %b: tensor<4x4xi8>) -> tensor<4x4xi8> {
  %c = npu.call @multiply(%a, %b) : (tensor<4x4xi8>, tensor<4x4xi8>) -> tensor<4x4xi8>
  return %c : tensor<4x4xi8>
}

// -----

// All forms, with residual, table, and sums that are added.
npu.program @forms machine [16, 8, 4, 262144, 8, 32, 8192, 8, 16, 8, 16, 4, 30, 400, 200, 64, 4, 4, 4] ddr 4096 operands [] results [] constants dense<> : tensor<0xui8> {
  npu.load ddr 0 sram 0 run 64 counts [2, 3, 4] strides [1024, 256, 64], [768, 256, 64]
  npu.conv feature [0, 4, 4, 256, 64, 16] weights [4096, 1, 16, 8, 384, 128, 256, 128] input [8, 8] output [4, 4, 32] depth 8 kernel [3, 3] stride [2, 2] dilation [1, 1] pad [1, 1] zeros [7, 7, 0] acc 16
  npu.conv feature [0, 4, 4, 256, 64, 16] weights [4096, 1, 16, 8, 384, 128, 256, 128] input [8, 8] output [4, 4, 32] depth 8 kernel [3, 3] stride [2, 2] dilation [1, 1] pad [1, 1] zeros [-128, 0, 0] acc 16 signed_feature signed_weights accumulate
  npu.post acc 16 output [4, 4, 32] params [8192, 12] zero -3 clamp [0, 255] to [9000, 1, 8, 128, 32, 8] residual [1, 2, 1073741824, -5, 31, 0, -128, 127] at [9000, 1, 8, 128, 32, 8] signed_residual table [12000, 256]
  npu.wait load token 31
  npu.store ddr 0 sram 9000 run 512 counts [1, 1, 1] strides [0, 0, 0], [0, 0, 0]
  npu.end
}
