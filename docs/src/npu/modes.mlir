// A convolution by programs whose weights are laid out in six modes; `conv.mlir` is what each computes.

npu.program @npu_8k8d machine [8, 8, 4, 524288, 4, 64, 16384, 9, 16, 8, 16, 4, 15, 500, 250, 128, 8, 2, 8] ddr 1280 operands [64, 384] results [1152] constants dense<[0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0]> : tensor<12xui8> {
  npu.load ddr 64 sram 0 run 320 counts [1, 1, 1] strides [0, 0, 0], [0, 0, 0]
  npu.load ddr 384 sram 512 run 768 counts [1, 1, 1] strides [0, 0, 0], [0, 0, 0]
  npu.load ddr 0 sram 1280 run 12 counts [1, 1, 1] strides [0, 0, 0], [0, 0, 0]
  npu.signal load token 0
  npu.wait execute token 0
  npu.conv feature [0, 1, 16, 80, 16, 16] weights [512, 1, 8, 8, 384, 128, 128, 64] input [4, 5] output [3, 3, 8] depth 16 kernel [2, 3] stride [1, 1] dilation [1, 1] pad [0, 0] zeros [3, 3, 0] acc 0 signed_feature signed_weights
  npu.signal array token 1
  npu.wait execute token 1
  npu.post acc 0 output [3, 3, 8] params [1280, 0] zero 5 clamp [-128, 127] to [1344, 1, 8, 24, 8, 8]
  npu.signal pipe token 2
  npu.wait store token 2
  npu.store ddr 1152 sram 1344 run 72 counts [1, 1, 1] strides [0, 0, 0], [0, 0, 0]
  npu.end
}
func.func @mode_8k8d(%x: tensor<1x16x4x5xi8>, %w: tensor<8x16x2x3xi8>) -> tensor<1x8x3x3xi8> {
  %0 = layout.pack %x into <"NHWC"> : tensor<1x16x4x5xi8> -> tensor<1x4x5x16xi8>
  %1 = layout.pack %w into <"HWKD8k8d"> {axes = "KDHW"} : tensor<8x16x2x3xi8> -> tensor<2x3x1x2x8x8xi8>
  %2 = npu.call @npu_8k8d(%0, %1) : (tensor<1x4x5x16xi8>, tensor<2x3x1x2x8x8xi8>) -> tensor<1x3x3x8xi8>
  %3 = layout.unpack %2 from <"NHWC"> : tensor<1x3x3x8xi8> -> tensor<1x8x3x3xi8>
  return %3 : tensor<1x8x3x3xi8>
}

npu.program @npu_2k4d machine [8, 8, 4, 524288, 4, 64, 16384, 9, 16, 8, 16, 4, 15, 500, 250, 128, 8, 2, 8] ddr 1280 operands [64, 384] results [1152] constants dense<[0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0]> : tensor<12xui8> {
  npu.load ddr 64 sram 0 run 320 counts [1, 1, 1] strides [0, 0, 0], [0, 0, 0]
  npu.load ddr 384 sram 512 run 768 counts [1, 1, 1] strides [0, 0, 0], [0, 0, 0]
  npu.load ddr 0 sram 1280 run 12 counts [1, 1, 1] strides [0, 0, 0], [0, 0, 0]
  npu.signal load token 0
  npu.wait execute token 0
  npu.conv feature [0, 1, 16, 80, 16, 16] weights [512, 1, 2, 4, 384, 128, 32, 8] input [4, 5] output [3, 3, 8] depth 16 kernel [2, 3] stride [1, 1] dilation [1, 1] pad [0, 0] zeros [3, 3, 0] acc 0 signed_feature signed_weights
  npu.signal array token 1
  npu.wait execute token 1
  npu.post acc 0 output [3, 3, 8] params [1280, 0] zero 5 clamp [-128, 127] to [1344, 1, 8, 24, 8, 8]
  npu.signal pipe token 2
  npu.wait store token 2
  npu.store ddr 1152 sram 1344 run 72 counts [1, 1, 1] strides [0, 0, 0], [0, 0, 0]
  npu.end
}
func.func @mode_2k4d(%x: tensor<1x16x4x5xi8>, %w: tensor<8x16x2x3xi8>) -> tensor<1x8x3x3xi8> {
  %0 = layout.pack %x into <"NHWC"> : tensor<1x16x4x5xi8> -> tensor<1x4x5x16xi8>
  %1 = layout.pack %w into <"HWKD2k4d"> {axes = "KDHW"} : tensor<8x16x2x3xi8> -> tensor<2x3x4x4x2x4xi8>
  %2 = npu.call @npu_2k4d(%0, %1) : (tensor<1x4x5x16xi8>, tensor<2x3x4x4x2x4xi8>) -> tensor<1x3x3x8xi8>
  %3 = layout.unpack %2 from <"NHWC"> : tensor<1x3x3x8xi8> -> tensor<1x8x3x3xi8>
  return %3 : tensor<1x8x3x3xi8>
}

npu.program @npu_8w4d machine [8, 8, 4, 524288, 4, 64, 16384, 9, 16, 8, 16, 4, 15, 500, 250, 128, 8, 2, 8] ddr 2560 operands [64, 384] results [2432] constants dense<[0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0]> : tensor<12xui8> {
  npu.load ddr 64 sram 0 run 320 counts [1, 1, 1] strides [0, 0, 0], [0, 0, 0]
  npu.load ddr 384 sram 512 run 2048 counts [1, 1, 1] strides [0, 0, 0], [0, 0, 0]
  npu.load ddr 0 sram 2560 run 12 counts [1, 1, 1] strides [0, 0, 0], [0, 0, 0]
  npu.signal load token 0
  npu.wait execute token 0
  npu.conv feature [0, 1, 16, 80, 16, 16] weights [512, 8, 1, 4, 1024, 32, 128, 32] input [4, 5] output [3, 3, 8] depth 16 kernel [2, 3] stride [1, 1] dilation [1, 1] pad [0, 0] zeros [3, 3, 0] acc 0 signed_feature signed_weights
  npu.signal array token 1
  npu.wait execute token 1
  npu.post acc 0 output [3, 3, 8] params [2560, 0] zero 5 clamp [-128, 127] to [2624, 1, 8, 24, 8, 8]
  npu.signal pipe token 2
  npu.wait store token 2
  npu.store ddr 2432 sram 2624 run 72 counts [1, 1, 1] strides [0, 0, 0], [0, 0, 0]
  npu.end
}
func.func @mode_8w4d(%x: tensor<1x16x4x5xi8>, %w: tensor<8x16x2x3xi8>) -> tensor<1x8x3x3xi8> {
  %0 = layout.pack %x into <"NHWC"> : tensor<1x16x4x5xi8> -> tensor<1x4x5x16xi8>
  %1 = layout.pack %w into <"HKDW8w4d"> {axes = "KDHW"} : tensor<8x16x2x3xi8> -> tensor<2x8x4x1x8x4xi8>
  %2 = npu.call @npu_8w4d(%0, %1) : (tensor<1x4x5x16xi8>, tensor<2x8x4x1x8x4xi8>) -> tensor<1x3x3x8xi8>
  %3 = layout.unpack %2 from <"NHWC"> : tensor<1x3x3x8xi8> -> tensor<1x8x3x3xi8>
  return %3 : tensor<1x8x3x3xi8>
}

npu.program @npu_4w4d machine [8, 8, 4, 524288, 4, 64, 16384, 9, 16, 8, 16, 4, 15, 500, 250, 128, 8, 2, 8] ddr 1536 operands [64, 384] results [1408] constants dense<[0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0]> : tensor<12xui8> {
  npu.load ddr 64 sram 0 run 320 counts [1, 1, 1] strides [0, 0, 0], [0, 0, 0]
  npu.load ddr 384 sram 512 run 1024 counts [1, 1, 1] strides [0, 0, 0], [0, 0, 0]
  npu.load ddr 0 sram 1536 run 12 counts [1, 1, 1] strides [0, 0, 0], [0, 0, 0]
  npu.signal load token 0
  npu.wait execute token 0
  npu.conv feature [0, 1, 16, 80, 16, 16] weights [512, 4, 1, 4, 512, 16, 64, 16] input [4, 5] output [3, 3, 8] depth 16 kernel [2, 3] stride [1, 1] dilation [1, 1] pad [0, 0] zeros [3, 3, 0] acc 0 signed_feature signed_weights
  npu.signal array token 1
  npu.wait execute token 1
  npu.post acc 0 output [3, 3, 8] params [1536, 0] zero 5 clamp [-128, 127] to [1600, 1, 8, 24, 8, 8]
  npu.signal pipe token 2
  npu.wait store token 2
  npu.store ddr 1408 sram 1600 run 72 counts [1, 1, 1] strides [0, 0, 0], [0, 0, 0]
  npu.end
}
func.func @mode_4w4d(%x: tensor<1x16x4x5xi8>, %w: tensor<8x16x2x3xi8>) -> tensor<1x8x3x3xi8> {
  %0 = layout.pack %x into <"NHWC"> : tensor<1x16x4x5xi8> -> tensor<1x4x5x16xi8>
  %1 = layout.pack %w into <"HKDW4w4d"> {axes = "KDHW"} : tensor<8x16x2x3xi8> -> tensor<2x8x4x1x4x4xi8>
  %2 = npu.call @npu_4w4d(%0, %1) : (tensor<1x4x5x16xi8>, tensor<2x8x4x1x4x4xi8>) -> tensor<1x3x3x8xi8>
  %3 = layout.unpack %2 from <"NHWC"> : tensor<1x3x3x8xi8> -> tensor<1x8x3x3xi8>
  return %3 : tensor<1x8x3x3xi8>
}

npu.program @npu_2w machine [8, 8, 4, 524288, 4, 64, 16384, 9, 16, 8, 16, 4, 15, 500, 250, 128, 8, 2, 8] ddr 1536 operands [64, 384] results [1408] constants dense<[0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0]> : tensor<12xui8> {
  npu.load ddr 64 sram 0 run 320 counts [1, 1, 1] strides [0, 0, 0], [0, 0, 0]
  npu.load ddr 384 sram 512 run 1024 counts [1, 1, 1] strides [0, 0, 0], [0, 0, 0]
  npu.load ddr 0 sram 1536 run 12 counts [1, 1, 1] strides [0, 0, 0], [0, 0, 0]
  npu.signal load token 0
  npu.wait execute token 0
  npu.conv feature [0, 1, 16, 80, 16, 16] weights [512, 2, 1, 1, 512, 2, 64, 4] input [4, 5] output [3, 3, 8] depth 16 kernel [2, 3] stride [1, 1] dilation [1, 1] pad [0, 0] zeros [3, 3, 0] acc 0 signed_feature signed_weights
  npu.signal array token 1
  npu.wait execute token 1
  npu.post acc 0 output [3, 3, 8] params [1536, 0] zero 5 clamp [-128, 127] to [1600, 1, 8, 24, 8, 8]
  npu.signal pipe token 2
  npu.wait store token 2
  npu.store ddr 1408 sram 1600 run 72 counts [1, 1, 1] strides [0, 0, 0], [0, 0, 0]
  npu.end
}
func.func @mode_2w(%x: tensor<1x16x4x5xi8>, %w: tensor<8x16x2x3xi8>) -> tensor<1x8x3x3xi8> {
  %0 = layout.pack %x into <"NHWC"> : tensor<1x16x4x5xi8> -> tensor<1x4x5x16xi8>
  %1 = layout.pack %w into <"HKDW2w"> {axes = "KDHW"} : tensor<8x16x2x3xi8> -> tensor<2x8x16x2x2xi8>
  %2 = npu.call @npu_2w(%0, %1) : (tensor<1x4x5x16xi8>, tensor<2x8x16x2x2xi8>) -> tensor<1x3x3x8xi8>
  %3 = layout.unpack %2 from <"NHWC"> : tensor<1x3x3x8xi8> -> tensor<1x8x3x3xi8>
  return %3 : tensor<1x8x3x3xi8>
}

npu.program @npu_4w machine [8, 8, 4, 524288, 4, 64, 16384, 9, 16, 8, 16, 4, 15, 500, 250, 128, 8, 2, 8] ddr 1536 operands [64, 384] results [1408] constants dense<[0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0]> : tensor<12xui8> {
  npu.load ddr 64 sram 0 run 320 counts [1, 1, 1] strides [0, 0, 0], [0, 0, 0]
  npu.load ddr 384 sram 512 run 1024 counts [1, 1, 1] strides [0, 0, 0], [0, 0, 0]
  npu.load ddr 0 sram 1536 run 12 counts [1, 1, 1] strides [0, 0, 0], [0, 0, 0]
  npu.signal load token 0
  npu.wait execute token 0
  npu.conv feature [0, 1, 16, 80, 16, 16] weights [512, 4, 1, 1, 512, 4, 64, 4] input [4, 5] output [3, 3, 8] depth 16 kernel [2, 3] stride [1, 1] dilation [1, 1] pad [0, 0] zeros [3, 3, 0] acc 0 signed_feature signed_weights
  npu.signal array token 1
  npu.wait execute token 1
  npu.post acc 0 output [3, 3, 8] params [1536, 0] zero 5 clamp [-128, 127] to [1600, 1, 8, 24, 8, 8]
  npu.signal pipe token 2
  npu.wait store token 2
  npu.store ddr 1408 sram 1600 run 72 counts [1, 1, 1] strides [0, 0, 0], [0, 0, 0]
  npu.end
}
func.func @mode_4w(%x: tensor<1x16x4x5xi8>, %w: tensor<8x16x2x3xi8>) -> tensor<1x8x3x3xi8> {
  %0 = layout.pack %x into <"NHWC"> : tensor<1x16x4x5xi8> -> tensor<1x4x5x16xi8>
  %1 = layout.pack %w into <"HKDW4w"> {axes = "KDHW"} : tensor<8x16x2x3xi8> -> tensor<2x8x16x1x4xi8>
  %2 = npu.call @npu_4w(%0, %1) : (tensor<1x4x5x16xi8>, tensor<2x8x16x1x4xi8>) -> tensor<1x3x3x8xi8>
  %3 = layout.unpack %2 from <"NHWC"> : tensor<1x3x3x8xi8> -> tensor<1x8x3x3xi8>
  return %3 : tensor<1x8x3x3xi8>
}
