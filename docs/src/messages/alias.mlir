func.func @f(%m: memref<4xf32, #layout>) {
  return
}
