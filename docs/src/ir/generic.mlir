#half = dense<5.0e-1> : tensor<4xf32>
!vec = tensor<4xf32>

// Any op of any dialect, in generic form: with --allow-unregistered-dialect it need not be known.
func.func @scale(%x: !vec) -> !vec {
  %half = arith.constant #half
  %0 = "other.scale"(%x, %half) <{mode = "fast"}> {note = "kept"} : (!vec, !vec) -> !vec
  return %0 : !vec
}
