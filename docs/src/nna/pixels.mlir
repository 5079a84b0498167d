// 33 channels of two positions: the first channels of both pixels of block 0, and block 1, which is padded.
func.func @main() -> (tensor<2x2xi8>, tensor<1x2x1x2x32xi8>) {
  %c = graph.constant dense<"0x000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F202122232425262728292A2B2C2D2E2F303132333435363738393A3B3C3D3E3F4041"> : tensor<1x33x1x2xi8>
  %0 = layout.pack %c into <"NCHW32c"> : tensor<1x33x1x2xi8> -> tensor<1x2x1x2x32xi8>
  %1 = tensor.extract_slice %0[0, 0, 0, 0, 0] [1, 2, 1, 2, 1] [1, 1, 1, 1, 1] : tensor<1x2x1x2x32xi8> to tensor<2x2xi8>
  return %1, %0 : tensor<2x2xi8>, tensor<1x2x1x2x32xi8>
}
