// A depthwise convolution of channel planes of one row, whose first tap is padding for the first position.
func.func @f(%a: tensor<1x2x1x3xf32>, %b: tensor<2x2xf32>, %bias: tensor<2xf32>, %add: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %c = addr.conv_planes %a, %b bias %bias plus %add {geometry = #addr.geometry<"windows", "NCHW", [1, 2, 1, 3], windows = [1, 1, 1, 1, 0, 2, 2, 2, 1, -1]>, low = 0.0 : f32} : (tensor<1x2x1x3xf32>, tensor<2x2xf32>, tensor<2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %c : tensor<2x2xf32>
}

// -----

func.func @f(%a: tensor<1x2x1x3xf32>, %b: tensor<2x2xf32>, %bias: tensor<2xf32>, %add: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %flat = tensor.collapse_shape %a [[0, 1], [2, 3]] : tensor<1x2x1x3xf32> into tensor<2x3xf32>
  %empty = tensor.empty() : tensor<2x2xf32>
  %r = scf.for %j = %c0 to %c2 step %c1 iter_args(%rows = %empty) -> (tensor<2x2xf32>) {
    %r1 = scf.for %p = %c0 to %c2 step %c1 iter_args(%row = %rows) -> (tensor<2x2xf32>) {
      %sum = scf.for %t = %c0 to %c2 step %c1 iter_args(%s = %zero) -> (f32) {
        %twice = arith.muli %p, %c2 : index
        %after = arith.addi %twice, %t : index
        %is_padding = arith.cmpi eq, %after, %c0 : index
        %x = scf.if %is_padding -> (f32) {
          scf.yield %zero : f32
        } else {
          %at = arith.subi %after, %c1 : index
          %there = tensor.extract %flat[%j, %at] : tensor<2x3xf32>
          scf.yield %there : f32
        }
        %w = tensor.extract %b[%j, %t] : tensor<2x2xf32>
        %q = arith.mulf %x, %w : f32
        %next = arith.addf %s, %q : f32
        scf.yield %next : f32
      }
      %bj = tensor.extract %bias[%j] : tensor<2xf32>
      %biased = arith.addf %sum, %bj : f32
      %more = tensor.extract %add[%j, %p] : tensor<2x2xf32>
      %all = arith.addf %biased, %more : f32
      %is_low = arith.cmpf olt, %all, %zero : f32
      %clamped = arith.select %is_low, %zero, %all : f32
      %done = tensor.insert %clamped into %row[%j, %p] : tensor<2x2xf32>
      scf.yield %done : tensor<2x2xf32>
    }
    scf.yield %r1 : tensor<2x2xf32>
  }
  return %r : tensor<2x2xf32>
}
