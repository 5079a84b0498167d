// A product of twelve channels. Both operands are features in the mode 4W4C, `1x1x12` padded to `1x4x12`: three offsets of four slices.
// Weights in the mode 2K4C have two slices per offset: `move` takes the first slice of each block, and leaves nine bubbles behind.
npu.program @multiply machine [8, 8, 4, 524288, 4, 64, 16384, 9, 16, 8, 16, 4, 15, 500, 250, 128, 8, 2, 8] ddr 256 operands [64, 128] results [192] constants dense<[0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0]> : tensor<12xui8> {
  npu.load ddr 0 sram 0 run 192 counts [1, 1, 1] strides [0, 0, 0], [0, 0, 0]
  npu.signal load token 0
  npu.wait execute token 0
  npu.move from 128 to 256 slice 4 counts [1, 1, 1, 3] strides [0, 0, 0, 16], [0, 0, 0, 4]
  npu.signal mover token 1
  npu.wait execute token 1
  npu.dwconv feature [64, 4, 4, 48, 48, 16] weights [256, 1, 8, 1, 0, 0, 8, 0] input [1, 1] output [1, 1, 12] depth 1 kernel [1, 1] stride [1, 1] dilation [1, 1] pad [0, 0] zeros [0, 0, 0] acc 0 signed_feature signed_weights
  npu.signal array token 2
  npu.wait execute token 2
  npu.post acc 0 output [1, 1, 12] params [0, 0] zero 5 clamp [-128, 127] to [320, 1, 4, 12, 12, 4]
  npu.signal pipe token 3
  npu.wait store token 3
  npu.store ddr 192 sram 320 run 12 counts [1, 1, 1] strides [0, 0, 0], [0, 0, 0]
  npu.end
}
func.func @main(%a: tensor<1x1x12xi8>, %b: tensor<1x1x12xi8>) -> tensor<1x1x12xi8> {
  %0 = layout.pack %a into <"HWC4w4c"> {axes = "HWC"} : tensor<1x1x12xi8> -> tensor<1x1x3x4x4xi8>
  %1 = layout.pack %b into <"HWC4w4c"> {axes = "HWC"} : tensor<1x1x12xi8> -> tensor<1x1x3x4x4xi8>
  %2 = npu.call @multiply(%0, %1) : (tensor<1x1x3x4x4xi8>, tensor<1x1x3x4x4xi8>) -> tensor<1x1x12xi8>
  return %2 : tensor<1x1x12xi8>
}
