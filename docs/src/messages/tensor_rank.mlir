func.func @f(%t: tensor<4xf32>, %i: index) -> f32 {
  %0 = tensor.extract %t[%i, %i] : tensor<4xf32>
  return %0 : f32
}
