func.func @exchange(%t: tensor<3xi32>, %i: index, %x: i32) -> (tensor<3xi32>, i32) {
  %0 = tensor.insert %x into %t[%i] : tensor<3xi32>
  %1 = tensor.extract %t[%i] : tensor<3xi32>
  return %0, %1 : tensor<3xi32>, i32
}
