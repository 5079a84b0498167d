func.func @f(%x: tensor<4x8xf23>) {
  return
}
