// Pooling by max, with padding that is skipped.
func.func @f(%a: tensor<1x2x2x2xf32>) -> tensor<3x2xf32> {
  %bases = arith.constant dense<[[0, -1], [2, 4], [-1, 6]]> : tensor<3x2xi32>
  %c = addr.pool max %a[%bases] run 2 : (tensor<1x2x2x2xf32>, tensor<3x2xi32>) -> tensor<3x2xf32>
  return %c : tensor<3x2xf32>
}

// -----

func.func @f(%a: tensor<1x2x2x2xf32>) -> tensor<3x2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %bases = arith.constant dense<[[0, -1], [2, 4], [-1, 6]]> : tensor<3x2xi32>
  %none = arith.constant -1 : i32
  %flat = tensor.collapse_shape %a [[0, 1, 2, 3]] : tensor<1x2x2x2xf32> into tensor<8xf32>
  %empty = tensor.empty() : tensor<3x2xf32>
  %r = scf.for %m = %c0 to %c3 step %c1 iter_args(%rows = %empty) -> (tensor<3x2xf32>) {
    %r1 = scf.for %j = %c0 to %c2 step %c1 iter_args(%row = %rows) -> (tensor<3x2xf32>) {
      %init = arith.constant 0xFF800000 : f32
      %sum = scf.for %t = %c0 to %c2 step %c1 iter_args(%s = %init) -> (f32) {
        %base = tensor.extract %bases[%m, %t] : tensor<3x2xi32>
        %padding = arith.cmpi eq, %base, %none : i32
        %next = scf.if %padding -> (f32) {
          scf.yield %s : f32
        } else {
          %from = arith.index_cast %base : i32 to index
          %at = arith.addi %from, %j : index
          %x = tensor.extract %flat[%at] : tensor<8xf32>
          %q = arith.maximumf %s, %x : f32
          scf.yield %q : f32
        }
        scf.yield %next : f32
      }
      %done = tensor.insert %sum into %row[%m, %j] : tensor<3x2xf32>
      scf.yield %done : tensor<3x2xf32>
    }
    scf.yield %r1 : tensor<3x2xf32>
  }
  return %r : tensor<3x2xf32>
}
