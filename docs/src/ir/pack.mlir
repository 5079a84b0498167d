func.func @main() -> (tensor<1x2x1x2x2xi32>, tensor<1x3x1x2xi32>) {
  %x = arith.constant dense<[[[[11, 12]], [[21, 22]], [[31, 32]]]]> : tensor<1x3x1x2xi32>
  %0 = layout.pack %x into <"NCHW2c"> : tensor<1x3x1x2xi32> -> tensor<1x2x1x2x2xi32>
  %1 = layout.unpack %0 from <"NCHW2c"> : tensor<1x2x1x2x2xi32> -> tensor<1x3x1x2xi32>
  return %0, %1 : tensor<1x2x1x2x2xi32>, tensor<1x3x1x2xi32>
}
