// A product by compressed rows, of which the second is empty, in two bands of one strip each.
func.func @f(%a: tensor<14xf32>, %bias: tensor<3xf32>, %plus: tensor<2x3x3xf32>) -> tensor<2x3x3xf32> {
  %offsets = arith.constant dense<[0, 3, 1]> : tensor<3xi32>
  %values = arith.constant dense<[2.0, -0.5, 3.0]> : tensor<3xf32>
  %ends = arith.constant dense<[2, 2, 3]> : tensor<3xi32>
  %c = addr.sparse_gemm %a[%offsets], %values rows %ends bias %bias plus %plus strips 2 pitch 5 {low = -1.0 : f32} : (tensor<14xf32>, tensor<3xi32>, tensor<3xf32>, tensor<3xi32>, tensor<3xf32>, tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
  return %c : tensor<2x3x3xf32>
}

// -----

func.func @f(%a: tensor<14xf32>, %bias: tensor<3xf32>, %plus: tensor<2x3x3xf32>) -> tensor<2x3x3xf32> {
  %offsets = arith.constant dense<[0, 3, 1]> : tensor<3xindex>
  %values = arith.constant dense<[2.0, -0.5, 3.0]> : tensor<3xf32>
  %ends = arith.constant dense<[0, 2, 2, 3]> : tensor<4xindex>
  %low = arith.constant -1.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %empty = tensor.empty() : tensor<2x3x3xf32>
  %r = scf.for %band = %c0 to %c2 step %c1 iter_args(%bands = %empty) -> (tensor<2x3x3xf32>) {
    %strip = arith.muli %band, %c5 : index
    %r1 = scf.for %m = %c0 to %c3 step %c1 iter_args(%rows = %bands) -> (tensor<2x3x3xf32>) {
      %m1 = arith.addi %m, %c1 : index
      %first = tensor.extract %ends[%m] : tensor<4xindex>
      %end = tensor.extract %ends[%m1] : tensor<4xindex>
      %start = tensor.extract %bias[%m] : tensor<3xf32>
      %r2 = scf.for %j = %c0 to %c3 step %c1 iter_args(%row = %rows) -> (tensor<2x3x3xf32>) {
        %sum = scf.for %i = %first to %end step %c1 iter_args(%s = %start) -> (f32) {
          %offset = tensor.extract %offsets[%i] : tensor<3xindex>
          %in = arith.addi %offset, %strip : index
          %at = arith.addi %in, %j : index
          %x = tensor.extract %a[%at] : tensor<14xf32>
          %value = tensor.extract %values[%i] : tensor<3xf32>
          %product = arith.mulf %value, %x : f32
          %next = arith.addf %s, %product : f32
          scf.yield %next : f32
        }
        %more = tensor.extract %plus[%band, %m, %j] : tensor<2x3x3xf32>
        %total = arith.addf %sum, %more : f32
        %clamped = arith.maximumf %total, %low : f32
        %done = tensor.insert %clamped into %row[%band, %m, %j] : tensor<2x3x3xf32>
        scf.yield %done : tensor<2x3x3xf32>
      }
      scf.yield %r2 : tensor<2x3x3xf32>
    }
    scf.yield %r1 : tensor<2x3x3xf32>
  }
  return %r : tensor<2x3x3xf32>
}
