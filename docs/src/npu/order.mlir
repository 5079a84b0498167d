// Weights of sixteen kernels, sixteen depth values and two columns; kernel k, depth d, column x has the value 10000 x + 100 k + d.
func.func @main() -> (tensor<1x2x2x2xi16>, tensor<8x8xi16>) {
  %d = graph.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]> : tensor<16xi16>
  %k = graph.constant dense<[0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000, 1100, 1200, 1300, 1400, 1500]> : tensor<16xi16>
  %x = graph.constant dense<[0, 10000]> : tensor<2xi16>
  %ds = graph.constant dense<[1, 16, 1, 1]> : tensor<4xi64>
  %ks = graph.constant dense<[16, 1, 1, 1]> : tensor<4xi64>
  %0 = graph.reshape %d, %ds : (tensor<16xi16>, tensor<4xi64>) -> tensor<1x16x1x1xi16>
  %1 = graph.reshape %k, %ks : (tensor<16xi16>, tensor<4xi64>) -> tensor<16x1x1x1xi16>
  %2 = graph.add %0, %1 : (tensor<1x16x1x1xi16>, tensor<16x1x1x1xi16>) -> tensor<16x16x1x1xi16>
  %3 = graph.add %2, %x : (tensor<16x16x1x1xi16>, tensor<2xi16>) -> tensor<16x16x1x2xi16>
  %offsets = layout.pack %3 into <"HWKD8k8d"> {axes = "KDHW"} : tensor<16x16x1x2xi16> -> tensor<1x2x2x2x8x8xi16>
  %first = tensor.extract_slice %offsets[0, 0, 0, 0, 0, 0] [1, 2, 2, 2, 1, 1] [1, 1, 1, 1, 1, 1] : tensor<1x2x2x2x8x8xi16> to tensor<1x2x2x2xi16>
  %block = tensor.extract_slice %offsets[0, 0, 0, 0, 0, 0] [1, 1, 1, 1, 8, 8] [1, 1, 1, 1, 1, 1] : tensor<1x2x2x2x8x8xi16> to tensor<8x8xi16>
  return %first, %block : tensor<1x2x2x2xi16>, tensor<8x8xi16>
}
