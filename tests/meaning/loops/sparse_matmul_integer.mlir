func.func @f(%x: tensor<3x4xi8>, %z: tensor<i8>) -> tensor<2x4xi32> {
  %a = arith.constant dense<[[0, 2, -128], [0, 0, 0]]> : tensor<2x3xi8>
  %o = arith.constant dense<0> : tensor<i8>
  %y = sparse.matmul_integer %a, %x a_zero %o b_zero %z : (tensor<2x3xi8>, tensor<3x4xi8>, tensor<i8>, tensor<i8>) -> tensor<2x4xi32>
  return %y : tensor<2x4xi32>
}

// -----

func.func @f(%x: tensor<3x4xi8>, %z: tensor<i8>) -> tensor<2x4xi32> {
  %a = arith.constant dense<[[0, 2, -128], [0, 0, 0]]> : tensor<2x3xi8>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %start = arith.constant 0 : i32
  %point = tensor.extract %z[] : tensor<i8>
  %zero = arith.extsi %point : i8 to i32
  %empty = tensor.empty() : tensor<2x4xi32>
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%rows = %empty) -> (tensor<2x4xi32>) {
    %r1 = scf.for %j = %c0 to %c4 step %c1 iter_args(%row = %rows) -> (tensor<2x4xi32>) {
      %sum = scf.for %k = %c0 to %c3 step %c1 iter_args(%s = %start) -> (i32) {
        %u = tensor.extract %a[%i, %k] : tensor<2x3xi8>
        %v = tensor.extract %x[%k, %j] : tensor<3x4xi8>
        %wide_u = arith.extsi %u : i8 to i32
        %wide_v = arith.extsi %v : i8 to i32
        %d = arith.subi %wide_v, %zero : i32
        %product = arith.muli %wide_u, %d : i32
        %next = arith.addi %s, %product : i32
        scf.yield %next : i32
      }
      %done = tensor.insert %sum into %row[%i, %j] : tensor<2x4xi32>
      scf.yield %done : tensor<2x4xi32>
    }
    scf.yield %r1 : tensor<2x4xi32>
  }
  return %r : tensor<2x4xi32>
}
