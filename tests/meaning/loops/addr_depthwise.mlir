// A depthwise product with zero points, one of which is the padding: the contribution of padding is zero.
func.func @f(%a: tensor<1x2x2x2xi8>, %b: tensor<2x2xi8>, %az: tensor<i8>, %bz: tensor<i8>, %bias: tensor<2xi32>) -> tensor<3x2xi32> {
  %bases = arith.constant dense<[[0, -1], [2, 4], [-1, 6]]> : tensor<3x2xi32>
  %c = addr.depthwise %a[%bases], %b a_zero %az b_zero %bz bias %bias : (tensor<1x2x2x2xi8>, tensor<3x2xi32>, tensor<2x2xi8>, tensor<i8>, tensor<i8>, tensor<2xi32>) -> tensor<3x2xi32>
  return %c : tensor<3x2xi32>
}

// -----

func.func @f(%a: tensor<1x2x2x2xi8>, %b: tensor<2x2xi8>, %az: tensor<i8>, %bz: tensor<i8>, %bias: tensor<2xi32>) -> tensor<3x2xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %bases = arith.constant dense<[[0, -1], [2, 4], [-1, 6]]> : tensor<3x2xi32>
  %none = arith.constant -1 : i32
  %flat = tensor.collapse_shape %a [[0, 1, 2, 3]] : tensor<1x2x2x2xi8> into tensor<8xi8>
  %azs = tensor.extract %az[] : tensor<i8>
  %azw = arith.extsi %azs : i8 to i32
  %bzs = tensor.extract %bz[] : tensor<i8>
  %bzw = arith.extsi %bzs : i8 to i32
  %empty = tensor.empty() : tensor<3x2xi32>
  %r = scf.for %m = %c0 to %c3 step %c1 iter_args(%rows = %empty) -> (tensor<3x2xi32>) {
    %r1 = scf.for %j = %c0 to %c2 step %c1 iter_args(%row = %rows) -> (tensor<3x2xi32>) {
      %init = tensor.extract %bias[%j] : tensor<2xi32>
      %sum = scf.for %t = %c0 to %c2 step %c1 iter_args(%s = %init) -> (i32) {
        %base = tensor.extract %bases[%m, %t] : tensor<3x2xi32>
        %padding = arith.cmpi eq, %base, %none : i32
        %next = scf.if %padding -> (i32) {
          scf.yield %s : i32
        } else {
          %from = arith.index_cast %base : i32 to index
          %at = arith.addi %from, %j : index
          %x = tensor.extract %flat[%at] : tensor<8xi8>
          %w = tensor.extract %b[%t, %j] : tensor<2x2xi8>
          %xw = arith.extsi %x : i8 to i32
          %ww = arith.extsi %w : i8 to i32
          %xz = arith.subi %xw, %azw : i32
          %wz = arith.subi %ww, %bzw : i32
          %p = arith.muli %xz, %wz : i32
          %q = arith.addi %s, %p : i32
          scf.yield %q : i32
        }
        scf.yield %next : i32
      }
      %done = tensor.insert %sum into %row[%m, %j] : tensor<3x2xi32>
      scf.yield %done : tensor<3x2xi32>
    }
    scf.yield %r1 : tensor<3x2xi32>
  }
  return %r : tensor<3x2xi32>
}
