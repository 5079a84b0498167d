// Two channels of one position, as a feature and as two kernels of depth 1: each address holds one value and its padding.
func.func @main() -> (tensor<1x1x2x4xi8>, tensor<1x2x1x2xi8>, tensor<1x1x1x1x8x8xi8>, tensor<1x1x1x4x4xi8>) {
  %f = graph.constant dense<[[[11, 12]]]> : tensor<1x1x2xi8>
  %w = graph.constant dense<[[[[11]]], [[[12]]]]> : tensor<2x1x1x1xi8>
  %0 = layout.pack %f into <"HWC4w"> {axes = "HWC"} : tensor<1x1x2xi8> -> tensor<1x1x2x4xi8>
  %1 = layout.pack %w into <"HKWD2w"> {axes = "KHWD"} : tensor<2x1x1x1xi8> -> tensor<1x2x1x1x2xi8>
  %2 = layout.pack %w into <"HWKD8k8d"> {axes = "KHWD"} : tensor<2x1x1x1xi8> -> tensor<1x1x1x1x8x8xi8>
  %3 = layout.pack %f into <"HWC4w4c"> {axes = "HWC"} : tensor<1x1x2xi8> -> tensor<1x1x1x4x4xi8>
  %4 = tensor.extract_slice %1[0, 0, 0, 0, 0] [1, 2, 1, 1, 2] [1, 1, 1, 1, 1] : tensor<1x2x1x1x2xi8> to tensor<1x2x1x2xi8>
  return %0, %4, %2, %3 : tensor<1x1x2x4xi8>, tensor<1x2x1x2xi8>, tensor<1x1x1x1x8x8xi8>, tensor<1x1x1x4x4xi8>
}
