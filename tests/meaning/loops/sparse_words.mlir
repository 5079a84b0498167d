// Signed bytes are offset by 128 in quads; the elements behind the last row are 0.
func.func @f(%x: tensor<5x3xi8>) -> tensor<2x3xi32> {
  %y = sparse.words quads %x : (tensor<5x3xi8>) -> tensor<2x3xi32>
  return %y : tensor<2x3xi32>
}

func.func @g(%x: tensor<2x3xi8>) -> tensor<2x2xi32> {
  %y = sparse.words pairs transposed %x : (tensor<2x3xi8>) -> tensor<2x2xi32>
  return %y : tensor<2x2xi32>
}

// -----

func.func @f(%x: tensor<5x3xi8>) -> tensor<2x3xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c8 = arith.constant 8 : i32
  %zero = arith.constant 0 : i32
  %half = arith.constant 128 : i32
  %empty = tensor.empty() : tensor<2x3xi32>
  %r = scf.for %w = %c0 to %c2 step %c1 iter_args(%rows = %empty) -> (tensor<2x3xi32>) {
    %r1 = scf.for %n = %c0 to %c3 step %c1 iter_args(%row = %rows) -> (tensor<2x3xi32>) {
      %word = scf.for %i = %c0 to %c4 step %c1 iter_args(%all = %zero) -> (i32) {
        %first = arith.muli %w, %c4 : index
        %k = arith.addi %first, %i : index
        %is_inside = arith.cmpi ult, %k, %c5 : index
        %next = scf.if %is_inside -> (i32) {
          %v = tensor.extract %x[%k, %n] : tensor<5x3xi8>
          %wide = arith.extsi %v : i8 to i32
          %u = arith.addi %wide, %half : i32
          %at = arith.index_cast %i : index to i32
          %bits = arith.muli %at, %c8 : i32
          %part = arith.shli %u, %bits : i32
          %more = arith.addi %all, %part : i32
          scf.yield %more : i32
        } else {
          scf.yield %all : i32
        }
        scf.yield %next : i32
      }
      %done = tensor.insert %word into %row[%w, %n] : tensor<2x3xi32>
      scf.yield %done : tensor<2x3xi32>
    }
    scf.yield %r1 : tensor<2x3xi32>
  }
  return %r : tensor<2x3xi32>
}

func.func @g(%x: tensor<2x3xi8>) -> tensor<2x2xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0 : i32
  %low = arith.constant 65535 : i32
  %c16 = arith.constant 16 : i32
  %empty = tensor.empty() : tensor<2x2xi32>
  %r = scf.for %n = %c0 to %c2 step %c1 iter_args(%row = %empty) -> (tensor<2x2xi32>) {
    %a = tensor.extract %x[%n, %c0] : tensor<2x3xi8>
    %b = tensor.extract %x[%n, %c1] : tensor<2x3xi8>
    %c = tensor.extract %x[%n, %c2] : tensor<2x3xi8>
    %u = arith.extsi %a : i8 to i32
    %v = arith.extsi %b : i8 to i32
    %w = arith.extsi %c : i8 to i32
    %u_low = arith.andi %u, %low : i32
    %v_high = arith.shli %v, %c16 : i32
    %first = arith.ori %u_low, %v_high : i32
    %second = arith.andi %w, %low : i32
    %row1 = tensor.insert %first into %row[%c0, %n] : tensor<2x2xi32>
    %row2 = tensor.insert %second into %row1[%c1, %n] : tensor<2x2xi32>
    scf.yield %row2 : tensor<2x2xi32>
  }
  return %r : tensor<2x2xi32>
}
