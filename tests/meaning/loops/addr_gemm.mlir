// A product of gathered elements, with offsets that are differences, a bias and bounds.
func.func @f(%a: tensor<1x2x2x2xf32>, %b: tensor<2x3xf32>, %bias: tensor<2xf32>) -> tensor<3x2xf32> {
  %base = arith.constant dense<[0, 3, 1]> : tensor<3xi32>
  %relative = arith.constant dense<[1, 2, -1]> : tensor<3xi32>
  %c = addr.gemm %a[%base + %relative] running, %b bias %bias {low = -4.0 : f32, high = 6.0 : f32} : (tensor<1x2x2x2xf32>, tensor<3xi32>, tensor<3xi32>, tensor<2x3xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  return %c : tensor<3x2xf32>
}

// -----

func.func @f(%a: tensor<1x2x2x2xf32>, %b: tensor<2x3xf32>, %bias: tensor<2xf32>) -> tensor<3x2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %base = arith.constant dense<[0, 3, 1]> : tensor<3xi32>
  %offsets = arith.constant dense<[1, 3, 2]> : tensor<3xi32>
  %low = arith.constant -4.0 : f32
  %high = arith.constant 6.0 : f32
  %flat = tensor.collapse_shape %a [[0, 1, 2, 3]] : tensor<1x2x2x2xf32> into tensor<8xf32>
  %empty = tensor.empty() : tensor<3x2xf32>
  %r = scf.for %m = %c0 to %c3 step %c1 iter_args(%rows = %empty) -> (tensor<3x2xf32>) {
    %r1 = scf.for %j = %c0 to %c2 step %c1 iter_args(%row = %rows) -> (tensor<3x2xf32>) {
      %init = tensor.extract %bias[%j] : tensor<2xf32>
      %sum = scf.for %t = %c0 to %c3 step %c1 iter_args(%s = %init) -> (f32) {
        %from = tensor.extract %base[%m] : tensor<3xi32>
        %by = tensor.extract %offsets[%t] : tensor<3xi32>
        %address = arith.addi %from, %by : i32
        %at = arith.index_cast %address : i32 to index
        %x = tensor.extract %flat[%at] : tensor<8xf32>
        %w = tensor.extract %b[%j, %t] : tensor<2x3xf32>
        %p = arith.mulf %x, %w : f32
        %next = arith.addf %s, %p : f32
        scf.yield %next : f32
      }
      %above = arith.maximumf %sum, %low : f32
      %inside = arith.minimumf %above, %high : f32
      %done = tensor.insert %inside into %row[%m, %j] : tensor<3x2xf32>
      scf.yield %done : tensor<3x2xf32>
    }
    scf.yield %r1 : tensor<3x2xf32>
  }
  return %r : tensor<3x2xf32>
}
