// The inverse: padding is dropped.
func.func @f(%y: tensor<1x2x2x2x2xi32>) -> tensor<1x3x2x2xi32> {
  %x = layout.unpack %y from <"NCHW2c"> : tensor<1x2x2x2x2xi32> -> tensor<1x3x2x2xi32>
  return %x : tensor<1x3x2x2xi32>
}

// -----

func.func @f(%y: tensor<1x2x2x2x2xi32>) -> tensor<1x3x2x2xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %x = tensor.generate {
  ^bb0(%n: index, %channel: index, %h: index, %w: index):
    %block = arith.divui %channel, %c2 : index
    %part = arith.remui %channel, %c2 : index
    %element = tensor.extract %y[%n, %block, %h, %w, %part] : tensor<1x2x2x2x2xi32>
    tensor.yield %element : i32
  } : tensor<1x3x2x2xi32>
  return %x : tensor<1x3x2x2xi32>
}
