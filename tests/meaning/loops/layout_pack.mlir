// Tiles of two channels, the last of which is half padding.
func.func @f(%x: tensor<1x3x2x2xi32>) -> tensor<1x2x2x2x2xi32> {
  %y = layout.pack %x into <"NCHW2c"> : tensor<1x3x2x2xi32> -> tensor<1x2x2x2x2xi32>
  return %y : tensor<1x2x2x2x2xi32>
}

// -----

func.func @f(%x: tensor<1x3x2x2xi32>) -> tensor<1x2x2x2x2xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0 : i32
  %y = tensor.generate {
  ^bb0(%n: index, %block: index, %h: index, %w: index, %part: index):
    %first = arith.muli %block, %c2 : index
    %channel = arith.addi %first, %part : index
    %inside = arith.cmpi ult, %channel, %c3 : index
    %element = scf.if %inside -> (i32) {
      %e = tensor.extract %x[%n, %channel, %h, %w] : tensor<1x3x2x2xi32>
      scf.yield %e : i32
    } else {
      scf.yield %zero : i32
    }
    tensor.yield %element : i32
  } : tensor<1x2x2x2x2xi32>
  return %y : tensor<1x2x2x2x2xi32>
}
