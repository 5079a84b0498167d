// The product of quantized tensors, of which the second broadcasts: in f32, rounded half to even, and saturated.
func.func @f(%a: tensor<2x3xi8>, %b: tensor<3xi8>) -> tensor<2x3xi8> {
  %sa = arith.constant dense<0.25> : tensor<f32>
  %sb = arith.constant dense<0.5> : tensor<f32>
  %sc = arith.constant dense<0.75> : tensor<f32>
  %za = arith.constant dense<3> : tensor<i8>
  %zb = arith.constant dense<-7> : tensor<i8>
  %zc = arith.constant dense<5> : tensor<i8>
  %c = graph.qlinear_mul %a, %sa, %za, %b, %sb, %zb, %sc, %zc : (tensor<2x3xi8>, tensor<f32>, tensor<i8>, tensor<3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<2x3xi8>
  return %c : tensor<2x3xi8>
}

// -----

func.func @f(%a: tensor<2x3xi8>, %b: tensor<3xi8>) -> tensor<2x3xi8> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %sa = arith.constant 0.25 : f32
  %sb = arith.constant 0.5 : f32
  %sc = arith.constant 0.75 : f32
  %za = arith.constant 3.0 : f32
  %zb = arith.constant -7.0 : f32
  %zc = arith.constant 5.0 : f32
  %low = arith.constant -128.0 : f32
  %high = arith.constant 127.0 : f32
  %empty = tensor.empty() : tensor<2x3xi8>
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%rows = %empty) -> (tensor<2x3xi8>) {
    %r1 = scf.for %j = %c0 to %c3 step %c1 iter_args(%row = %rows) -> (tensor<2x3xi8>) {
      %x = tensor.extract %a[%i, %j] : tensor<2x3xi8>
      %y = tensor.extract %b[%j] : tensor<3xi8>
      %x0 = arith.sitofp %x : i8 to f32
      %y0 = arith.sitofp %y : i8 to f32
      %x1 = arith.subf %x0, %za : f32
      %y1 = arith.subf %y0, %zb : f32
      %x2 = arith.mulf %x1, %sa : f32
      %y2 = arith.mulf %y1, %sb : f32
      %s = arith.mulf %x2, %y2 : f32
      %s1 = arith.divf %s, %sc : f32
      %s2 = math.roundeven %s1 : f32
      %s3 = arith.addf %s2, %zc : f32
      %s4 = arith.maximumf %s3, %low : f32
      %s5 = arith.minimumf %s4, %high : f32
      %s6 = arith.fptosi %s5 : f32 to i8
      %done = tensor.insert %s6 into %row[%i, %j] : tensor<2x3xi8>
      scf.yield %done : tensor<2x3xi8>
    }
    scf.yield %r1 : tensor<2x3xi8>
  }
  return %r : tensor<2x3xi8>
}
